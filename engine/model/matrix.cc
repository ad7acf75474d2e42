#include "engine/model/matrix.h"

#include <utility>

#include "engine/model/mapped_file.h"

namespace specbench::engine {

Matrix make_matrix(int n_rows, int n_cols, std::vector<float> values) {
  Matrix matrix;
  matrix.n_rows = n_rows;
  matrix.n_cols = n_cols;
  const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  matrix.data = {owner, reinterpret_cast<const std::byte*>(owner->data())};
  return matrix;
}

std::vector<float> to_floats(const Matrix& matrix) {
  const auto n_cols = static_cast<std::size_t>(matrix.n_cols);
  std::vector<float> values(static_cast<std::size_t>(matrix.n_rows) * n_cols);
  for (int r = 0; r < matrix.n_rows; ++r)
    matrix.read_row(r, values.data() + static_cast<std::size_t>(r) * n_cols);
  return values;
}

void release_pages(const Matrix& matrix) {
  if (matrix.is_mapped) release_mapped({matrix.data.get(), matrix.n_bytes()});
}

}  // namespace specbench::engine
