// The bookkeeping of a key/value cache: how many entries each layer of each lane holds, and whose
// they are. Length is the authority: what lies behind it does not exist. Holds no numbers of the
// model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace specbench::engine {

/// A lane is the cache of one sequence at a time. Within a lane, slot = absolute position.
class KvLengths {
 public:
  KvLengths(int n_lanes, int n_layers, int capacity);

  int n_lanes() const { return n_lanes_; }
  int n_layers() const { return n_layers_; }
  int capacity() const { return capacity_; }

  /// Entries of each layer of a lane; non-increasing with depth.
  std::span<const int> of(int lane) const;
  int at(int lane, int layer) const { return of(lane)[static_cast<std::size_t>(layer)]; }

  /// Empties the lane and hands it to a request.
  void reset(int lane, std::uint32_t owner);

  /// Records that `pos` enters a layer. Throws StateViolation unless pos is the layer's length, is
  /// below capacity, and the layer above already holds it.
  void append(int lane, int layer, int pos);

  /// Shortens every layer to at most `length` entries. Throws StateViolation if length is negative
  /// or longer than the first layer.
  void trim(int lane, int length);

  /// Throws StateViolation (naming round, request, lane, layer and both lengths) unless every layer
  /// holds exactly `expected` entries and the slots [first_slot, expected) carry this request's
  /// stamp and their own position.
  void check(int lane, std::uint32_t owner, int expected, int first_slot, int round) const;

 private:
  struct Stamp {
    std::uint32_t owner = 0xffffffffU;
    std::int32_t pos = -1;
  };
  std::string where(int lane, int layer) const;  ///< for messages
  std::size_t layer_index(int lane, int layer) const;
  Stamp& stamp(int lane, int layer, int pos);
  const Stamp& stamp(int lane, int layer, int pos) const;

  int n_lanes_, n_layers_, capacity_;
  std::vector<int> lengths_;           ///< [lane][layer]
  std::vector<std::uint32_t> owners_;  ///< [lane]
  std::vector<Stamp> stamps_;          ///< [lane][layer][slot]: who wrote it
};

}  // namespace specbench::engine
