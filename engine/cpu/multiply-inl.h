// Products of one tile of packed rows with one or two blocks of weights, decoded in registers: the
// loop that reads all the weights. Each sum starts at zero and takes its inputs in ascending order,
// each with one multiply-add, whatever the type, the rows or the blocks.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_
#undef SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_MULTIPLY_INL_H_
#endif

#include <algorithm>

#include "engine/cpu/decode-inl.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

constexpr bool is_quantised(WeightType type) {
  return type != WeightType::kF32 && type != WeightType::kF16 && type != WeightType::kBF16;
}

// Rows multiplied at once: their sums (two vectors each) must stay in the registers, with the
// scales and the words of quantised types.
template <WeightType T>
constexpr int rows_at_once() {
  if (is_quantised(T)) return kLanes == 16 ? 6 : 3;
  return kLanes == 16 ? 12 : kLanes == 8 ? 6 : 4;
}

// Bytes that weights are asked for ahead of their use where the rows are many: the hardware's own
// prefetching stops at every page, and then the products no longer hide that (5 rows of BF16: 1.31
// of the products' time without, 1.10 with). A lone row is the other way round: it reads as fast as
// the memory gives, and asking only disturbs (BF16: .72 of the read bandwidth with, 1.0 without).
constexpr std::ptrdiff_t kFetchAhead = 8192;
constexpr int kFetchRows = 3;

template <int kLines>
HWY_INLINE void fetch_lines(Bytes at) {
#pragma GCC unroll 8
  for (int line = 0; line < kLines; ++line) __builtin_prefetch(at + 64 * line, 0, 2);
}

template <int R, int N>
HWY_INLINE void clear(V (&sums)[R][N]) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < N; ++v) sums[r][v] = hn::Zero(F32());
}

// One input of R rows.
template <int R, int N>
HWY_INLINE void add_products(const V (&weights)[N], const float* HWY_RESTRICT x, V (&sums)[R][N]) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    const auto input = hn::Set(F32(), x[r]);
#pragma GCC unroll 8
    for (int v = 0; v < N; ++v) sums[r][v] = hn::MulAdd(weights[v], input, sums[r][v]);
  }
}

// Sums of B blocks, NV vectors from v on of each, to [block][out_rows][32].
template <int R, int B, int NV>
HWY_INLINE void store_sums(const V (&sums)[R][B * NV], int v, int out_rows,
                           float* HWY_RESTRICT out) {
#pragma GCC unroll 2
  for (int b = 0; b < B; ++b)
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int i = 0; i < NV; ++i)
        hn::Store(sums[r][b * NV + i], F32(), out + (b * out_rows + r) * kBlock + column(v + i));
}

// Blocks that are read side by side.
template <int B>
struct Streams {
  Bytes at[B];
  std::ptrdiff_t n_bytes;  ///< of each
};

template <WeightType T, int R, int B, int NV, bool kFetch>
HWY_INLINE void multiply_floats(const Streams<B>& w, int v, const float* HWY_RESTRICT x,
                                int x_stride, int out_rows, float* HWY_RESTRICT out) {
  constexpr std::ptrdiff_t kBytes = packed_shape(T).n_bytes;
  V sums[R][B * NV];
  clear(sums);
  for (std::ptrdiff_t offset = 0; offset < w.n_bytes; offset += kBytes, x += x_stride) {
    V weights[B * NV];
#pragma GCC unroll 2
    for (int b = 0; b < B; ++b) {
      if constexpr (kFetch) fetch_lines<kBytes / 64>(w.at[b] + offset + kFetchAhead);
      load_weights<T, NV>(w.at[b] + offset, v, weights + b * NV);
    }
    add_products(weights, x, sums);
  }
  store_sums<R, B, NV>(sums, v, out_rows, out);
}

// Input I of 8, and those behind it.
template <typename C, int I, int R, int N>
HWY_INLINE void add_octet(const Words (&words)[N], const Scales (&scales)[N],
                          const float* HWY_RESTRICT x, int x_stride, V (&sums)[R][N]) {
  V weights[N];
#pragma GCC unroll 8
  for (int v = 0; v < N; ++v) weights[v] = C::template weight<I>(words[v], scales[v]);
  add_products(weights, x, sums);
  if constexpr (I < 7) add_octet<C, I + 1>(words, scales, x + x_stride, x_stride, sums);
}

