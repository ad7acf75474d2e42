// Metadata of a GGUF file to ModelConfig, for the architectures llama, qwen2 and qwen3. What this
// engine cannot compute exactly is refused by name, never approximated.
#pragma once

#include "engine/model/gguf.h"
#include "engine/model/model.h"

namespace specbench::engine {

inline constexpr const char* kGgufEmbedding = "token_embd.weight";
inline constexpr const char* kGgufHead = "output.weight";
inline constexpr const char* kGgufRopeFactors = "rope_freqs.weight";

/// Shape, rotation and special tokens. Reads the tensors' names and shapes too: vocab_size is the
/// number of rows of the embedding, and rope_freqs.weight divides the frequencies (Llama 3.1). A
/// sliding window of the architecture llama caps max_positions, as in config.h. What ends a text
/// are the tokens of the keys eos, eot and eom and, as in llama.cpp, control tokens by their text:
/// "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "</s>",
/// "<end_of_turn>".
/// Throws InputError naming file, key or tensor, value, and what was expected.
ModelConfig read_gguf_config(const GgufFile& file);

}  // namespace specbench::engine
