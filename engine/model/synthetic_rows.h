// Rows of random weights in any stored form: mean zero, a given standard deviation, each row from
// its own counters, so that rows may be made in any order and on any number of threads. Private to
// synthetic.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/model/weight_type.h"

namespace specbench::engine {

/// What a row's numbers depend on, beside its type and deviation.
struct RowKey {
  std::uint64_t seed = 0;
  std::uint32_t tensor = 0;  ///< which of the model's
  std::uint32_t row = 0;
};

/// n_cols values (whole blocks) to `out`, of row_bytes(type, n_cols) bytes. Plain floats are
/// uniform; blocks have uniform integers, and scales within a quarter of their mean. With a
/// deviation of 0 every value is 0.
void fill_row(WeightType type, double deviation, const RowKey& key, int n_cols, std::byte* out);

}  // namespace specbench::engine