template <WeightType T, int R, int B, int NV, bool kFetch>
HWY_INLINE void multiply_quants(const Streams<B>& w, int v, const float* HWY_RESTRICT x,
                                int x_stride, int out_rows, float* HWY_RESTRICT out) {
  using C = Codec<T>;
  constexpr int kSets = C::kInputs / C::kSet;
  constexpr int kOctets = C::kSet / 8;
  constexpr int kLines = (C::kBytes / kSets + 63) / 64;  // of a set
  V sums[R][B * NV];
  clear(sums);
  for (std::ptrdiff_t offset = 0; offset < w.n_bytes; offset += C::kBytes) {
    for (int set = 0; set < kSets; ++set) {
      Scales scales[B * NV];
#pragma GCC unroll 2
      for (int b = 0; b < B; ++b)
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k)
          scales[b * NV + k] = C::scales(w.at[b] + offset, set, column(v + k));
      Bytes ahead = w.at[0] + offset + C::kBytes / kSets * set + kFetchAhead;
      if constexpr (kFetch) fetch_lines<kLines % kOctets>(ahead + kLines / kOctets * kOctets * 64);
      for (int octet = 0; octet < kOctets; ++octet, x += 8 * x_stride) {
        if constexpr (kFetch) fetch_lines<kLines / kOctets>(ahead + kLines / kOctets * octet * 64);
        Words words[B * NV];
#pragma GCC unroll 2
        for (int b = 0; b < B; ++b)
#pragma GCC unroll 8
          for (int k = 0; k < NV; ++k)
            words[b * NV + k] = C::load(w.at[b] + offset, set, octet, column(v + k));
        add_octet<C, 0>(words, scales, x, x_stride, sums);
      }
    }
  }
  store_sums<R, B, NV>(sums, v, out_rows, out);
}

// R rows with B blocks, as many vectors at once as the registers allow. kIsFirst: the blocks come
// from memory, not from the cache.
template <WeightType T, int R, int B, bool kIsFirst>
HWY_INLINE void multiply(const Streams<B>& w, const float* x, int x_stride, int out_rows,
                         float* out) {
  constexpr bool kFetch = kIsFirst && R >= kFetchRows;
  if constexpr (is_quantised(T)) {
    multiply_quants<T, R, B, 2, kFetch>(w, 0, x, x_stride, out_rows, out);
    for (int v = 2; v < kVectors; v += 2)  // these find the block in the cache
      multiply_quants<T, R, B, 2, false>(w, v, x, x_stride, out_rows, out);
  } else if constexpr (R <= 2 && kLanes >= 8) {  // few rows: all vectors, for independent chains
    multiply_floats<T, R, B, kVectors, kFetch>(w, 0, x, x_stride, out_rows, out);
  } else {
    multiply_floats<T, R, B, 2, kFetch>(w, 0, x, x_stride, out_rows, out);
    for (int v = 2; v < kVectors; v += 2)
      multiply_floats<T, R, B, 2, false>(w, v, x, x_stride, out_rows, out);
  }
}

// Finds the instance for n_rows, at most R.
template <WeightType T, int R, bool kIsFirst>
HWY_INLINE void multiply_at_most(int n_rows, const Streams<1>& w, const float* x, int x_stride,
                                 float* out) {
  if (n_rows == R) return multiply<T, R, 1, kIsFirst>(w, x, x_stride, R, out);
  if constexpr (R > 1) multiply_at_most<T, R - 1, kIsFirst>(n_rows, w, x, x_stride, out);
}

// Block b with one tile of rows; sums: [row][32].
template <WeightType T>
HWY_NOINLINE void multiply_block(const PackedMatrix& w, int b, const float* x, int n_rows,
                                 float* sums) {
  const Streams<1> stream{{reinterpret_cast<Bytes>(w.block(b))},
                          static_cast<std::ptrdiff_t>(w.block_bytes())};
  constexpr int kAtOnce = rows_at_once<T>();
  multiply_at_most<T, kAtOnce, true>(std::min(n_rows, kAtOnce), stream, x, n_rows, sums);
  for (int r = kAtOnce; r < n_rows; r += kAtOnce)
    multiply_at_most<T, kAtOnce, false>(std::min(n_rows - r, kAtOnce), stream, x + r, n_rows,
                                        sums + r * kBlock);
}

// One row with two blocks at once where registers allow: twice the chains of one block, which are
// too few to keep the multipliers busy. The blocks should lie far apart: two long streams are read
// faster than two that end and begin anew all the time (Q8_0 of 576 inputs: 26 against 17 GB/s).
// sums: [block][32].
template <WeightType T>
HWY_NOINLINE void multiply_two_blocks(const PackedMatrix& w, int first, int second, const float* x,
                                      float* sums) {
  const auto n_bytes = static_cast<std::ptrdiff_t>(w.block_bytes());
  Bytes const a = reinterpret_cast<Bytes>(w.block(first));
  Bytes const b = reinterpret_cast<Bytes>(w.block(second));
  if constexpr (kLanes == 16 || (kLanes == 8 && !is_quantised(T))) {
    multiply<T, 1, 2, true>(Streams<2>{{a, b}, n_bytes}, x, 1, 1, sums);
  } else {
    multiply<T, 1, 1, true>(Streams<1>{{a}, n_bytes}, x, 1, 1, sums);
    multiply<T, 1, 1, true>(Streams<1>{{b}, n_bytes}, x, 1, 1, sums + kBlock);
  }
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
