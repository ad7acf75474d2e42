#include "engine/cpu/reference_backend.h"

#include <algorithm>
#include <cmath>

namespace specbench::engine {

std::vector<float> matmul_reference(const Matrix& w, std::span<const float> x) {
  std::vector<float> y(static_cast<std::size_t>(w.n_rows));
  std::vector<float> row(x.size());
  for (std::size_t o = 0; o < y.size(); ++o) {
    w.read_row(static_cast<int>(o), row.data());
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += static_cast<double>(row[i]) * static_cast<double>(x[i]);
    y[o] = static_cast<float>(sum);
  }
  return y;
}

std::vector<float> rmsnorm_reference(std::span<const float> x, std::span<const float> gain,
                                     double eps) {
  double squares = 0.0;
  for (const float v : x) squares += static_cast<double>(v) * static_cast<double>(v);
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(x.size()) + eps);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = static_cast<float>(static_cast<double>(x[i]) * scale * static_cast<double>(gain[i]));
  return y;
}

void rope_reference(std::span<float> head, const RopeTables& rope, int pos) {
  const auto half = static_cast<std::size_t>(rope.half);
  const std::size_t at = static_cast<std::size_t>(pos) * half;
  for (std::size_t i = 0; i < half; ++i) {
    const double a = head[i];
    const double b = head[i + half];
    const double c = rope.cos[at + i];
    const double s = rope.sin[at + i];
    head[i] = static_cast<float>(a * c - b * s);
    head[i + half] = static_cast<float>(b * c + a * s);
  }
}

std::vector<float> attention_reference(std::span<const float> query, std::span<const float> keys,
                                       std::span<const float> values, int n) {
  const std::size_t dim = query.size();
  std::vector<double> weights(static_cast<std::size_t>(n));
  for (std::size_t j = 0; j < weights.size(); ++j) {
    double dot = 0.0;
    for (std::size_t d = 0; d < dim; ++d)
      dot += static_cast<double>(query[d]) * static_cast<double>(keys[j * dim + d]);
    weights[j] = dot / std::sqrt(static_cast<double>(dim));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0.0;
  for (double& w : weights) total += w = std::exp(w - largest);
  std::vector<float> out(dim);
  for (std::size_t d = 0; d < dim; ++d) {
    double sum = 0.0;
    for (std::size_t j = 0; j < weights.size(); ++j)
      sum += weights[j] * static_cast<double>(values[j * dim + d]);
    out[d] = static_cast<float>(sum / total);
  }
  return out;
}

std::vector<float> swiglu_reference(std::span<const float> gate, std::span<const float> up) {
  std::vector<float> y(gate.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double g = gate[i];
    y[i] = static_cast<float>(g / (1.0 + std::exp(-g)) * static_cast<double>(up[i]));
  }
  return y;
}

ReferenceBackend::ReferenceBackend(const Model& model, BackendOptions options)
    : HostBackend(model, options), rope_(model.config, options_.max_length, 1) {}

namespace {

void add(std::span<float> x, std::span<const float> bias) {
  for (std::size_t i = 0; i < bias.size(); ++i) x[i] += bias[i];
}

}  // namespace

void ReferenceBackend::run_layer(const Row& row, int layer) {
  const ModelConfig& c = model_.config;
  const LayerWeights& w = model_.weights.layers[static_cast<std::size_t>(layer)];
  const auto dim = static_cast<std::size_t>(c.head_dim);
  const std::span<float> x(hidden(row.slot), static_cast<std::size_t>(c.width));

  const auto normed = rmsnorm_reference(x, w.attention_norm, c.norm_eps);
  auto queries = matmul_reference(w.query, normed);
  auto keys = matmul_reference(w.key, normed);
  auto values = matmul_reference(w.value, normed);
  add(queries, w.query_bias);
  add(keys, w.key_bias);
  add(values, w.value_bias);
  const auto head_of = [&](auto& rows, int h) {
    return std::span(rows).subspan(static_cast<std::size_t>(h) * dim, dim);
  };
  const auto turn = [&](std::span<float> head, const std::vector<float>& gain) {
    if (!gain.empty()) std::ranges::copy(rmsnorm_reference(head, gain, c.norm_eps), head.begin());
    rope_reference(head, rope_, row.pos);
  };
  for (int h = 0; h < c.n_heads; ++h) turn(head_of(queries, h), w.query_norm);
  for (int h = 0; h < c.n_kv_heads; ++h) {
    turn(head_of(keys, h), w.key_norm);
    store_.write(row.lane, layer, h, row.pos, head_of(keys, h).data(), head_of(values, h).data());
  }

  const int n = row.pos + 1;
  const std::size_t kv_width = static_cast<std::size_t>(c.n_kv_heads) * dim;
  std::vector<float> key(kv_width), value(kv_width);
  std::vector<float> all_keys(static_cast<std::size_t>(n) * dim), all_values(all_keys.size());
  std::vector<float> attended;
  for (int kv_head = 0; kv_head < c.n_kv_heads; ++kv_head) {
    for (int pos = 0; pos < n; ++pos) {
      store_.read(row.lane, layer, pos, key, value);
      std::copy_n(head_of(key, kv_head).data(), dim,
                  all_keys.data() + static_cast<std::size_t>(pos) * dim);
      std::copy_n(head_of(value, kv_head).data(), dim,
                  all_values.data() + static_cast<std::size_t>(pos) * dim);
    }
    const int group = c.n_heads / c.n_kv_heads;
    for (int h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      const auto out = attention_reference(head_of(queries, h), all_keys, all_values, n);
      attended.insert(attended.end(), out.begin(), out.end());
    }
  }
  const auto from_attention = matmul_reference(w.attention_out, attended);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += from_attention[i];

  const auto normed_ffn = rmsnorm_reference(x, w.ffn_norm, c.norm_eps);
  const auto gated =
      swiglu_reference(matmul_reference(w.gate, normed_ffn), matmul_reference(w.up, normed_ffn));
  const auto from_ffn = matmul_reference(w.down, gated);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += from_ffn[i];
}

void ReferenceBackend::run_layers(std::span<const Row> rows, int first, int last) {
  for (const Row& row : rows) {
    if (first == 0) model_.weights.embedding.read_row(row.token, hidden(row.slot));
    for (int layer = first; layer < last; ++layer) run_layer(row, layer);
  }
}

void ReferenceBackend::run_head(std::span<const Row> rows, float* out) {
  const ModelConfig& c = model_.config;
  const Matrix& head = c.tied_head ? model_.weights.embedding : model_.weights.head;
  for (const Row& row : rows) {
    const std::span<const float> x(hidden(row.slot), static_cast<std::size_t>(c.width));
    const auto y =
        matmul_reference(head, rmsnorm_reference(x, model_.weights.final_norm, c.norm_eps));
    out = std::copy(y.begin(), y.end(), out);
  }
}

}  // namespace specbench::engine
