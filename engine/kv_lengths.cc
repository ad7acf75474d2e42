#include "engine/kv_lengths.h"

#include <algorithm>

#include "engine/error.h"

namespace specbench::engine {

KvLengths::KvLengths(int n_lanes, int n_layers, int capacity)
    : n_lanes_(n_lanes),
      n_layers_(n_layers),
      capacity_(capacity),
      lengths_(static_cast<std::size_t>(n_lanes) * static_cast<std::size_t>(n_layers)),
      owners_(static_cast<std::size_t>(n_lanes)),
      stamps_(lengths_.size() * static_cast<std::size_t>(capacity)) {}

std::string KvLengths::where(int lane, int layer) const {
  return "request " + std::to_string(owners_[static_cast<std::size_t>(lane)]) + ", lane " +
         std::to_string(lane) + ", layer " + std::to_string(layer);
}

std::size_t KvLengths::layer_index(int lane, int layer) const {
  return static_cast<std::size_t>(lane) * static_cast<std::size_t>(n_layers_) +
         static_cast<std::size_t>(layer);
}
KvLengths::Stamp& KvLengths::stamp(int lane, int layer, int pos) {
  return stamps_[layer_index(lane, layer) * static_cast<std::size_t>(capacity_) +
                 static_cast<std::size_t>(pos)];
}
const KvLengths::Stamp& KvLengths::stamp(int lane, int layer, int pos) const {
  return stamps_[layer_index(lane, layer) * static_cast<std::size_t>(capacity_) +
                 static_cast<std::size_t>(pos)];
}

std::span<const int> KvLengths::of(int lane) const {
  return {lengths_.data() + layer_index(lane, 0), static_cast<std::size_t>(n_layers_)};
}

void KvLengths::reset(int lane, std::uint32_t owner) {
  owners_[static_cast<std::size_t>(lane)] = owner;
  for (int layer = 0; layer < n_layers_; ++layer) lengths_[layer_index(lane, layer)] = 0;
}

void KvLengths::append(int lane, int layer, int pos) {
  int& length = lengths_[layer_index(lane, layer)];
  if (pos != length)
    throw StateViolation("KV cache of " + where(lane, layer) + ": position " + std::to_string(pos) +
                         " was written where the cache holds " + std::to_string(length) +
                         " entries; positions must be consecutive.");
  if (pos >= capacity_)
    throw StateViolation("KV cache of " + where(lane, layer) + ": position " + std::to_string(pos) +
                         " is beyond the capacity of " + std::to_string(capacity_) + " entries.");
  if (layer > 0 && lengths_[layer_index(lane, layer - 1)] <= pos)
    throw StateViolation("KV cache of " + where(lane, layer) + ": position " + std::to_string(pos) +
                         " entered before it had passed the layer above, which holds " +
                         std::to_string(lengths_[layer_index(lane, layer - 1)]) + " entries.");
  stamp(lane, layer, pos) = {owners_[static_cast<std::size_t>(lane)], pos};
  length = pos + 1;
}

void KvLengths::trim(int lane, int length) {
  if (length < 0 || length > at(lane, 0))
    throw StateViolation("KV cache of " + where(lane, 0) + ": trimmed to " +
                         std::to_string(length) + " entries, but it holds " +
                         std::to_string(at(lane, 0)) + ".");
  for (int layer = 0; layer < n_layers_; ++layer) {
    int& held = lengths_[layer_index(lane, layer)];
    held = std::min(held, length);
  }
}

void KvLengths::check(int lane, std::uint32_t owner, int expected, int first_slot,
                      int round) const {
  const auto in_round = [&](int layer) {
    return "KV cache after " +
           (round < 0 ? std::string("the prefill") : "round " + std::to_string(round)) +
           " of request " + std::to_string(owner) + ", lane " + std::to_string(lane) + ", layer " +
           std::to_string(layer);
  };
  for (int layer = 0; layer < n_layers_; ++layer) {
    if (at(lane, layer) != expected)
      throw StateViolation(in_round(layer) + ": the cache holds " +
                           std::to_string(at(lane, layer)) +
                           " entries, the committed tokens need " + std::to_string(expected) + ".");
    for (int pos = first_slot; pos < expected; ++pos) {
      const Stamp& s = stamp(lane, layer, pos);
      if (s.owner != owner || s.pos != pos)
        throw StateViolation(in_round(layer) + ": slot " + std::to_string(pos) +
                             " was written by request " + std::to_string(s.owner) +
                             " for position " + std::to_string(s.pos) + ".");
    }
  }
}

}  // namespace specbench::engine
