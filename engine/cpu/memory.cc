#include "engine/cpu/memory.h"

#include <algorithm>
#include <string>

#include "engine/cpu/kernels.h"
#include "engine/memory_limit.h"
#include "engine/weight_pool.h"

namespace specbench::engine {

namespace {

std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

const Matrix& head_of(const Model& model) {
  return model.config.tied_head ? model.weights.embedding : model.weights.head;
}

std::size_t packed_bytes_of(const Matrix& m) { return packed_bytes(m.type, m.n_rows, m.n_cols); }

std::size_t packed_bytes_of(const LayerWeights& w) {
  std::size_t bytes = 0;
  for (const auto& stack : query_key_value_stacks(w)) {
    int n_out = 0;
    for (const Matrix* part : stack) n_out += part->n_rows;
    bytes += packed_bytes(stack.front()->type, n_out, stack.front()->n_cols);
  }
  bytes += packed_bytes(gate_up_type(w.gate, w.up), gate_up_outputs(w.gate), w.gate.n_cols);
  return bytes + packed_bytes_of(w.attention_out) + packed_bytes_of(w.down);
}

std::size_t vector_bytes_of(const LayerWeights& w) {
  std::size_t n = 0;
  for (const std::vector<float>* vector : {&w.attention_norm, &w.ffn_norm, &w.query_bias,
                                           &w.key_bias, &w.value_bias, &w.query_norm, &w.key_norm})
    n += vector->size();
  return n * sizeof(float);
}

struct Needs {
  std::size_t weights = 0, cache = 0, steps = 0;
  std::size_t total() const { return weights + cache + steps; }
};

Needs needs_of(const Model& model, const BackendOptions& options) {
  const ModelConfig& c = model.config;
  const WeightBytes weights = weight_bytes(model);
  const StepFloats n = step_floats(model, options);
  const auto hidden = static_cast<std::size_t>(options.n_slots) * static_cast<std::size_t>(c.width);
  const auto rope =
      static_cast<std::size_t>(options.max_length) * static_cast<std::size_t>(c.head_dim);
  Needs needs;
  needs.weights = static_cast<std::size_t>(weights.layers + weights.head);
  needs.cache = KvStore::n_bytes(options.n_lanes, c, options.max_length, options.kv_type);
  needs.steps = sizeof(float) * (hidden + rope + n.packed + n.query_key_value + n.gated + n.split +
                                 n.thread_scratch);
  return needs;
}

}  // namespace

std::vector<std::vector<const Matrix*>> query_key_value_stacks(const LayerWeights& layer) {
  std::vector<std::vector<const Matrix*>> stacks;
  for (const Matrix* part : {&layer.query, &layer.key, &layer.value}) {
    if (stacks.empty() || stacks.back().front()->type != part->type) stacks.emplace_back();
    stacks.back().push_back(part);
  }
  return stacks;
}

int longest_run(const ModelConfig& config) {
  constexpr int kQueries = 48;  // their results over a span fit the second cache beside it
  return std::max(1, kQueries / (config.n_heads / config.n_kv_heads));
}

ScratchSizes scratch_sizes(const ModelConfig& config, int n_slots) {
  const auto rows = static_cast<std::size_t>(n_slots);
  const auto dim = static_cast<std::size_t>(config.head_dim);
  const auto queries =
      static_cast<std::size_t>(longest_run(config) * (config.n_heads / config.n_kv_heads));
  ScratchSizes sizes;
  sizes.norm = padded(static_cast<std::size_t>(config.width) * kFewRows);
  sizes.chunk = kChunkInputs * kBlock;
  sizes.sums = std::max<std::size_t>(rows, kTile) * kBlock;
  sizes.attention = padded(queries * dim + kTile * kSpan + 2 * queries * (dim + 2));
  return sizes;
}

StepFloats step_floats(const Model& model, const BackendOptions& options) {
  const ModelConfig& c = model.config;
  const auto n_rows = static_cast<std::size_t>(options.n_slots);
  const auto n_spans = static_cast<std::size_t>((options.max_length + kSpan - 1) / kSpan);
  StepFloats n;
  n.packed = n_rows * static_cast<std::size_t>(std::max(c.width, c.n_heads * c.head_dim));
  n.query_key_value_stride = ((c.n_heads + 2 * c.n_kv_heads) * c.head_dim + 15) / 16 * 16;
  n.query_key_value = n_rows * static_cast<std::size_t>(n.query_key_value_stride);
  n.gated = n_rows * static_cast<std::size_t>(c.ffn_width);
  if (n_spans > 1 && options.n_threads > 1)
    n.split = kSplitQueries * n_spans * static_cast<std::size_t>(c.head_dim + 2);
  n.thread_scratch =
      scratch_sizes(c, options.n_slots).total() * static_cast<std::size_t>(options.n_threads);
  return n;
}

BackendOptions fitting_options(const Model& model, const BackendOptions& options) {
  const BackendOptions checked = checked_options(model, options);
  Needs needs = needs_of(model, checked);
  if (checked.pool && checked.pool->holds(model)) needs.weights = 0;
  require_memory("Model " + model.name, needs.total(), checked.memory_limit_bytes,
                 "weights take " + size_text(needs.weights) + ", a cache of " +
                     std::to_string(checked.n_lanes) + " x " + std::to_string(checked.max_length) +
                     " tokens " + size_text(needs.cache) + ", steps " + size_text(needs.steps) +
                     ": lower --batch or --max-tokens, halve the cache with --kv-dtype f16, or "
                     "take a model of fewer bits");
  return checked;
}

std::size_t backend_bytes(const Model& model, const BackendOptions& options) {
  return needs_of(model, checked_options(model, options)).total();
}

std::size_t packed_weight_bytes(const Model& model) {
  std::size_t bytes = packed_bytes_of(head_of(model));
  for (const LayerWeights& layer : model.weights.layers) bytes += packed_bytes_of(layer);
  return bytes;
}

WeightBytes weight_bytes(const Model& model) {
  std::size_t layers = 0;
  for (const LayerWeights& layer : model.weights.layers)
    layers += packed_bytes_of(layer) + vector_bytes_of(layer);
  const std::size_t head =
      packed_bytes_of(head_of(model)) + model.weights.final_norm.size() * sizeof(float);
  return {static_cast<std::int64_t>(layers), static_cast<std::int64_t>(head)};
}

}  // namespace specbench::engine
