// Steps of models of real sizes, by weight type, and attention over long contexts, beside what the
// machine can do at best, measured in turns with them (bench_support.h). The weights are of one
// byte: the time is the same.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/engine_test_support.h"
#include "suites/bench_support.h"

namespace specbench::suites {
namespace {

using engine::BackendOptions;
using engine::KvType;
using engine::Matrix;
using engine::Model;
using engine::ModelConfig;
using engine::Row;
using engine::WeightType;

Matrix one_byte_matrix(WeightType type, int n_rows, int n_cols) {
  Matrix matrix;
  matrix.n_rows = n_rows;
  matrix.n_cols = n_cols;
  matrix.type = type;
  const auto bytes = std::make_shared<std::vector<std::byte>>(matrix.n_bytes(), std::byte{0x3c});
  matrix.data = {bytes, bytes->data()};
  return matrix;
}

std::unique_ptr<Model> one_byte_model(WeightType type, const ModelConfig& c) {
  auto model = std::make_unique<Model>();
  model->config = c;
  const int q = c.n_heads * c.head_dim;
  const int kv = c.n_kv_heads * c.head_dim;
  const std::vector<float> gain(static_cast<std::size_t>(c.width), 1.0F);
  engine::LayerWeights l;
  l.attention_norm = l.ffn_norm = model->weights.final_norm = gain;
  l.query = one_byte_matrix(type, q, c.width);
  l.key = l.value = one_byte_matrix(type, kv, c.width);
  l.attention_out = one_byte_matrix(type, c.width, q);
  l.gate = l.up = one_byte_matrix(type, c.ffn_width, c.width);
  l.down = one_byte_matrix(type, c.width, c.ffn_width);
  model->weights.layers.assign(static_cast<std::size_t>(c.n_layers), l);
  model->weights.embedding = one_byte_matrix(type, c.vocab_size, c.width);
  return model;
}

ModelConfig shape_of(int vocab, int width, int layers, int heads, int kv_heads, int dim, int ffn) {
  ModelConfig c = engine::testing::make_shape(vocab, width, layers, heads, kv_heads, dim, ffn);
  c.max_positions = 40000;
  c.tied_head = true;
  return c;
}

/// A lane of `context` tokens, and steps of n rows behind it.
class Lane {
 public:
  Lane(const Model& model, const BackendOptions& options, int context) : context_(context) {
    backend_ = engine::make_backend("cpu", model, options);
    backend_->reset(0, 0);
    const auto tokens = engine::testing::random_tokens(context, model.config, 2);
    for (int pos = 0; pos < context; pos += 512) {
      const int end = std::min(context, pos + 512);
      backend_->forward(
          engine::testing::rows_of(0, pos, {tokens.begin() + pos, tokens.begin() + end}, 0), 0,
          model.config.n_layers);
    }
  }
  void forward(int n_rows) {
    std::vector<Row> rows;
    for (int i = 0; i < n_rows; ++i) rows.push_back({0, context_ + i, i, i});
    backend_->forward(rows, 0, backend_->config().n_layers);
    backend_->trim(0, context_);
    rows_ = rows;
  }
  void head() {
    logits_.resize(rows_.size() * static_cast<std::size_t>(backend_->config().vocab_size));
    backend_->logits(rows_, logits_.data());
    benchmark::DoNotOptimize(logits_.data());
  }

 private:
  int context_;
  std::unique_ptr<engine::Backend> backend_;
  std::vector<Row> rows_;
  std::vector<float> logits_;
};

BackendOptions options_of(int max_length, int n_threads, KvType type) {
  BackendOptions options;
  options.max_length = max_length;
  options.n_threads = n_threads;
  options.kv_type = type;
  return options;
}

double layer_weights(const ModelConfig& c) {
  return static_cast<double>(c.width) * c.head_dim * 2.0 * (c.n_heads + c.n_kv_heads) +
         3.0 * c.width * c.ffn_width;
}

void step(benchmark::State& state, WeightType type, const ModelConfig& shape) {
  const int n_rows = static_cast<int>(state.range(0));
  const int n_threads = static_cast<int>(state.range(1));
  const auto model = one_byte_model(type, shape);
  Lane lane(*model, options_of(1024, n_threads, KvType::kF32), 128);
  const engine::WeightBytes bytes = weight_bytes(*model);
  const double weights =
      shape.n_layers * layer_weights(shape) + static_cast<double>(shape.vocab_size) * shape.width;
  beside_ceilings(state, n_threads, static_cast<double>(bytes.layers + bytes.head),
                  2.0 * weights * n_rows, [&] {
                    lane.forward(n_rows);
                    lane.head();
                  });
}

void prefill(benchmark::State& state, WeightType type, const ModelConfig& shape) {
  const int n_rows = static_cast<int>(state.range(0));
  const int n_threads = static_cast<int>(state.range(1));
  const auto model = one_byte_model(type, shape);
  Lane lane(*model, options_of(1024, n_threads, KvType::kF32), 0);
  beside_ceilings(state, n_threads, static_cast<double>(weight_bytes(*model).layers),
                  2.0 * shape.n_layers * layer_weights(shape) * n_rows,
                  [&] { lane.forward(n_rows); });
}

/// Layers that are attention almost alone, as many as make a cache of keys and values that lies in
/// memory.
struct AttentionCase {
  int heads, kv_heads, dim;
  KvType type;
  int context, n_threads;
  bool operator==(const AttentionCase&) const = default;

