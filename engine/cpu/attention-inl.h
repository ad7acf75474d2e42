// Attention of several queries over one span of the cached keys and values of their sequence: each
// is read once for all of them. What a query gets does not depend on the others.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_
#undef SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/kernels.h"
#include "engine/cpu/kv_store.h"
#include "engine/cpu/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

constexpr int kKeyBlock = KvStore::kBlock;
constexpr int kKeyVectors = kKeyBlock / kLanes;

// Sums that the registers hold beside what they are made of, and queries taken together.
constexpr int kAttentionSums = kLanes == 16 ? 24 : 12;
constexpr int kQueriesAtOnce = kLanes == 16 ? 12 : kLanes == 8 ? 6 : 3;
static_assert(kQueriesAtOnce <= kTile, "scratch_sizes() counts scores of kTile queries");

HWY_INLINE V load_cached(const float* at) { return hn::LoadU(F32(), at); }
HWY_INLINE V load_cached(const std::uint16_t* at) { return load_halves(at); }

// q k / sqrt(head_dim) of Q queries for the slots of B neighbouring key blocks. queries: [dim][Q];
// scores: [query][kSpan].
template <int Q, int B, typename T>
HWY_INLINE void score_blocks(const float* HWY_RESTRICT queries, const T* HWY_RESTRICT keys, int dim,
                             float scale, float* HWY_RESTRICT scores) {
  const F32 d;
  constexpr int kN = B * kKeyVectors;
  V sums[Q][kN];
#pragma GCC unroll 16
  for (int q = 0; q < Q; ++q)
#pragma GCC unroll 8
    for (int k = 0; k < kN; ++k) sums[q][k] = hn::Zero(d);
  for (int i = 0; i < dim; ++i, queries += Q) {
    V key[kN];
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b) {
      const T* const at = keys + static_cast<std::ptrdiff_t>(b * dim + i) * kKeyBlock;
      __builtin_prefetch(at + static_cast<std::ptrdiff_t>(B * dim) * kKeyBlock, 0, 2);
#pragma GCC unroll 4
      for (int v = 0; v < kKeyVectors; ++v) key[b * kKeyVectors + v] = load_cached(at + v * kLanes);
    }
#pragma GCC unroll 16
    for (int q = 0; q < Q; ++q) {
      const auto query = hn::Set(d, queries[q]);
#pragma GCC unroll 8
      for (int k = 0; k < kN; ++k) sums[q][k] = hn::MulAdd(key[k], query, sums[q][k]);
    }
  }
#pragma GCC unroll 16
  for (int q = 0; q < Q; ++q)
#pragma GCC unroll 8
    for (int k = 0; k < kN; ++k)
      hn::StoreU(hn::Mul(sums[q][k], hn::Set(d, scale)), d, scores + q * kSpan + k * kLanes);
}

template <int Q, typename T>
HWY_INLINE void score_all(const float* queries, const T* keys, int n_blocks, int dim, float scale,
                          float* scores) {
  constexpr int kFit = kAttentionSums / (Q * kKeyVectors);
  constexpr int kBlocks = kFit >= 4 ? 4 : kFit >= 2 ? 2 : 1;
  const std::ptrdiff_t block_size = static_cast<std::ptrdiff_t>(dim) * kKeyBlock;
  int b = 0;
  for (; b + kBlocks <= n_blocks; b += kBlocks)
    score_blocks<Q, kBlocks>(queries, keys + b * block_size, dim, scale, scores + b * kKeyBlock);
  for (; b < n_blocks; ++b)
    score_blocks<Q, 1>(queries, keys + b * block_size, dim, scale, scores + b * kKeyBlock);
}

// Largest of a row of scores, and the sum of e^(score - largest), which take the scores' place.
struct Weighed {
  float largest = 0.0F;
  float total = 0.0F;
};

// n real slots; there is room up to a multiple of 16.
Weighed weigh_scores(float* scores, int n) {
  const F32 d;
  const int n_padded = (n + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
  for (int i = n; i < n_padded; ++i) scores[i] = -std::numeric_limits<float>::infinity();
  auto largest = hn::LoadU(d, scores);
  for (int i = kLanes; i < n_padded; i += kLanes)
    largest = hn::Max(largest, hn::LoadU(d, scores + i));
  const auto shift = hn::MaxOfLanes(d, largest);
  auto total = hn::Zero(d);
  for (int i = 0; i < n_padded; i += kLanes) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + i), shift));
    hn::StoreU(e, d, scores + i);
    total = hn::Add(total, e);
  }
  return {hn::GetLane(shift), hn::GetLane(hn::SumOfLanes(d, total))};
}

