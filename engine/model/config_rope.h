// rope_theta, rope_scaling and rope_parameters of a config.json. A scaling that this engine does
// not compute is refused by name.
#pragma once

#include "engine/model/json.h"
#include "engine/model/model.h"

namespace specbench::engine {

/// Sets theta, frequencies and magnitude. config.head_dim must be known; `max_positions` is the
/// file's max_position_embeddings, which stands for the length of training where none is given.
/// Throws InputError.
void read_rope(const JsonView& top, int max_positions, ModelConfig& config);

}  // namespace specbench::engine
