// A matrix with memory of its own, filled by rows on every core.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>

#include "engine/model/matrix.h"
#include "engine/parallel.h"

namespace specbench::engine {

/// Fills rows [first, last), the first of which begins at `out`. What a row holds must not depend
/// on the others: they are made in any order.
using FillRows = std::function<void(int first, int last, std::byte* out)>;

/// Rethrows what `fill` throws. n_cols a whole number of blocks.
inline Matrix filled_matrix(int n_rows, int n_cols, WeightType type, const FillRows& fill) {
  constexpr int kPartsPerThread = 8;
  constexpr std::size_t kSmall = 1 << 20;  // bytes; threads would take longer to start
  Matrix matrix;
  matrix.n_rows = n_rows;
  matrix.n_cols = n_cols;
  matrix.type = type;
  // Not zeroed first: gigabytes would be written twice.
  const auto bytes = std::make_shared_for_overwrite<std::byte[]>(matrix.n_bytes());
  matrix.data = {bytes, bytes.get()};
  const int n_threads = matrix.n_bytes() < kSmall
                            ? 1
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int n_parts = std::min(n_rows, kPartsPerThread * n_threads);
  const auto begin_of = [&](int part) {
    return static_cast<int>(static_cast<std::int64_t>(n_rows) * part / n_parts);
  };
  parallel_for(n_parts, n_threads, [&](int part) {
    const int first = begin_of(part);
    fill(first, begin_of(part + 1),
         bytes.get() + static_cast<std::size_t>(first) * matrix.row_bytes());
  });
  return matrix;
}

}  // namespace specbench::engine
