// Products of all rows of a step with the blocks of one thread. One tile of rows takes its weights
// straight from the stream; for several, a chunk of the block is decoded once, into the first
// cache, and multiplied with each.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_MATMUL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_MATMUL_INL_H_
#undef SPECBENCH_ENGINE_CPU_MATMUL_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_MATMUL_INL_H_
#endif

#include <algorithm>

#include "engine/cpu/kernels.h"
#include "engine/cpu/multiply-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

struct Range {
  int begin, end;
};
Range share_of(int n, int thread, int n_threads) {
  return {static_cast<int>(static_cast<std::int64_t>(n) * thread / n_threads),
          static_cast<int>(static_cast<std::int64_t>(n) * (thread + 1) / n_threads)};
}

template <typename C, int I>
HWY_INLINE void store_octet(const Words& words, const Scales& scales, float* HWY_RESTRICT out) {
  hn::Store(C::template weight<I>(words, scales), F32(), out + I * kBlock);
  if constexpr (I < 7) store_octet<C, I + 1>(words, scales, out);
}

// Inputs [first, first + n) of a block as float32 [input][32]; n <= kChunkInputs, whole groups.
template <WeightType T>
HWY_NOINLINE void decode_chunk(Bytes block, int first, int n, float* HWY_RESTRICT out) {
  const F32 d;
  if constexpr (!is_quantised(T)) {
    constexpr int kBytes = packed_shape(T).n_bytes;
    Bytes at = block + static_cast<std::ptrdiff_t>(first) * kBytes;
    for (int i = 0; i < n; ++i, at += kBytes, out += kBlock) {
      fetch_lines<kBytes / 64>(at + kFetchAhead);
      V weights[kVectors];
      load_weights<T, kVectors>(at, 0, weights);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) hn::Store(weights[v], d, out + column(v));
    }
  } else {
    using C = Codec<T>;
    constexpr int kSets = C::kInputs / C::kSet;
    constexpr int kSetBytes = C::kBytes / kSets;
    for (int set = first / C::kSet; set < (first + n) / C::kSet; ++set, out += C::kSet * kBlock) {
      Bytes super = block + static_cast<std::ptrdiff_t>(set / kSets) * C::kBytes;
      fetch_lines<(kSetBytes + 63) / 64>(super + kFetchAhead + set % kSets * kSetBytes);
      for (int v = 0; v < kVectors; ++v) {
        const Scales scales = C::scales(super, set % kSets, column(v));
        for (int octet = 0; octet < C::kSet / 8; ++octet) {
          const Words words = C::load(super, set % kSets, octet, column(v));
          store_octet<C, 0>(words, scales, out + octet * 8 * kBlock + column(v));
        }
      }
    }
  }
}

// R rows with n inputs of float32 weights: sums [row][32] go on from `out`. Each input also asks
// for the same one of the next tile, which lies far behind.
template <int R>
HWY_INLINE void multiply_chunk(const float* HWY_RESTRICT weights, int n,
                               const float* HWY_RESTRICT x, int x_stride, const float* next_x,
                               float* HWY_RESTRICT out) {
  const F32 d;
  for (int v = 0; v < kVectors; v += 2) {
    V sums[R][2];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) sums[r][i] = hn::Load(d, out + r * kBlock + column(v + i));
    for (int i = 0; i < n; ++i) {
      const V w[2] = {hn::Load(d, weights + i * kBlock + column(v)),
                      hn::Load(d, weights + i * kBlock + column(v + 1))};
      __builtin_prefetch(next_x + static_cast<std::ptrdiff_t>(i) * x_stride, 0, 3);
      add_products(w, x + static_cast<std::ptrdiff_t>(i) * x_stride, sums);
    }
    store_sums<R, 1, 2>(sums, v, R, out);
  }
}

template <int R>
HWY_INLINE void multiply_chunk_at_most(int n_rows, const float* weights, int n, const float* x,
                                       int x_stride, const float* next_x, float* out) {
  if (n_rows == R) return multiply_chunk<R>(weights, n, x, x_stride, next_x, out);
  if constexpr (R > 1) multiply_chunk_at_most<R - 1>(n_rows, weights, n, x, x_stride, next_x, out);
}

