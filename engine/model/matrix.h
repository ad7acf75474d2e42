// A weight matrix as it is stored: a view of a mapped file or of memory of its own. Copies share
// the bytes. Never changes a weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/model/weight_type.h"

namespace specbench::engine {

/// Row-major n_rows x n_cols: row = output, column = input.
struct Matrix {
  int n_rows = 0;
  int n_cols = 0;
  WeightType type = WeightType::kF32;
  std::shared_ptr<const std::byte> data;  ///< n_rows * row_bytes(); keeps its file or memory alive
  /// Row r lies at place (*row_order)[r]; null: at place r.
  std::shared_ptr<const std::vector<std::int32_t>> row_order;
  bool is_mapped = false;  ///< the bytes are pages of a file, which the system can fetch again

  bool empty() const { return data == nullptr; }
  std::size_t row_bytes() const { return engine::row_bytes(type, n_cols); }
  std::size_t n_bytes() const { return static_cast<std::size_t>(n_rows) * row_bytes(); }
  const std::byte* row(int r) const {
    const auto place =
        static_cast<std::size_t>(row_order ? (*row_order)[static_cast<std::size_t>(r)] : r);
    return data.get() + place * row_bytes();
  }
  /// The n_cols values of a row.
  void read_row(int r, float* out) const {
    dequantize(type, row(r), static_cast<std::size_t>(n_cols), out);
  }
};

/// Of float32, with memory of its own. values.size() must be n_rows * n_cols.
Matrix make_matrix(int n_rows, int n_cols, std::vector<float> values);

/// Every value, row-major.
std::vector<float> to_floats(const Matrix& matrix);

/// The bytes are no longer needed in memory: where they are pages of a file, the system may take
/// them back. They stay readable.
void release_pages(const Matrix& matrix);

}  // namespace specbench::engine
