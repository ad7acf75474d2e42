#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "engine/cpu/kernels.h"

namespace specbench::engine {

AlignedFloats::AlignedFloats(std::size_t n) : size_(n) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t alignment = n * sizeof(float) >= kHugePage ? kHugePage : 64;
  storage_.reserve(n + alignment / sizeof(float));
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  const std::size_t skip = ((alignment - address % alignment) % alignment) / sizeof(float);
  // Advice only: where it is refused, ordinary pages serve. Given before the first touch, or it
  // comes too late.
  if (alignment == kHugePage)
    (void)madvise(reinterpret_cast<void*>(address + skip * sizeof(float)),
                  n * sizeof(float) / kHugePage * kHugePage, MADV_HUGEPAGE);
  storage_.resize(n + skip);
  data_ = storage_.data() + skip;
}

namespace {

// Writes row `from` of a matrix as output `to` of a packed one.
void pack_row(const Matrix& w, int from, PackedMatrix& packed, int to) {
  std::vector<float> row(static_cast<std::size_t>(w.n_cols));
  w.read_row(from, row.data());
  float* out = packed.data.data() +
               static_cast<std::ptrdiff_t>(to / kBlock) * packed.n_in * kBlock + to % kBlock;
  for (int i = 0; i < w.n_cols; ++i) out[static_cast<std::ptrdiff_t>(i) * kBlock] = row[static_cast<std::size_t>(i)];
}

PackedMatrix make_packed(int n_out, int n_in) {
  PackedMatrix packed{n_out, n_in, {}};
  packed.data = AlignedFloats(static_cast<std::size_t>(packed.n_blocks()) *
                              static_cast<std::size_t>(n_in) * kBlock);
  return packed;
}

}  // namespace

PackedMatrix pack_stacked(std::span<const Matrix* const> parts) {
  int n_out = 0;
  for (const Matrix* part : parts) n_out += part->n_rows;
  PackedMatrix packed = make_packed(n_out, parts.front()->n_cols);
  int to = 0;
  for (const Matrix* part : parts)
    for (int from = 0; from < part->n_rows; ++from) pack_row(*part, from, packed, to++);
  return packed;
}

PackedMatrix pack_gate_up(const Matrix& gate, const Matrix& up) {
  constexpr int kHalf = kBlock / 2;
  PackedMatrix packed = make_packed((gate.n_rows + kHalf - 1) / kHalf * kBlock, gate.n_cols);
  for (int from = 0; from < gate.n_rows; ++from) {
    const int to = from / kHalf * kBlock + from % kHalf;
    pack_row(gate, from, packed, to);
    pack_row(up, from, packed, to + kHalf);
  }
  return packed;
}

}  // namespace specbench::engine
