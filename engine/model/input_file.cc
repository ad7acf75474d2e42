#include "engine/model/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/error.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

std::string system_words(int error) { return std::generic_category().message(error); }

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  struct stat status {};
  // The kind is asked for before opening: opening a pipe would wait for its writer.
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      throw InputError((name_.empty() ? "''" : name_) + " does not exist; " + kModelSources + ".");
    }
    throw InputError(name_ + " cannot be opened: " + system_words(errno) + ".");
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(name_ + " is " +
                     (S_ISDIR(status.st_mode) ? "a directory" : "not a regular file") +
                     "; expected a file of a model.");
  }
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw InputError(name_ + " cannot be opened: " + system_words(errno) + ".");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t n_read = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) throw InputError(name_ + " cannot be read: " + system_words(errno) + ".");
    if (n_read == 0) {
      throw InputError(name_ + " ends at byte " + std::to_string(offset) +
                       " while it is being read; it was " + std::to_string(size_) +
                       " bytes long when opened, so do not change it during the run.");
    }
    offset += static_cast<std::uint64_t>(n_read);
    out = out.subspan(static_cast<std::size_t>(n_read));
  }
}

std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  if (file.size() == 0) {
    throw InputError(file.name() + " is empty; expected JSON, so fetch the model again.");
  }
  if (file.size() > max_bytes) {
    throw InputError(file.name() + " is " + std::to_string(file.size()) + " bytes long; at most " +
                     std::to_string(max_bytes) + " are read.");
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text.data(), text.size())));
  return text;
}

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string quoted = "'";
  for (const char c : text.substr(0, kLongest)) quoted += is_control(c) ? '?' : c;
  if (text.size() > kLongest) {
    // A character cut in half would make the message invalid UTF-8.
    while (quoted.size() > 1 && (static_cast<unsigned char>(quoted.back()) & 0x80) != 0)
      quoted.pop_back();
    quoted += "...";
  }
  return quoted + "'";
}

}  // namespace specbench::engine