HWY_NOINLINE void multiply_tile(const float* weights, int n, const float* x, int n_rows,
                                const float* next_x, float* out) {
  constexpr int kAtOnce = rows_at_once<WeightType::kF32>();
  for (int r = 0; r < n_rows; r += kAtOnce)
    multiply_chunk_at_most<kAtOnce>(std::min(n_rows - r, kAtOnce), weights, n, x + r, n_rows,
                                    next_x + r, out + r * kBlock);
}

// Block b with every row; sums [row][32]. chunk: room for kChunkInputs x 32.
template <WeightType T>
HWY_NOINLINE void multiply_many(const PackedMatrix& w, int b, const PackedRows& x, float* chunk,
                                float* sums) {
  const auto block = reinterpret_cast<Bytes>(w.block(b));
  std::fill_n(sums, static_cast<std::ptrdiff_t>(x.n_rows) * kBlock, 0.0F);
  for (int first = 0; first < w.n_in; first += kChunkInputs) {
    const int n = std::min(kChunkInputs, w.n_in - first);
    const float* weights = chunk;
    if constexpr (T == WeightType::kF32)
      weights = reinterpret_cast<const float*>(block) + static_cast<std::ptrdiff_t>(first) * kBlock;
    else
      decode_chunk<T>(block, first, n, chunk);
    for (int t = 0; t < x.n_tiles(); ++t) {
      const int n_rows = x.tile_rows(t);
      const float* const tile = x.tile(t) + static_cast<std::ptrdiff_t>(first) * n_rows;
      const int next = t + 1 < x.n_tiles() ? t + 1 : t;
      multiply_tile(weights, n, tile, n_rows,
                    x.tile(next) + static_cast<std::ptrdiff_t>(first) * x.tile_rows(next),
                    sums + static_cast<std::ptrdiff_t>(t) * kTile * kBlock);
    }
  }
}

// Calls use<T>() for the type.
template <typename Use>
HWY_INLINE void for_type(WeightType type, const Use& use) {
  switch (type) {
    case WeightType::kF32:
      return use.template operator()<WeightType::kF32>();
    case WeightType::kF16:
      return use.template operator()<WeightType::kF16>();
    case WeightType::kBF16:
      return use.template operator()<WeightType::kBF16>();
    case WeightType::kQ8_0:
      return use.template operator()<WeightType::kQ8_0>();
    case WeightType::kQ4_0:
      return use.template operator()<WeightType::kQ4_0>();
    case WeightType::kQ4_1:
      return use.template operator()<WeightType::kQ4_1>();
    case WeightType::kQ5_0:
      return use.template operator()<WeightType::kQ5_0>();
    case WeightType::kQ5_1:
      return use.template operator()<WeightType::kQ5_1>();
    case WeightType::kQ4_K:
      return use.template operator()<WeightType::kQ4_K>();
    case WeightType::kQ5_K:
      return use.template operator()<WeightType::kQ5_K>();
    case WeightType::kQ6_K:
      return use.template operator()<WeightType::kQ6_K>();
  }
}

// All rows with the blocks of one thread; finish(row, block, 32 sums) takes them from there.
template <typename Finish>
void matmul(const PackedMatrix& w, const PackedRows& x, Range blocks, const ThreadRoom& room,
            const Finish& finish) {
  int b = blocks.begin;
  if (x.n_rows == 1) {
    const int half = (blocks.end - blocks.begin) / 2;
    for (; b < blocks.begin + half; ++b) {
      for_type(w.type,
               [&]<WeightType T>() { multiply_two_blocks<T>(w, b, b + half, x.data, room.sums); });
      finish(0, b, room.sums);
      finish(0, b + half, room.sums + kBlock);
    }
    b += half;
  }
  for (; b < blocks.end; ++b) {
    for_type(w.type, [&]<WeightType T>() {
      if (x.n_tiles() == 1)
        multiply_block<T>(w, b, x.data, x.n_rows, room.sums);
      else
        multiply_many<T>(w, b, x, room.chunk, room.sums);
    });
    for (int row = 0; row < x.n_rows; ++row)
      finish(row, b, room.sums + static_cast<std::ptrdiff_t>(row) * kBlock);
  }
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
