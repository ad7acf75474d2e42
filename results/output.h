// A file that is either wholly written or untouched. Opened before measuring, so that an hour's
// work is not lost to a misspelt path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace specbench::results {

class OutputFile {
 public:
  // Creates an empty temporary file beside `path`. Throws std::invalid_argument, naming path and
  // reason, if the folder is missing, `path` is a folder or no regular file, or it may not be
  // written. An existing file stays as it is.
  explicit OutputFile(const std::filesystem::path& path);
  // Removes the temporary file unless committed.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Writes, syncs and renames over `path`; once only. Throws std::runtime_error if that fails (disk
  // full): the temporary file is gone then and the old file as it was.
  void commit(std::string_view text);

  const std::filesystem::path& path() const { return path_; }
  // What a signal handler must remove. Empty: committed.
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  void discard() noexcept;

  std::filesystem::path path_;       // where the text ends up, links followed
  std::filesystem::path temporary_;  // empty: committed or discarded
  int file_ = -1;
};

}  // namespace specbench::results
