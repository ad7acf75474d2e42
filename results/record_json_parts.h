// The record's text without its samples, and the samples line by line: what record_file and
// samples_file are made of. Not for other folders, which use record_json.h or record_file.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "results/record_json.h"

namespace specbench::results {

// Where the samples of a record are that do not stand in it.
struct SamplesFile {
  std::string name;         // in the folder of the record
  std::int64_t rows = 0;    // samples, one a line
  std::int64_t bytes = 0;   // of the uncompressed text
  std::uint64_t fnv1a = 0;  // 64-bit FNV-1a hash of the uncompressed text
};

// As to_json(record), the samples left out and `samples_file` named.
std::string to_json(const Record& record, const SamplesFile& samples_file);
// One JSON object a line, in order. Throws as to_json.
std::string sample_lines(const Record& record);

// As from_json; a record whose samples are elsewhere comes back without them, and `samples_file`
// says where they are.
Record from_json(std::string_view text, std::optional<SamplesFile>& samples_file);
// `row` counts from 0 and stands in the sentence; `n_phases` is the length of phase_names. Throws
// std::invalid_argument as from_json.
SampleRow sample_from_json(std::string_view line, std::size_t row, std::size_t n_phases);

}  // namespace specbench::results
