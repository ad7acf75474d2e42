// A model's weights as the kernels stream them. Packed once, read by any number of backends.
#pragma once

#include <vector>

#include "engine/cpu/kernels.h"

namespace specbench::engine {

struct PackedWeights {
  /// Gives mapped pages back to the system as they have been packed. The model must outlive it.
  PackedWeights(const Model& model, int n_threads);

  std::vector<PackedLayer> layers;
  PackedMatrix head;
};

}  // namespace specbench::engine
