// Many samples in a compressed file beside their record: one JSON object a line, gzip. Reads and
// makes text; what is written where is record_file's. Must not trust a file's own size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/record_json_parts.h"

namespace specbench::results {

// More rows or bytes than these leave the record for a file of their own.
inline constexpr std::size_t kMaxInlineSamples = 2'000;
inline constexpr std::size_t kMaxInlineBytes = 1'000'000;
// Uncompressed bytes that are written or read, and of one line.
inline constexpr std::int64_t kMaxSamplesBytes = std::int64_t{1} << 30;
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;

// 64-bit FNV-1a; `hash` continues an earlier one.
std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325);

// "run.json" -> "run.samples.jsonl.gz", in the same folder; a name that does not end in .json keeps
// its whole name.
std::filesystem::path samples_path(const std::filesystem::path& record);

// Same text, same bytes: no name, no time. Throws std::invalid_argument above kMaxSamplesBytes or
// for a line above kMaxLineBytes.
std::string compress_samples(std::string_view lines);

// Throws std::invalid_argument, with one sentence, unless `file.name` is a plain name in `folder`
// and the file there is one whole gzip member that holds exactly the rows, bytes and hash of
// `file`. Memory is bounded by file.bytes, which is refused above kMaxSamplesBytes, and never by
// what the compressed data unpacks to.
std::vector<SampleRow> read_samples(const std::filesystem::path& folder, const SamplesFile& file,
                                    std::size_t n_phases);

}  // namespace specbench::results
