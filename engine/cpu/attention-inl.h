// Attention of one query head over the cached keys and values of its sequence.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_
#undef SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_ATTENTION_INL_H_
#endif

#include <cmath>
#include <limits>

#include "engine/cpu/host_backend.h"
#include "engine/cpu/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

constexpr int kKeyBlock = KvStore::kBlock;

// q k / sqrt(head_dim) for the slots of B neighbouring key blocks.
template <int B>
HWY_INLINE void score_blocks(const float* HWY_RESTRICT query, const float* HWY_RESTRICT keys,
                             int dim, float scale, float* HWY_RESTRICT scores) {
  const F32 d;
  constexpr int kVectors = kKeyBlock / kLanes;
  hn::Vec<F32> sums[B][kVectors];
#pragma GCC unroll 4
  for (int b = 0; b < B; ++b)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[b][v] = hn::Zero(d);
  for (int i = 0; i < dim; ++i) {
    const auto q = hn::Set(d, query[i]);
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sums[b][v] =
            hn::MulAdd(hn::LoadU(d, keys + (b * dim + i) * kKeyBlock + v * kLanes), q, sums[b][v]);
  }
#pragma GCC unroll 4
  for (int b = 0; b < B; ++b)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(hn::Mul(sums[b][v], hn::Set(d, scale)), d, scores + b * kKeyBlock + v * kLanes);
}

// Scores to unnormalised weights in place; returns one over their sum. n real slots, n_padded a
// multiple of 16.
float softmax(float* scores, int n, int n_padded) {
  const F32 d;
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
  return 1.0F / hn::GetLane(hn::SumOfLanes(d, total));
}

// NV vectors of head_dim: sum over slots of weight x value, ascending, then one product with 1 /
// total.
template <int NV>
HWY_INLINE void mix_values(const float* HWY_RESTRICT weights, const float* HWY_RESTRICT values,
                           int n, int dim, float scale, float* HWY_RESTRICT out) {
  const F32 d;
  hn::Vec<F32> sums[NV];
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v) sums[v] = hn::Zero(d);
  for (int j = 0; j < n; ++j) {
    const auto w = hn::Set(d, weights[j]);
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      sums[v] = hn::MulAdd(hn::LoadU(d, values + v * kLanes), w, sums[v]);
    values += dim;
  }
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v) hn::StoreU(hn::Mul(sums[v], hn::Set(d, scale)), d, out + v * kLanes);
}

void attend_head(const float* query, const float* keys, const float* values, int n, int dim,
                 float* scores, float* out) {
  const int n_blocks = (n + kKeyBlock - 1) / kKeyBlock;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim)));
  const std::ptrdiff_t block_size = static_cast<std::ptrdiff_t>(dim) * kKeyBlock;
  int b = 0;
  for (; b + 4 <= n_blocks; b += 4)
    score_blocks<4>(query, keys + b * block_size, dim, scale, scores + b * kKeyBlock);
  for (; b < n_blocks; ++b)
    score_blocks<1>(query, keys + b * block_size, dim, scale, scores + b * kKeyBlock);
  const float normaliser = softmax(scores, n, n_blocks * kKeyBlock);
  int i = 0;
  for (; i + 4 * kLanes <= dim; i += 4 * kLanes)
    mix_values<4>(scores, values + i, n, dim, normaliser, out + i);
  for (; i + kLanes <= dim; i += kLanes)
    mix_values<1>(scores, values + i, n, dim, normaliser, out + i);
  for (; i < dim; ++i) {
    float sum = 0.0F;
    for (int j = 0; j < n; ++j) sum += scores[j] * values[static_cast<std::ptrdiff_t>(j) * dim + i];
    out[i] = sum * normaliser;
  }
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