// NV vectors of head_dim for Q queries: sums over slots of weight x value, ascending, on top of
// those in out [query][dim].
template <int Q, int NV, typename T>
HWY_INLINE void mix_values(const float* HWY_RESTRICT weights, const T* HWY_RESTRICT values, int n,
                           int dim, float* HWY_RESTRICT out) {
  const F32 d;
  V sums[Q][NV];
#pragma GCC unroll 16
  for (int q = 0; q < Q; ++q)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sums[q][v] = hn::LoadU(d, out + q * dim + v * kLanes);
  for (int j = 0; j < n; ++j, values += dim) {
    V value[NV];
    __builtin_prefetch(values + 16 * dim, 0, 2);
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) value[v] = load_cached(values + v * kLanes);
#pragma GCC unroll 16
    for (int q = 0; q < Q; ++q) {
      const auto weight = hn::Set(d, weights[q * kSpan + j]);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sums[q][v] = hn::MulAdd(value[v], weight, sums[q][v]);
    }
  }
#pragma GCC unroll 16
  for (int q = 0; q < Q; ++q)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) hn::StoreU(sums[q][v], d, out + q * dim + v * kLanes);
}

HWY_INLINE float widen(float x) { return x; }
HWY_INLINE float widen(std::uint16_t bits) { return f16_to_float(bits); }

// All of head_dim for the n slots from values on.
template <int Q, typename T>
HWY_INLINE void mix_all(const float* weights, const T* values, int n, int dim, float* out) {
  constexpr int kFit = kAttentionSums / Q;
  constexpr int kNV = kFit >= 4 ? 4 : kFit >= 2 ? 2 : 1;
  int i = 0;
  for (; i + kNV * kLanes <= dim; i += kNV * kLanes)
    mix_values<Q, kNV>(weights, values + i, n, dim, out + i);
  for (; i + kLanes <= dim; i += kLanes) mix_values<Q, 1>(weights, values + i, n, dim, out + i);
  for (; i < dim; ++i) {
    for (int q = 0; q < Q; ++q) {
      float sum = out[q * dim + i];
      for (int j = 0; j < n; ++j)
        sum += weights[q * kSpan + j] * widen(values[static_cast<std::ptrdiff_t>(j) * dim + i]);
      out[q * dim + i] = sum;
    }
  }
}

// Queries [0, n) of equal stride, kQueriesAtOnce at most: use<Q>() for Q = n.
template <int Q, typename Use>
HWY_INLINE void for_queries(int n, const Use& use) {
  if (n == Q) return use.template operator()<Q>();
  if constexpr (Q > 1) for_queries<Q - 1>(n, use);
}

// One span of keys and values with n <= kQueriesAtOnce queries, of which query q sees
// n_seen[q] slots, ascending, at least 1. queries: [dim][n]; scores: [n][kSpan]; weighed: [n];
// out: [n][dim], unnormalised.
template <typename T>
HWY_NOINLINE void attend_queries(const float* queries, const T* keys, const T* values, int n,
                                 const int* n_seen, int dim, float* scores, Weighed* weighed,
                                 float* out) {
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim)));
  const int n_blocks = (n_seen[n - 1] + kKeyBlock - 1) / kKeyBlock;
  for_queries<kQueriesAtOnce>(
      n, [&]<int Q>() HWY_ATTR { score_all<Q>(queries, keys, n_blocks, dim, scale, scores); });
  for (int q = 0; q < n; ++q) weighed[q] = weigh_scores(scores + q * kSpan, n_seen[q]);
  std::fill_n(out, n * dim, 0.0F);
  // The slots that all see, then each its own: behind its last, others' may lie or nothing.
  const int n_common = n_seen[0];
  for_queries<kQueriesAtOnce>(
      n, [&]<int Q>() HWY_ATTR { mix_all<Q>(scores, values, n_common, dim, out); });
  for (int q = 0; q < n; ++q)
    if (n_seen[q] > n_common)
      mix_all<1>(scores + q * kSpan + n_common,
                 values + static_cast<std::ptrdiff_t>(n_common) * dim, n_seen[q] - n_common, dim,
                 out + q * dim);
}

// Adds a span's result to that of the spans before it: both are scaled to the larger of their
// largest scores.
void fold_span(const Weighed& span, const float* span_out, int dim, Weighed& all, float* out) {
  const F32 d;
  const float largest = std::max(all.largest, span.largest);
  const auto factor = [&](float x)
                          HWY_ATTR { return hn::GetLane(hn::Exp(d, hn::Set(d, x - largest))); };
  const float a = factor(all.largest);
  const float b = factor(span.largest);
  all = {largest, all.total * a + span.total * b};
  for (int i = 0; i < dim; ++i) out[i] = out[i] * a + span_out[i] * b;
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
