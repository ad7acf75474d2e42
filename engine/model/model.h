// A model as it lies on disk: shape, weights as stored, tokenizer. Knows nothing of
// how it is run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/matrix.h"
#include "engine/model/tokenizer.h"
#include "engine/types.h"

namespace specbench::engine {

/// Shape of a Llama-like decoder: RMSNorm, RoPE (halves rotated), grouped-query attention, SwiGLU.
struct ModelConfig {
  std::string architecture = "llama";  ///< "llama", "mistral", "qwen2", "qwen3"
  int vocab_size = 0;                  ///< rows of embedding and head
  int n_tokens = 0;  ///< ids from here on belong to no token: their logits are -inf; 0: all do
  int width = 0;     ///< hidden_size
  int n_layers = 0;
  int n_heads = 0;     ///< query heads
  int n_kv_heads = 0;  ///< divides n_heads
  int head_dim = 0;    ///< even
  int ffn_width = 0;   ///< intermediate_size
  double norm_eps = 0;
  double rope_theta = 0;
  /// [head_dim / 2] radians a position, with any scaling applied (rope.h); empty: theta^(-2 i /
  /// head_dim).
  std::vector<double> rope_frequencies;
  double rope_magnitude = 1.0;  ///< cosines and sines are multiplied by it (YaRN)
  int max_positions = 0;        ///< longest sequence, prompt and output together
  bool has_qkv_bias = false;
  bool has_qk_norm = false;  ///< RMSNorm over each query and key head, before the rotation
  bool tied_head = false;
  std::optional<TokenId> bos;  ///< goes before every prompt; absent: nothing does (bos.h)
  std::vector<TokenId> eos;    ///< any of these ends a document; may be empty
};

struct LayerWeights {
  std::vector<float> attention_norm;                    ///< width
  Matrix query;                                         ///< (n_heads * head_dim) x width
  Matrix key, value;                                    ///< (n_kv_heads * head_dim) x width
  std::vector<float> query_bias, key_bias, value_bias;  ///< one an output; empty without
  std::vector<float> query_norm, key_norm;              ///< head_dim; empty without
  Matrix attention_out;                                 ///< width x (n_heads * head_dim)
  std::vector<float> ffn_norm;                          ///< width
  Matrix gate, up;                                      ///< ffn_width x width
  Matrix down;                                          ///< width x ffn_width
};

struct Weights {
  Matrix embedding;  ///< vocab_size x width
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;  ///< width
  Matrix head;                    ///< vocab_size x width; empty when tied to the embedding
};

struct Model {
  std::string name;  ///< last part of the path
  ModelConfig config;
  Weights weights;
  Tokenizer tokenizer;
  /// Of every tensor's name, type, shape and bytes, in order of names (tensors.h): the same however
  /// the tensors are spread over files.
  std::uint64_t weights_hash = 0;
  std::string weights_dtype;  ///< as stored: "BF16", "Q4_1"; the commonest by bytes, "+" if others

  /// Ids of a prompt: BOS first where the model wants one, then the text. A text that spells BOS in
  /// front, as chat templates do, gets no second one: here this departs from a plain call of
  /// Hugging Face's tokenizer. Throws InputError if the text is empty and there is no BOS.
  std::vector<TokenId> encode_prompt(std::string_view text) const;
};

/// A Hugging Face directory, a GGUF file or "synthetic:<shape>" (synthetic.h). Throws InputError:
/// one sentence naming file, field or tensor, value, and what was expected. memory_limit_bytes is
/// of models that are made up (0: not known, not checked); files are mapped.
Model load_model(const std::string& source, std::size_t memory_limit_bytes = 0);

/// Reads config.json, generation_config.json where there is one, *.safetensors (one file, or
/// sharded with model.safetensors.index.json) and tokenizer.json. Throws InputError: one sentence
/// naming file, field or tensor, value, and what was expected.
Model load_hugging_face(const std::filesystem::path& directory);

}  // namespace specbench::engine
