// A model's weights as the kernels stream them. Packed once, read by any number of backends.
#pragma once

#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/weight_pool.h"

namespace specbench::engine {

/// Layers point into `stored`, so there is no copy of one.
struct PackedWeights {
  /// Gives mapped pages back to the system as they have been packed.
  PackedWeights(const Model& model, int n_threads);
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  bool are_of(const Model& model) const;

  const Weights stored;  ///< what was packed; its matrices share the model's bytes
  const bool tied_head;
  std::vector<PackedLayer> layers;
  PackedMatrix head;

 private:
  PackedRoom room_;
};

}  // namespace specbench::engine
