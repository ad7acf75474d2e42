// How much memory the cpu backend takes, said before it takes it. The backend makes its buffers of
// these sizes, so that both stay one.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/backend.h"

namespace specbench::engine {

/// Query, key and value in runs of equal type: each is packed as one stack.
std::vector<std::vector<const Matrix*>> query_key_value_stacks(const LayerWeights& layer);

/// Bytes of all packed matrices.
std::size_t packed_weight_bytes(const Model& model);

/// Floats of the buffers that a step passes through.
struct StepFloats {
  std::size_t packed = 0;           ///< rows x max(width, heads x head_dim)
  std::size_t query_key_value = 0;  ///< rows x stride
  int query_key_value_stride = 0;
  std::size_t gated = 0;  ///< rows x ffn_width
  std::size_t split = 0;  ///< results of spans that threads share out, [query][span][head_dim + 2]
  std::size_t thread_scratch = 0;  ///< of all threads
};
/// options: checked.
StepFloats step_floats(const Model& model, const BackendOptions& options);

/// The options, checked. Throws InputError also where the backend would need more memory than
/// there is.
BackendOptions fitting_options(const Model& model, const BackendOptions& options);

}  // namespace specbench::engine
