// A model as it lies on disk, read into memory: shape, float32 weights, tokenizer. Knows nothing of
// how it is run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/tokenizer.h"
#include "engine/types.h"

namespace specbench::engine {

/// Shape of a Llama-like decoder: RMSNorm, RoPE (halves rotated), grouped-query attention, SwiGLU.
struct ModelConfig {
  int vocab_size = 0;
  int width = 0;  ///< hidden_size
  int n_layers = 0;
  int n_heads = 0;     ///< query heads
  int n_kv_heads = 0;  ///< divides n_heads
  int head_dim = 0;    ///< even
  int ffn_width = 0;   ///< intermediate_size
  double norm_eps = 0;
  double rope_theta = 0;
  int max_positions = 0;  ///< longest sequence, prompt and output together
  bool tied_head = false;
  std::optional<TokenId> bos;
  std::vector<TokenId> eos;  ///< any of these ends a document; may be empty
};

/// Row-major n_rows x n_cols: row = output, column = input.
struct Matrix {
  int n_rows = 0;
  int n_cols = 0;
  std::vector<float> data;
};

struct LayerWeights {
  std::vector<float> attention_norm;  ///< width
  Matrix query;                       ///< (n_heads * head_dim) x width
  Matrix key, value;                  ///< (n_kv_heads * head_dim) x width
  Matrix attention_out;               ///< width x (n_heads * head_dim)
  std::vector<float> ffn_norm;        ///< width
  Matrix gate, up;                    ///< ffn_width x width
  Matrix down;                        ///< width x ffn_width
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
  std::uint64_t weights_hash = 0;  ///< FNV-1a of the weight files' bytes, in file-name order
  std::string weights_dtype;       ///< as stored: "BF16", "F16", "F32" (or "mixed")

  /// Ids of a prompt: BOS first where the config has one, then the text. Throws InputError if the
  /// text is empty and there is no BOS.
  std::vector<TokenId> encode_prompt(std::string_view text) const;
};

/// Reads config.json, *.safetensors (one file, or sharded with model.safetensors.index.json) and
/// tokenizer.json. Throws InputError: one sentence naming file, field or tensor, value, and what
/// was expected.
Model load_hugging_face(const std::filesystem::path& directory);

}  // namespace specbench::engine
