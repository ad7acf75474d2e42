// One file of a model, mapped for reading. Pages come as they are touched; nothing is copied. A
// file that is cut short while it is mapped raises SIGBUS on the next touch, which the program
// turns into a sentence (suites/main.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace specbench::engine {

/// All bytes of a file, wherever they lie.
struct FileBytes {
  std::shared_ptr<const std::byte> data;
  std::size_t size = 0;
  bool is_mapped = false;  ///< pages that are given back come again from the file
};

/// Gives whole pages inside mapped bytes back to the system; those at the ends hold other things
/// too.
void release_mapped(std::span<const std::byte> bytes);

class MappedFile : public std::enable_shared_from_this<MappedFile> {
 public:
  /// Throws InputError as InputFile does, and if the file cannot be mapped. An empty file maps to
  /// no bytes.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const { return name_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Keeps the file mapped.
  FileBytes all() const { return {at(0), size_, true}; }
  /// The bytes from `offset` on (at most the size), keeping the file mapped.
  std::shared_ptr<const std::byte> at(std::uint64_t offset) const {
    return {shared_from_this(), data_ + offset};
  }

 private:
  MappedFile() = default;
  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace specbench::engine
