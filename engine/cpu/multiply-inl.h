// Products of packed rows with one block of weights: the loop that reads all the weights.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_
#undef SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_
#endif

#include <algorithm>

#include "engine/cpu/kernels.h"
#include "engine/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

// Rows multiplied at once: their sums (two vectors each) must stay in the registers.
constexpr int kRowsAtOnce = kLanes == 16 ? 12 : kLanes == 8 ? 6 : 4;

// Products of R rows with NV vectors of outputs. Each sum starts at zero and takes its inputs in
// ascending order.
// With kFetch the weights kFetchAhead floats on are asked for: the hardware's own prefetching stops
// at every page, and with three rows and more the products no longer hide that (5 rows: 1.35 of one
// row's time without, 1.12 with).
constexpr int kFetchAhead = 2048;

template <int R, int NV, bool kFetch>
HWY_INLINE void multiply(const float* HWY_RESTRICT w, int w_stride, int n_in,
                         const float* HWY_RESTRICT x, int x_stride, float* HWY_RESTRICT out) {
  const F32 d;
  hn::Vec<F32> sums[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sums[r][v] = hn::Zero(d);
  for (int i = 0; i < n_in; ++i) {
    hn::Vec<F32> weights[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      weights[v] = hn::Load(d, w + v * kLanes);
      if constexpr (kFetch) __builtin_prefetch(w + kFetchAhead + v * kLanes, 0, 2);
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const auto input = hn::Set(d, x[r]);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sums[r][v] = hn::MulAdd(weights[v], input, sums[r][v]);
    }
    w += w_stride;
    x += x_stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) hn::Store(sums[r][v], d, out + r * kBlock + v * kLanes);
}

// One row with two neighbouring blocks: twice the chains and the streams of one block, which one
// row alone is too little work to keep busy (share of the read bandwidth .75 -> .93 on one thread).
HWY_INLINE void multiply_two_blocks(const float* HWY_RESTRICT w, int n_in,
                                    const float* HWY_RESTRICT x, float* HWY_RESTRICT out) {
  const F32 d;
  constexpr int kVectors = kBlock / kLanes;
  const float* HWY_RESTRICT blocks[2] = {w, w + static_cast<std::ptrdiff_t>(n_in) * kBlock};
  hn::Vec<F32> sums[2][kVectors];
#pragma GCC unroll 2
  for (int b = 0; b < 2; ++b)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[b][v] = hn::Zero(d);
  for (int i = 0; i < n_in; ++i) {
    const auto input = hn::Set(d, x[i]);
#pragma GCC unroll 2
    for (int b = 0; b < 2; ++b) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const float* weights = blocks[b] + v * kLanes;
        sums[b][v] = hn::MulAdd(hn::Load(d, weights), input, sums[b][v]);
        __builtin_prefetch(weights + kFetchAhead, 0, 2);
      }
      blocks[b] += kBlock;
    }
  }
#pragma GCC unroll 2
  for (int b = 0; b < 2; ++b)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[b][v], d, out + b * kBlock + v * kLanes);
}

// R rows (R <= kRowsAtOnce) with one block of 32 outputs.
template <int R, bool kFetch>
HWY_INLINE void multiply_block(const float* w, int n_in, const float* x, int x_stride, float* out) {
  if constexpr (R <= 2) {  // few rows: all vectors of the block at once, for independent chains
    multiply<R, kBlock / kLanes, false>(w, kBlock, n_in, x, x_stride, out);
  } else {
    for (int column = 0; column < kBlock; column += 2 * kLanes)
      multiply<R, 2, kFetch>(w + column, kBlock, n_in, x, x_stride, out + column);
  }
}

// Finds the instance for n_rows, at most R.
template <int R, bool kFetch>
HWY_INLINE void multiply_at_most(int n_rows, const float* w, int n_in, const float* x, int x_stride,
                                 float* out) {
  if (n_rows == R) return multiply_block<R, kFetch>(w, n_in, x, x_stride, out);
  if constexpr (R > 1) multiply_at_most<R - 1, kFetch>(n_rows, w, n_in, x, x_stride, out);
}

template <bool kFetch>
void multiply_rows(int n_rows, const float* w, int n_in, const float* x, int x_stride, float* out) {
  while (n_rows > 0) {
    const int r = std::min(n_rows, kRowsAtOnce);
    multiply_at_most<kRowsAtOnce, kFetch>(r, w, n_in, x, x_stride, out);
    n_rows -= r;
    x += r;
    out += r * kBlock;
  }
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
