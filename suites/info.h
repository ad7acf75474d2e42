// specbench info: what a model is and what this machine can do.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/model/model.h"
#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// Bytes of a model as the cpu backend runs it.
struct ModelSizes {
  std::int64_t n_parameters = 0;    ///< a tied head counts once
  std::int64_t layer_bytes = 0;     ///< weights of one layer, the mean where types differ
  std::int64_t head_bytes = 0;      ///< final norm and head
  std::int64_t kv_entry_bytes = 0;  ///< key and value of one token in one layer
  std::int64_t step_bytes = 0;      ///< weights that one step of the whole model reads
};
/// kv_dtype as --kv-dtype spells it.
ModelSizes model_sizes(const engine::Model& model, std::string_view kv_dtype);

/// Weights as they are stored (a tied head counts once), norms and biases as float32. Bytes.
std::int64_t stored_bytes(const engine::Model& model);

void run_info(const Context& context, results::Record& record);

}  // namespace specbench::suites
