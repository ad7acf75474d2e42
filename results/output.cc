#include "results/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace specbench::results {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw std::invalid_argument(fmt::format("cannot write to '{}': {}", path.string(), reason));
}

std::string reason_of(int error) { return std::generic_category().message(error); }

fs::path temporary_beside(const fs::path& path) {
  static std::atomic<int> n_made{0};  // two outputs of one process never share a name
  return path.parent_path() /
         fmt::format(".{}.{}.{}.tmp", path.filename().string(), getpid(), n_made++);
}

// Zero, or the errno of what failed.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n_written = ::write(file, text.data(), text.size());
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) return errno;
    if (n_written == 0) return ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(n_written));
  }
  return 0;
}

// The new name is on the disk only once the folder is. Some file systems cannot sync a folder; the
// file is whole then too.
void sync_folder(const fs::path& folder) noexcept {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) {
  if (path.empty()) throw std::invalid_argument("the output path is empty; name a file");
  std::error_code error;
  path_ = fs::absolute(path, error);
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status) || !path_.has_filename())
    refuse(path, "it is a folder; name a file in it");
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status)) refuse(path, "it is no regular file");
    if (::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) refuse(path, reason_of(errno));
    path_ = fs::canonical(path_, error);  // replace what a link points to, not the link
    if (error) refuse(path, error.message());
  }
  if (!fs::is_directory(path_.parent_path(), error)) {
    refuse(path,
           fmt::format("the folder '{}' does not exist; create it", path_.parent_path().string()));
  }
  temporary_ = temporary_beside(path_);
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) {
    const int reason = errno;
    temporary_.clear();
    refuse(path, reason_of(reason));
  }
  struct stat old {};
  if (fs::exists(status) && ::stat(path_.c_str(), &old) == 0) {
    // Keep the mode of the file that is replaced; failing that, the default one is right enough.
    [[maybe_unused]] const int ignored = ::fchmod(file_, old.st_mode & 07777);
  }
}

OutputFile::~OutputFile() { discard(); }

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::exchange(other.file_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  discard();
  path_ = std::move(other.path_);
  temporary_ = std::exchange(other.temporary_, {});
  file_ = std::exchange(other.file_, -1);
  return *this;
}

void OutputFile::commit(std::string_view text) {
  if (file_ < 0)
    throw std::logic_error(fmt::format("'{}' has been written already", path_.string()));
  int error = write_all(file_, text);
  if (error == 0 && ::fsync(file_) != 0) error = errno;
  // close reports what a network file system could not write.
  if (::close(std::exchange(file_, -1)) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0) {
    discard();
    throw std::runtime_error(
        fmt::format("cannot write {} bytes to '{}': {}; the file there is unchanged", text.size(),
                    path_.string(), reason_of(error)));
  }
  temporary_.clear();
  sync_folder(path_.parent_path());
}

void OutputFile::discard() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

}  // namespace specbench::results
