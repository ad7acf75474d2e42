#include "engine/model/matrix.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

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
  if (!matrix.is_mapped || matrix.empty()) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Whole pages inside: those at the ends hold other tensors too.
  const auto first = reinterpret_cast<std::uintptr_t>(matrix.data.get());
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + matrix.n_bytes()) / page * page;
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace specbench::engine
