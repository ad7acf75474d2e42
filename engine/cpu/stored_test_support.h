// For tests and benchmarks of the cpu backend: matrices and models of every weight type, and the
// same weights as float32.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/engine_test_support.h"
#include "engine/model/narrow.h"
#include "engine/model/weight_type.h"

namespace specbench::engine::testing {

/// Random bytes, with float16 scales about as large as give weights of the size `scale`.
inline void fill_block(WeightType type, double scale, Numbers& numbers, std::byte* block) {
  const int n_bytes = block_shape(type).n_bytes;
  for (int i = 0; i < n_bytes; ++i) block[i] = static_cast<std::byte>(numbers.below(256));
  const auto put = [&](int at, double value) {
    const auto size = static_cast<float>(value * (0.5 + numbers.uniform()));
    const std::uint16_t bits = to_f16(numbers.below(2) == 0 ? size : -size);
    std::memcpy(block + at, &bits, 2);
  };
  switch (type) {
    case WeightType::kQ8_0:
      return put(0, scale / 74);
    case WeightType::kQ4_0:
      return put(0, scale / 5);
    case WeightType::kQ4_1:
      put(0, scale / 5);
      return put(2, scale);
    case WeightType::kQ5_0:
      return put(0, scale / 9);
    case WeightType::kQ5_1:
      put(0, scale / 9);
      return put(2, 2 * scale);
    case WeightType::kQ4_K:
    case WeightType::kQ5_K:
      put(0, scale / 600);
      return put(2, scale / 40);
    case WeightType::kQ6_K:
      return put(208, scale / 1400);
    default:
      return;
  }
}

/// n_cols: a multiple of the type's block.
inline Matrix stored_matrix(WeightType type, int n_rows, int n_cols, double scale,
                            Numbers& numbers) {
  Matrix matrix;
  matrix.n_rows = n_rows;
  matrix.n_cols = n_cols;
  matrix.type = type;
  const auto bytes = std::make_shared<std::vector<std::byte>>(matrix.n_bytes());
  const auto n_bytes = static_cast<std::size_t>(block_shape(type).n_bytes);
  for (std::size_t at = 0; at < bytes->size(); at += n_bytes) {
    const auto value = static_cast<float>(scale * numbers.spread());
    const std::uint16_t half =
        type == WeightType::kF16
            ? to_f16(value)
            : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    if (type == WeightType::kF32)
      std::memcpy(bytes->data() + at, &value, 4);
    else if (n_bytes == 2)
      std::memcpy(bytes->data() + at, &half, 2);
    else
      fill_block(type, scale, numbers, bytes->data() + at);
  }
  matrix.data = {bytes, bytes->data()};
  return matrix;
}

inline Matrix as_floats(const Matrix& matrix) {
  return make_matrix(matrix.n_rows, matrix.n_cols, to_floats(matrix));
}

/// Every matrix of a layer and the head pass through change(matrix).
template <typename Change>
void change_matrices(Model& model, const Change& change) {
  for (LayerWeights& l : model.weights.layers)
    for (Matrix* m : {&l.query, &l.key, &l.value, &l.attention_out, &l.gate, &l.up, &l.down})
      *m = change(*m);
  Weights& w = model.weights;
  w.embedding = change(w.embedding);
  if (!model.config.tied_head) w.head = change(w.head);
}

/// Random weights of one type in every matrix.
inline std::unique_ptr<Model> stored_model(WeightType type, const ModelConfig& c,
                                           std::uint64_t seed) {
  auto model = random_model(c, seed);
  Numbers numbers(seed + 1000);
  change_matrices(*model, [&](const Matrix& m) {
    return stored_matrix(type, m.n_rows, m.n_cols, 1.0 / std::sqrt(m.n_cols), numbers);
  });
  return model;
}

inline std::unique_ptr<Model> as_floats(const Model& model) {
  auto floats = std::make_unique<Model>();
  floats->name = model.name;
  floats->config = model.config;
  floats->weights = model.weights;
  change_matrices(*floats, [](const Matrix& m) { return as_floats(m); });
  return floats;
}

}  // namespace specbench::engine::testing
