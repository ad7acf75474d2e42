// specbench info: what a model is and what this machine can do.
#pragma once

#include <cstdint>

#include "engine/model/model.h"
#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// Bytes of a model as it runs: float32 weights and cache.
struct ModelSizes {
  std::int64_t n_parameters = 0;    ///< a tied head counts once
  std::int64_t layer_bytes = 0;     ///< weights of one layer
  std::int64_t head_bytes = 0;      ///< final norm and head
  std::int64_t kv_entry_bytes = 0;  ///< key and value of one token in one layer
  std::int64_t step_bytes = 0;      ///< weights that one step of the whole model reads
};
ModelSizes model_sizes(const engine::Model& model);

void run_info(const Context& context, results::Record& record);

}  // namespace specbench::suites
