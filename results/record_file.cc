#include "results/record_file.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <stdexcept>

#include "results/record_json_parts.h"
#include "results/samples_file.h"

namespace specbench::results {
namespace {

namespace fs = std::filesystem;

// Of the record without its samples file; far above any that was written.
constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 28;

// A pipe will do: `specbench gate --baseline <(..)`.
std::string read_text(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw std::invalid_argument("it does not exist");
  if (fs::is_directory(status)) throw std::invalid_argument("it is a folder; name a file in it");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument("it may not be opened");
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (file) {
    file.read(buffer.data(), buffer.size());
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxRecordBytes) {
      throw std::invalid_argument(
          fmt::format("it is longer than {} bytes; it is no record", kMaxRecordBytes));
    }
  }
  if (file.bad()) throw std::invalid_argument("it cannot be read");
  return text;
}

}  // namespace

RecordFile::RecordFile(const fs::path& path)
    : record_(path), samples_(samples_path(record_.path())) {}

void RecordFile::commit(const Record& record) {
  const std::string lines = sample_lines(record);
  if (record.samples.size() <= kMaxInlineSamples && lines.size() <= kMaxInlineBytes) {
    record_.commit(to_json(record));
    return;
  }
  const SamplesFile file{.name = samples_.path().filename().string(),
                         .rows = static_cast<std::int64_t>(record.samples.size()),
                         .bytes = static_cast<std::int64_t>(lines.size()),
                         .fnv1a = fnv1a(lines)};
  const std::string text = to_json(record, file);  // may throw: before anything is replaced
  samples_.commit(compress_samples(lines));
  record_.commit(text);
}

Record read_record(const fs::path& path) {
  try {
    std::optional<SamplesFile> file;
    Record record = from_json(read_text(path), file);
    if (file) {
      std::error_code error;
      const fs::path folder = fs::canonical(path, error).parent_path();
      record.samples = read_samples(folder, *file, record.phase_names.size());
    }
    return record;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("cannot read the record '{}': {}", path.string(), error.what()));
  }
}

}  // namespace specbench::results
