#include "engine/cpu/packed_weights.h"

#include <algorithm>
#include <iterator>

#include "engine/cpu/memory.h"

namespace specbench::engine {

namespace {

PackedMatrix pack(const std::vector<const Matrix*>& stack, int n_threads) {
  PackedMatrix packed = pack_stacked(stack, n_threads);
  for (const Matrix* part : stack) release_pages(*part);
  return packed;
}

PackedLayer pack(const LayerWeights& weights, int n_threads) {
  PackedLayer layer;
  layer.weights = &weights;
  int first = 0;
  for (const auto& stack : query_key_value_stacks(weights)) {
    layer.query_key_value.push_back({pack(stack, n_threads), first});
    first += layer.query_key_value.back().matrix.n_out;
  }
  layer.attention_out = pack({&weights.attention_out}, n_threads);
  layer.gate_up = pack_gate_up(weights.gate, weights.up, n_threads);
  release_pages(weights.gate);
  release_pages(weights.up);
  layer.down = pack({&weights.down}, n_threads);
  return layer;
}

bool are_same(const LayerWeights& a, const LayerWeights& b) {
  constexpr Matrix LayerWeights::*kMatrices[] = {
      &LayerWeights::query, &LayerWeights::key, &LayerWeights::value, &LayerWeights::attention_out,
      &LayerWeights::gate,  &LayerWeights::up,  &LayerWeights::down};
  constexpr std::vector<float> LayerWeights::*kVectors[] = {
      &LayerWeights::attention_norm, &LayerWeights::ffn_norm,   &LayerWeights::query_bias,
      &LayerWeights::key_bias,       &LayerWeights::value_bias, &LayerWeights::query_norm,
      &LayerWeights::key_norm};
  return std::all_of(std::begin(kMatrices), std::end(kMatrices),
                     [&](const auto m) { return (a.*m).data == (b.*m).data; }) &&
         std::all_of(std::begin(kVectors), std::end(kVectors),
                     [&](const auto v) { return a.*v == b.*v; });
}

}  // namespace

PackedWeights::PackedWeights(const Model& model, int n_threads) {
  for (const LayerWeights& weights : model.weights.layers)
    layers.push_back(pack(weights, n_threads));
  head = pack({model.config.tied_head ? &model.weights.embedding : &model.weights.head}, n_threads);
}

std::shared_ptr<const PackedWeights> WeightPool::packed(int n_threads) {
  const std::lock_guard lock(mutex_);
  if (!packed_) packed_ = std::make_shared<const PackedWeights>(model_, n_threads);
  return packed_;
}

// The bytes, not the objects: a copy of a model that changed its ends alone is the same to a
// kernel.
bool WeightPool::is_of(const Model& model) const {
  const Weights &a = model_.weights, &b = model.weights;
  return a.embedding.data == b.embedding.data && a.head.data == b.head.data &&
         a.final_norm == b.final_norm &&
         std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(), are_same);
}

}  // namespace specbench::engine
