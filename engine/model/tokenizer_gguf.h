// A vocabulary as GGUF files hold it, under keys that begin with tokenizer.ggml. The file names its
// splitting pattern (tokenizer.ggml.pre) and leaves the pattern itself to the reader, so only names
// whose meaning is known are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace specbench::engine {

struct TokenizerSpec;  // tokenizer_spec.h

struct GgufVocabulary {
  std::string model;                ///< "gpt2": byte-level BPE; "llama": SentencePiece's BPE
  std::string pre;                  ///< name of the splitting pattern; of "gpt2" only
  std::vector<std::string> tokens;  ///< text by id; of "gpt2" in the byte alphabet
  std::vector<float> scores;        ///< by id; of "llama" only, may be empty otherwise
  /// By id: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;  ///< "left right", best first; of "gpt2" only
  bool add_space_prefix = true;     ///< of "llama" only
};

/// Control, unknown and user-defined tokens are found in a text as they are spelled, but not those
/// that only fill up the list ("[PAD7]"). tokenizer.ggml.unknown_token_id is not read: neither
/// model, with its bytes, has text that is unknown. Throws InputError naming `file`, the key and
/// the value.
TokenizerSpec read_gguf_vocabulary(const GgufVocabulary& vocabulary, const std::string& file);

/// How many ids have a token: those at the end of the list that are unused, or that converters
/// write for ids without a token ("[PAD<id>]"), fill it up to the rows of the embedding. `types`
/// may be empty.
std::size_t count_gguf_tokens(const std::vector<std::string>& tokens,
                              const std::vector<std::int32_t>& types);

/// Whether llama.cpp puts BOS before a text where the file does not say, by the name of the
/// splitting pattern.
bool gguf_pattern_adds_bos(std::string_view pre);

}  // namespace specbench::engine
