// Finds the first weight that is NaN or infinite, at the speed of memory: by the bits of exponents,
// without computing a value.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "engine/model/weight_type.h"

namespace specbench::engine {

struct BadValue {
  std::size_t index = 0;  ///< of the value; in block types of the first one of its block
  bool is_nan = false;    ///< else infinite
};

/// Block types are judged by their scales and minima, which alone can be not finite. `bytes` must
/// be a whole number of blocks.
std::optional<BadValue> first_not_finite(WeightType type, std::span<const std::byte> bytes);

}  // namespace specbench::engine
