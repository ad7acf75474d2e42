// Read-only access to one file of a model, and the words in which its faults are told. Reads: a
// file that shrinks meanwhile is an error (weights are mapped, mapped_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace specbench::engine {

/// What a model is read from, for the messages that ask for one.
inline constexpr const char* kModelSources =
    "give a Hugging Face directory (config.json, tokenizer.json, *.safetensors), a GGUF file or "
    "synthetic:<shape>";

class InputFile {
 public:
  /// Throws InputError if the path is missing, is not a regular file, or cannot be opened.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& name() const { return name_; }  ///< the path as given
  std::uint64_t size() const { return size_; }       ///< bytes, taken when the file was opened

  int descriptor() const { return descriptor_; }  ///< open for reading

  /// Fills `out` from `offset` on. Throws InputError where the file ends earlier or cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The whole file. Throws InputError as InputFile does, and if it is empty or larger than
/// `max_bytes`.
std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes);

/// `text` in single quotes, fit for one line of a message: control bytes as '?', long text cut.
std::string quote(std::string_view text);

}  // namespace specbench::engine
