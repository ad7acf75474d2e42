// A record on the disk: opened before measuring, written whole or not at all, read with distrust.
// Must not judge what a record says.
#pragma once

#include <filesystem>

#include "results/output.h"
#include "results/record.h"

namespace specbench::results {

class RecordFile {
 public:
  // Opens the record and the place of its samples file (samples_path). Throws
  // std::invalid_argument, as OutputFile does, where either could not be written.
  explicit RecordFile(const std::filesystem::path& path);

  // Above kMaxInlineSamples rows or kMaxInlineBytes of them the samples go to the samples file,
  // renamed into place before the record is: the record never names a file that is not there. Once
  // only. Throws std::invalid_argument as to_json, std::runtime_error where writing fails; the old
  // record stays then. Where the old one had a samples file of that name and the machine stops
  // between the two renames, read_record says so.
  void commit(const Record& record);

  // Links followed.
  const std::filesystem::path& path() const { return record_.path(); }
  const std::filesystem::path& temporary() const { return record_.temporary(); }
  const std::filesystem::path& samples_temporary() const { return samples_.temporary(); }

 private:
  OutputFile record_;
  OutputFile samples_;
};

// Throws std::invalid_argument with one sentence that names the path: missing, unreadable, cut
// short, of a later schema, not a record, its samples file missing or damaged.
Record read_record(const std::filesystem::path& path);

}  // namespace specbench::results
