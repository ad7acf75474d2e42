#include "engine/cpu/packed_weights.h"

#include <algorithm>
#include <iterator>

#include "engine/cpu/memory.h"

namespace specbench::engine {

namespace {

PackedMatrix pack(const std::vector<const Matrix*>& stack, int n_threads, PackedRoom& room) {
  const PackedMatrix packed = pack_stacked(stack, n_threads, room);
  for (const Matrix* part : stack) release_pages(*part);
  return packed;
}

PackedLayer pack(const LayerWeights& weights, int n_threads, PackedRoom& room) {
  PackedLayer layer;
  layer.weights = &weights;
  int first = 0;
  for (const auto& stack : query_key_value_stacks(weights)) {
    layer.query_key_value.push_back({pack(stack, n_threads, room), first});
    first += layer.query_key_value.back().matrix.n_out;
  }
  layer.attention_out = pack({&weights.attention_out}, n_threads, room);
  layer.gate_up = pack_gate_up(weights.gate, weights.up, n_threads, room);
  release_pages(weights.gate);
  release_pages(weights.up);
  layer.down = pack({&weights.down}, n_threads, room);
  return layer;
}

bool is_same(const Matrix& a, const Matrix& b) {
  return a.data == b.data && a.row_order == b.row_order && a.type == b.type &&
         a.n_rows == b.n_rows && a.n_cols == b.n_cols;
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
                     [&](const auto m) { return is_same(a.*m, b.*m); }) &&
         std::all_of(std::begin(kVectors), std::end(kVectors),
                     [&](const auto v) { return a.*v == b.*v; });
}

}  // namespace

PackedWeights::PackedWeights(const Model& model, int n_threads)
    : stored(model.weights), tied_head(model.config.tied_head), room_(packed_weight_bytes(model)) {
  // The largest first: while one is packed it lies in memory twice.
  head = pack({tied_head ? &stored.embedding : &stored.head}, n_threads, room_);
  for (const LayerWeights& weights : stored.layers)
    layers.push_back(pack(weights, n_threads, room_));
}

// A copy of a model that changed its ends alone is the same to a kernel.
bool PackedWeights::are_of(const Model& model) const {
  const Weights &a = stored, &b = model.weights;
  return tied_head == model.config.tied_head && is_same(a.embedding, b.embedding) &&
         is_same(a.head, b.head) && a.final_norm == b.final_norm &&
         std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(), are_same);
}

std::shared_ptr<const PackedWeights> WeightPool::packed(const Model& model, int n_threads) {
  const std::lock_guard lock(mutex_);
  if (packed_ && packed_->are_of(model)) return packed_;
  auto own = std::make_shared<const PackedWeights>(model, n_threads);
  if (!packed_) packed_ = own;
  return own;
}

bool WeightPool::holds(const Model& model) const {
  const std::lock_guard lock(mutex_);
  return packed_ && packed_->are_of(model);
}

}  // namespace specbench::engine
