// Weights that backends share. A suite has several backends of one model at a time, and a model may
// fill half of the memory.
#pragma once

#include <memory>
#include <mutex>

namespace specbench::engine {

struct Model;
struct PackedWeights;  // engine/cpu/packed_weights.h

/// The weights of one model as the cpu backend reads them: packed when the first backend asks, and
/// read by all that ask for the same. Any thread may ask.
class WeightPool {
 public:
  /// The pool's, if they are those of the model: the same stored bytes, not equal ones. Otherwise
  /// they are packed, and kept if the pool is empty.
  std::shared_ptr<const PackedWeights> packed(const Model& model, int n_threads);
  /// Whether `packed` would cost no memory.
  bool holds(const Model& model) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const PackedWeights> packed_;
};

}  // namespace specbench::engine
