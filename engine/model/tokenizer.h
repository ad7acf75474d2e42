// Text to tokens and back, token for token as Hugging Face's tokenizers does it from tokenizer.json
// and sentencepiece from its models: byte-level BPE, BPE and unigrams over characters. What comes
// back of a text t, decode(encode(t)):
// - byte level: t, less bytes that have no token (SmolLM2 lacks 21, of them six control
//   characters); its normal form where the file normalizes; with add_prefix_space a space in front
//   of every part between added tokens that began with none.
// - otherwise: t, where the file has byte fallback and takes off in front what it put there. U+2581
//   comes back as a space. A file that puts a space in front where there is none (Metaspace) loses
//   one that was there; one that puts a space in front of every part leaves it behind added tokens.
//   Without byte fallback characters that are no token come back as the unknown token.
// Added tokens that strip take white space beside them along. Decoding differs from Hugging Face's
// in two ways: bytes that are not UTF-8 stay as they are (there U+FFFD), and an added token at byte
// level is spelled out (there U+00A1 to U+0143 in it stand for bytes).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

struct GgufVocabulary;  // tokenizer_gguf.h
struct TokenizerSpec;   // tokenizer_spec.h

class Tokenizer {
 public:
  Tokenizer();  ///< empty: encodes nothing
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Throws InputError (file, field, value, what is supported).
  static Tokenizer from_json_file(const std::filesystem::path& file);

  /// The same of its text; `file` is named in messages.
  static Tokenizer from_json(std::string_view json, const std::string& file);

  /// Throws InputError likewise; `file` is the GGUF file's name, for messages.
  static Tokenizer from_gguf(const GgufVocabulary& vocabulary, const std::string& file);

  /// Text to ids. Text that spells a special token gives that token. Adds no BOS. Any bytes are
  /// accepted.
  std::vector<TokenId> encode(std::string_view text) const;

  /// Ids to bytes, special tokens spelled out; without the space that the format puts in front.
  /// Throws InputError on an id outside [0, size); an id within that the file leaves out has no
  /// bytes.
  std::string decode(std::span<const TokenId> ids) const;

  /// Bytes of a token that other text goes before: those of a continuation, put together, are its
  /// text. Throws InputError as decode does.
  const std::string& bytes_of(TokenId id) const;

  int size() const;  ///< largest id + 1

 private:
  static Tokenizer from_spec(TokenizerSpec spec, const std::string& file);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace specbench::engine
