#include "engine/model/convert.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "engine/error.h"
#include "engine/memory_limit.h"
#include "engine/model/filled_matrix.h"
#include "engine/model/narrow.h"

namespace specbench::engine {

namespace {

constexpr int kBlock = 32;  // values of a Q8_0 block
constexpr float kF16Max = 65504.0F;
constexpr unsigned kInfiniteBf16 = 0x7f80U;

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

[[noreturn]] void refuse_value(const std::string& what, float value, const char* which_cannot) {
  throw InputError(what + " holds " + std::to_string(value) + ", " + which_cannot + ".");
}

bool fits_f16(float x) { return (to_f16(x) & 0x7fffU) <= to_f16(kF16Max); }

void round_f16(const float* values, std::size_t n, const std::string& what, std::byte* out) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!fits_f16(values[i]))
      refuse_value(what, values[i], "beyond float16's 65504; use --dtype bf16 or f32");
    const std::uint16_t narrow = to_f16(values[i]);
    std::memcpy(out + 2 * i, &narrow, 2);
  }
}

void round_bf16(const float* values, std::size_t n, const std::string& what, std::byte* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t narrow = to_bf16(values[i]);
    if ((narrow & 0x7fffU) == kInfiniteBf16)
      refuse_value(what, values[i], "which rounds to infinity in bfloat16; use --dtype f32");
    std::memcpy(out + 2 * i, &narrow, 2);
  }
}

void copy_f32(const float* values, std::size_t n, const std::string&, std::byte* out) {
  std::memcpy(out, values, n * sizeof(float));
}

// The integers belong to the scale before it is rounded: what ggml's quantize_row_q8_0 does.
void round_q8_0(const float* values, std::size_t n, const std::string& what, std::byte* out) {
  for (std::size_t at = 0; at < n; at += kBlock, values += kBlock, out += 2 + kBlock) {
    float largest = 0.0F;
    for (int i = 0; i < kBlock; ++i) largest = std::max(largest, std::fabs(values[i]));
    const float scale = largest / 127.0F;
    if (!fits_f16(scale))
      refuse_value(what, largest,
                   "a 127th of which, Q8_0's scale, is beyond float16's 65504; use --dtype bf16 or "
                   "f32");
    const std::uint16_t narrow = to_f16(scale);
    std::memcpy(out, &narrow, 2);
    // A scale that rounds to 0 leaves nothing of the block; its inverse may overflow.
    const float inverse = narrow != 0 ? 1.0F / scale : 0.0F;
    for (int i = 0; i < kBlock; ++i)
      out[2 + i] =
          static_cast<std::byte>(static_cast<std::int8_t>(std::round(values[i] * inverse)));
  }
}

using RoundRow = void (*)(const float* values, std::size_t n, const std::string& what,
                          std::byte* out);

RoundRow rule_of(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return copy_f32;
    case WeightType::kF16:
      return round_f16;
    case WeightType::kBF16:
      return round_bf16;
    case WeightType::kQ8_0:
      return round_q8_0;
    default:
      throw InputError(std::string("weights cannot be converted to ") + weight_type_name(type) +
                       "; supported are F32, F16, BF16 and Q8_0.");
  }
}

/// `what`: for messages, "the query matrix of layer 3".
Matrix converted(const Matrix& from, WeightType type, const std::string& what) {
  if (from.n_cols % block_shape(type).n_values != 0)
    throw InputError(what + " has rows of " + std::to_string(from.n_cols) +
                     " values, no whole number of " + weight_type_name(type) + "'s blocks of " +
                     std::to_string(block_shape(type).n_values) + "; use --dtype f16 or bf16.");
  const RoundRow round_row = rule_of(type);
  const auto n_cols = static_cast<std::size_t>(from.n_cols);
  Matrix to = filled_matrix(from.n_rows, from.n_cols, type, [&](int first, int last, auto* out) {
    std::vector<float> values(n_cols);
    for (int r = first; r < last; ++r, out += row_bytes(type, from.n_cols)) {
      from.read_row(r, values.data());
      round_row(values.data(), n_cols, what, out);
    }
  });
  release_pages(from);
  return to;
}

void for_each_matrix(Weights& weights,
                     const std::function<void(Matrix&, const std::string& what)>& visit) {
  visit(weights.embedding, "the embedding");
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    LayerWeights& w = weights.layers[i];
    const std::pair<const char*, Matrix*> matrices[] = {
        {"query", &w.query}, {"key", &w.key},
        {"value", &w.value}, {"attention output", &w.attention_out},
        {"gate", &w.gate},   {"up", &w.up},
        {"down", &w.down}};
    for (const auto& [name, matrix] : matrices)
      visit(*matrix, std::string("the ") + name + " matrix of layer " + std::to_string(i));
  }
  if (!weights.head.empty()) visit(weights.head, "the head");
}

std::uint64_t hash_after(std::uint64_t hash, const char* type) {
  const std::string done = std::string("specbench convert 1 ") + type;
  return XXH3_64bits_withSeed(done.data(), done.size(), hash);
}

}  // namespace

void convert(Model& model, WeightType type, std::size_t memory_limit_bytes) {
  (void)rule_of(type);
  std::size_t n_bytes = 0;
  for_each_matrix(model.weights, [&](const Matrix& matrix, const std::string&) {
    if (matrix.type != type && matrix.n_cols % block_shape(type).n_values == 0)
      n_bytes += static_cast<std::size_t>(matrix.n_rows) * row_bytes(type, matrix.n_cols);
  });
  require_memory(model.name + " as " + weight_type_name(type), 2 * n_bytes, memory_limit_bytes,
                 "converted weights are held twice, as made and as packed, so take a type of fewer "
                 "bits, or run the model as it is stored");
  bool has_changed = false;
  for_each_matrix(model.weights, [&](Matrix& matrix, const std::string& what) {
    if (matrix.type == type) return;
    matrix = converted(matrix, type, what);
    has_changed = true;
  });
  if (!has_changed) return;
  const char* const name = weight_type_name(type);
  model.name += "@" + lower_case(name);
  model.weights_hash = hash_after(model.weights_hash, name);
  model.weights_dtype = name;
}

}  // namespace specbench::engine
