// For tests and benchmarks of the engine: keyed numbers, laws that own their weights, small random
// models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/coins.h"
#include "engine/law.h"
#include "engine/model/model.h"

namespace specbench::engine::testing {

/// Numbers one after another, the same on every run.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : seed_(seed) {}
  double uniform() { return engine::uniform({seed_, 0, 0, n_++, Purpose::kVerification, 0}); }
  int below(int n) { return static_cast<int>(uniform() * n); }
  /// Mean 0, variance 1, bounded by sqrt(3).
  double spread() { return (uniform() - 0.5) * std::sqrt(12.0); }

 private:
  std::uint64_t seed_;
  std::uint32_t n_ = 0;
};

/// A law with its storage. Moved, never copied: the law points into the vectors.
struct OwnedLaw {
  explicit OwnedLaw(const std::vector<double>& ids) : weights(ids) {
    const int n = static_cast<int>(ids.size());
    weights.resize(static_cast<std::size_t>(padded_size(n)));
    sums.resize(static_cast<std::size_t>(n_chunks(n)));
    law = {weights.data(), sums.data(), sum_chunks(weights.data(), n, sums.data()), n, -1};
  }
  OwnedLaw(OwnedLaw&&) = default;
  OwnedLaw(const OwnedLaw&) = delete;
  OwnedLaw& operator=(const OwnedLaw&) = delete;
  OwnedLaw& operator=(OwnedLaw&&) = delete;

  std::vector<double> weights, sums;
  Law law;
};

inline Law point_law(int n_ids, TokenId id) { return {nullptr, nullptr, 1.0, n_ids, id}; }

/// Weights e^(scale x spread) of n ids: the larger the scale, the more peaked.
inline OwnedLaw random_law(int n_ids, double scale, Numbers& numbers) {
  std::vector<double> weights(static_cast<std::size_t>(n_ids));
  for (double& w : weights) w = std::exp(scale * numbers.spread());
  return OwnedLaw(weights);
}

inline std::vector<double> probs_of(const Law& law) {
  std::vector<double> probs(static_cast<std::size_t>(law.n_ids));
  for (int id = 0; id < law.n_ids; ++id) probs[static_cast<std::size_t>(id)] = law.prob(id);
  return probs;
}

/// Pearson's statistic; infinite where an id of probability zero was seen.
inline double chi_squared(const std::vector<std::int64_t>& counts,
                          const std::vector<double>& probs) {
  std::int64_t n = 0;
  for (const std::int64_t count : counts) n += count;
  double sum = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = static_cast<double>(n) * probs[i];
    const double d = static_cast<double>(counts[i]) - expected;
    if (expected > 0.0) sum += d * d / expected;
    if (!(expected > 0.0) && counts[i] > 0) return HUGE_VAL;
  }
  return sum;
}

inline ModelConfig make_shape(int vocab, int width, int layers, int heads, int kv_heads, int dim,
                              int ffn) {
  ModelConfig c;
  c.vocab_size = vocab;
  c.width = width;
  c.n_layers = layers;
  c.n_heads = heads;
  c.n_kv_heads = kv_heads;
  c.head_dim = dim;
  c.ffn_width = ffn;
  c.norm_eps = 1e-5;
  c.rope_theta = 10000.0;
  c.max_positions = 256;
  c.tied_head = false;
  return c;
}

/// The shape of the tests of decoding: twelve layers, quickly run.
inline ModelConfig small_shape() { return make_shape(61, 24, 12, 2, 1, 12, 40); }

/// The shape of the embedded model.
inline ModelConfig austen_shape() {
  ModelConfig c = make_shape(4096, 256, 12, 4, 2, 64, 704);
  c.max_positions = 1024;
  c.tied_head = true;
  return c;
}

inline Matrix random_matrix(int n_rows, int n_cols, double scale, Numbers& numbers) {
  std::vector<float> values(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(n_cols));
  for (float& v : values) v = static_cast<float>(scale * numbers.spread());
  return make_matrix(n_rows, n_cols, std::move(values));
}

inline std::vector<float> random_vector(int n, double mean, double scale, Numbers& numbers) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) v = static_cast<float>(mean + scale * numbers.spread());
  return x;
}

/// Random weights of a shape: every layer changes the state, logits spread by about 2.
inline std::unique_ptr<Model> random_model(const ModelConfig& c, std::uint64_t seed) {
  Numbers numbers(seed);
  auto model = std::make_unique<Model>();
  model->name = "random";
  model->config = c;
  const int q = c.n_heads * c.head_dim;
  const int kv = c.n_kv_heads * c.head_dim;
  const double in = 1.0 / std::sqrt(c.width);
  Weights& w = model->weights;
  w.embedding = random_matrix(c.vocab_size, c.width, 2.0 * in, numbers);
  for (int layer = 0; layer < c.n_layers; ++layer) {
    LayerWeights l;
    l.attention_norm = random_vector(c.width, 1.0, 0.1, numbers);
    l.query = random_matrix(q, c.width, in, numbers);
    l.key = random_matrix(kv, c.width, in, numbers);
    l.value = random_matrix(kv, c.width, in, numbers);
    l.attention_out = random_matrix(c.width, q, 0.5 / std::sqrt(q), numbers);
    l.ffn_norm = random_vector(c.width, 1.0, 0.1, numbers);
    l.gate = random_matrix(c.ffn_width, c.width, in, numbers);
    l.up = random_matrix(c.ffn_width, c.width, in, numbers);
    l.down = random_matrix(c.width, c.ffn_width, 0.5 / std::sqrt(c.ffn_width), numbers);
    w.layers.push_back(std::move(l));
  }
  w.final_norm = random_vector(c.width, 1.0, 0.1, numbers);
  if (!c.tied_head) w.head = random_matrix(c.vocab_size, c.width, 2.0 * in, numbers);
  return model;
}

inline std::vector<TokenId> random_tokens(int n, const ModelConfig& c, std::uint64_t seed) {
  Numbers numbers(seed);
  std::vector<TokenId> tokens(static_cast<std::size_t>(n));
  for (TokenId& id : tokens) id = numbers.below(c.vocab_size);
  return tokens;
}

inline std::vector<Row> rows_of(int lane, int first_pos, const std::vector<TokenId>& tokens,
                                int first_slot) {
  std::vector<Row> rows;
  for (const TokenId id : tokens) {
    const int i = static_cast<int>(rows.size());
    rows.push_back({lane, first_pos + i, id, first_slot + i});
  }
  return rows;
}

/// Logits of every position of a sequence, each row a step of its own: what any packing must equal.
inline std::vector<float> logits_row_by_row(Backend& backend, int lane,
                                            const std::vector<TokenId>& tokens) {
  const auto vocab = static_cast<std::size_t>(backend.config().vocab_size);
  std::vector<float> out(tokens.size() * vocab);
  backend.reset(lane, 0);
  for (std::size_t pos = 0; pos < tokens.size(); ++pos) {
    const Row row{lane, static_cast<int>(pos), tokens[pos], 0};
    backend.forward({&row, 1}, 0, backend.config().n_layers);
    backend.logits({&row, 1}, out.data() + pos * vocab);
  }
  return out;
}

inline BackendOptions backend_options(int n_lanes, int n_threads, int n_slots = 512) {
  BackendOptions options;
  options.n_lanes = n_lanes;
  options.n_threads = n_threads;
  options.n_slots = n_slots;
  options.poison = true;
  return options;
}

}  // namespace specbench::engine::testing
