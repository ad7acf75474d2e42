// Byte-level BPE as Hugging Face's tokenizer.json describes it. Reads text, never changes it:
// decode(encode(t)) == t, but for the space that a file with add_prefix_space puts in front.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

class Tokenizer {
 public:
  Tokenizer();  ///< empty: encodes nothing
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Throws InputError (file, field, value, what is supported).
  static Tokenizer from_json_file(const std::filesystem::path& file);

  /// Text to ids. Text that spells a special token gives that token. Adds no BOS. Any bytes are
  /// accepted.
  std::vector<TokenId> encode(std::string_view text) const;

  /// Ids to bytes, special tokens spelled out. Throws InputError on an id outside [0, size);
  /// an id within that the file leaves out has no bytes.
  std::string decode(std::span<const TokenId> ids) const;

  int size() const;  ///< largest id + 1

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace specbench::engine
