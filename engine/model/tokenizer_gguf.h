// A vocabulary as GGUF files hold it, under keys that begin with tokenizer.ggml. The file names its
// splitting pattern (tokenizer.ggml.pre) and leaves the pattern itself to the reader, so only names
// whose meaning is known are taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

struct TokenizerSpec;  // tokenizer_spec.h

struct GgufVocabulary {
  std::string model;                ///< "gpt2": byte-level BPE; "llama": SentencePiece BPE
  std::string pre;                  ///< name of the splitting pattern; of "gpt2" only
  std::vector<std::string> tokens;  ///< text by id; of "gpt2" in the byte alphabet
  std::vector<float> scores;        ///< by id; of "llama" only, may be empty otherwise
  /// By id: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;  ///< "left right", best first; of "gpt2" only
  std::optional<TokenId> unknown;
  bool add_space_prefix = true;  ///< of "llama" only
};

/// Control, unknown and user-defined tokens are found in a text as they are spelled. Throws
/// InputError naming `file`, the key and the value.
TokenizerSpec read_gguf_vocabulary(const GgufVocabulary& vocabulary, const std::string& file);

}  // namespace specbench::engine
