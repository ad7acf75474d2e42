// Another storage type for a model's weights, for test variants and for asking what a type costs or
// changes. The default is to run what is stored; nothing here is ever done unasked.
#pragma once

#include "engine/model/model.h"

namespace specbench::engine {

/// Rounds every matrix once from what it stands for to `type`: F32 (exact: dequantize gives
/// float32), F16 and BF16 (to nearest, ties to even) or Q8_0 (blocks of 32: scale max |x| / 127,
/// kept as float16; integers rounded half away from zero). Norms and biases stay float32. The new
/// weights lie in memory of their own; pages of the old ones are released. Name ("m" becomes
/// "m@f16"), hash and dtype say what was done; where every matrix has the type already, nothing
/// changes.
///
/// Throws InputError naming the matrix: a type without a rounding rule here, a value that
/// the type cannot hold, rows that are no whole number of blocks. Throws it before anything is
/// taken where the new weights need more than memory_limit_bytes (0: not known, not checked).
void convert(Model& model, WeightType type, std::size_t memory_limit_bytes = 0);

}  // namespace specbench::engine
