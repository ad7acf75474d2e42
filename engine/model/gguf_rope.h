// The keys <architecture>.rope.* and the tensor rope_freqs.weight of a GGUF file.
#pragma once

#include <string>

#include "engine/model/gguf.h"
#include "engine/model/model.h"

namespace specbench::engine {

/// Fills in rope_theta, rope_frequencies and rope_magnitude; needs head_dim and max_positions.
/// `prefix`: the architecture and a dot. Throws InputError.
void read_gguf_rope(const GgufFile& file, const std::string& prefix, ModelConfig& config);

}  // namespace specbench::engine