  double layer_bytes() const {
    return 2.0 * context * kv_heads * dim * (type == KvType::kF16 ? 2 : 4);
  }
  int n_layers() const {
    return 1 + static_cast<int>(static_cast<double>(kFarFromCache) / 2 / layer_bytes());
  }
};

/// Filling a long lane takes seconds: it stays for the next benchmark of the same case.
Lane& lane_of(const AttentionCase& c) {
  static AttentionCase filled{};
  static std::unique_ptr<Model> model;
  static std::unique_ptr<Lane> lane;
  if (lane == nullptr || !(filled == c)) {
    lane.reset();
    model = one_byte_model(WeightType::kF32,
                           shape_of(32, 64, c.n_layers(), c.heads, c.kv_heads, c.dim, 32));
    lane =
        std::make_unique<Lane>(*model, options_of(c.context + 64, c.n_threads, c.type), c.context);
    filled = c;
  }
  return *lane;
}

void attention(benchmark::State& state, AttentionCase c) {
  c.context = static_cast<int>(state.range(0));
  c.n_threads = static_cast<int>(state.range(1));
  const int n_rows = static_cast<int>(state.range(2));
  Lane& lane = lane_of(c);
  beside_ceilings(state, c.n_threads, c.n_layers() * c.layer_bytes(),
                  4.0 * c.context * c.heads * c.dim * n_rows * c.n_layers(),
                  [&] { lane.forward(n_rows); });
}

const int kRegistered = [] {
  const ModelConfig small = shape_of(49152, 576, 30, 9, 3, 64, 1536);    // 135 M
  const ModelConfig large = shape_of(128256, 2048, 4, 32, 8, 64, 8192);  // a quarter of 1 G
  for (const WeightType t : engine::kAllWeightTypes) {
    const std::string name = engine::weight_type_name(t);
    for (const auto& [shape, label] : {std::pair(small, "135M"), std::pair(large, "1B/4")}) {
      if (shape.width % engine::block_shape(t).n_values != 0) continue;
      benchmark::RegisterBenchmark(("step/" + name + "/" + label).c_str(),
                                   [t, shape = shape](benchmark::State& s) { step(s, t, shape); })
          ->ArgNames({"rows", "threads"})
          ->ArgsProduct({{1, 5, 12}, {1, 2}})
          ->UseManualTime();
      benchmark::RegisterBenchmark(
          ("prefill/" + name + "/" + label).c_str(),
          [t, shape = shape](benchmark::State& s) { prefill(s, t, shape); })
          ->ArgNames({"rows", "threads"})
          ->ArgsProduct({{192, 512}, {1, 2}})
          ->UseManualTime();
    }
  }
  for (const KvType type : {KvType::kF32, KvType::kF16}) {
    for (const auto& [heads, kv_heads, dim] : {std::tuple(9, 3, 64), std::tuple(32, 8, 128)}) {
      const std::string name = "attention/" + std::to_string(heads) + "on" +
                               std::to_string(kv_heads) + "x" + std::to_string(dim) +
                               (type == KvType::kF16 ? "/f16" : "/f32");
      const AttentionCase c{heads, kv_heads, dim, type, 0, 0};
      benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& s) { attention(s, c); })
          ->ArgNames({"context", "threads", "rows"})
          ->ArgsProduct({{4096, dim == 64 ? 32768 : 8192}, {1, 2}, {1, 5}})
          ->UseManualTime();
    }
  }
  return 0;
}();

}  // namespace
}  // namespace specbench::suites
