// Laws over the vocabulary: how weights, sums and draws are computed, to the last bit. Every id
// that is ever sampled depends on this arithmetic, so it must not change: only +, -, x, / and
// comparisons of doubles, in the written order, compiled without contraction. No library function,
// no target-dependent path, nothing but plain functions, so that a device compiler gives the same
// bits.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "engine/types.h"

namespace specbench::engine {

inline constexpr int kChunk = 256;  ///< ids summed together; the unit of the inverse-CDF walk

constexpr int n_chunks(int n_ids) { return (n_ids + kChunk - 1) / kChunk; }
constexpr int padded_size(int n_ids) { return n_chunks(n_ids) * kChunk; }

/// e^x for x <= 0, relative error below 2^-51; exactly 1 at 0, exactly 0 below -708 and at -inf.
/// x = n ln 2 + r with |r| <= ln 2 / 2 (ln 2 in two parts, the first short enough that n times it
/// is exact), then the Taylor series to degree 13, whose remainder is below 5e-18.
inline double exp_fixed(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // trailing 20 bits zero
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double clamped = x < -708.0 ? -708.0 : x;
  const double shifted = clamped * kLog2E + kMagic;
  const double n = shifted - kMagic;
  const double r = (clamped - n * kLn2High) - n * kLn2Low;
  double y = 1.0 / 6227020800.0;
  y = y * r + 1.0 / 479001600.0;
  y = y * r + 1.0 / 39916800.0;
  y = y * r + 1.0 / 3628800.0;
  y = y * r + 1.0 / 362880.0;
  y = y * r + 1.0 / 40320.0;
  y = y * r + 1.0 / 5040.0;
  y = y * r + 1.0 / 720.0;
  y = y * r + 1.0 / 120.0;
  y = y * r + 1.0 / 24.0;
  y = y * r + 1.0 / 6.0;
  y = y * r + 0.5;
  y = y * r + 1.0;
  y = y * r + 1.0;
  // The low bits of `shifted` hold n; moved into the exponent field they make 2^n.
  const auto bits = static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(shifted) + 1023) << 52;
  const double value = y * std::bit_cast<double>(bits);
  return x < -708.0 ? 0.0 : value;
}

/// -log(u) for u in (0, 1]; relative error below 2^-49 away from u = 1, absolute below 2^-52 near
/// it. u = m 2^e with m in (sqrt(1/2), sqrt(2)]; log m = 2 atanh((m - 1) / (m + 1)) by its odd
/// series to degree 21.
inline double minus_log_fixed(double u) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kSqrt2 = 1.4142135623730951;
  const auto bits = std::bit_cast<std::uint64_t>(u);
  double e = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  const bool is_high = m > kSqrt2;
  m = is_high ? m * 0.5 : m;
  e = is_high ? e + 1.0 : e;
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double y = 2.0 / 21.0;
  y = y * z + 2.0 / 19.0;
  y = y * z + 2.0 / 17.0;
  y = y * z + 2.0 / 15.0;
  y = y * z + 2.0 / 13.0;
  y = y * z + 2.0 / 11.0;
  y = y * z + 2.0 / 9.0;
  y = y * z + 2.0 / 7.0;
  y = y * z + 2.0 / 5.0;
  y = y * z + 2.0 / 3.0;
  const double log_m = 2.0 * s + s * (z * y);
  return -(e * kLn2High + (e * kLn2Low + log_m));
}

/// Sum of one chunk by the butterfly i += i + 128, 64, .., 1.
inline double chunk_sum(const double* weights) {
  double partial[kChunk / 2];
  for (int i = 0; i < kChunk / 2; ++i) partial[i] = weights[i] + weights[i + kChunk / 2];
  for (int step = kChunk / 4; step >= 1; step /= 2)
    for (int i = 0; i < step; ++i) partial[i] = partial[i] + partial[i + step];
  return partial[0];
}

/// Fills the sum of each chunk and returns their total, added left to right.
inline double sum_chunks(const double* weights, int n_ids, double* chunk_sums) {
  double total = 0.0;
  for (int c = 0; c < n_chunks(n_ids); ++c) {
    chunk_sums[c] = chunk_sum(weights + static_cast<std::int64_t>(c) * kChunk);
    total = total + chunk_sums[c];
  }
  return total;
}

/// A law over n_ids tokens: unnormalised weights with their sums, or a point mass. A view: it owns
/// nothing.
struct Law {
  const double* weights =
      nullptr;  ///< padded_size(n_ids), zeros behind n_ids; null for a point mass
  const double* chunk_sums = nullptr;  ///< n_chunks(n_ids)
  double total = 0.0;                  ///< sum of chunk_sums, > 0
  int n_ids = 0;
  TokenId point = -1;  ///< the one possible id where weights is null

  bool is_point() const { return weights == nullptr; }

  /// Probability of an id: its weight over the total as summed.
  double prob(TokenId id) const {
    return is_point() ? (id == point ? 1.0 : 0.0) : weights[id] / total;
  }
};

/// Last id with positive weight among ids [begin, end); -1 if there is none.
inline TokenId last_positive(const double* weights, int begin, int end) {
  for (int id = end - 1; id >= begin; --id)
    if (weights[id] > 0.0) return id;
  return -1;
}

/// Inverse-CDF draw with u in [0, 1). Walks chunks, then the ids of one chunk, left to right,
/// subtracting. Where rounding makes a walk run out, the answer is the last id with positive weight
/// of the last chunk reached that has one, so that an id of probability zero is never returned.
/// Requires total > 0.
inline TokenId draw(const Law& law, double u) {
  if (law.is_point()) return law.point;
  double t = u * law.total;
  const int chunks = n_chunks(law.n_ids);
  int chunk = -1;
  int last_chunk = 0;  // last chunk with mass
  for (int c = 0; c < chunks; ++c) {
    if (!(law.chunk_sums[c] > 0.0)) continue;
    last_chunk = c;
    if (t < law.chunk_sums[c]) {
      chunk = c;
      break;
    }
    t = t - law.chunk_sums[c];
  }
  const int begin = (chunk < 0 ? last_chunk : chunk) * kChunk;
  const int end = begin + kChunk < law.n_ids ? begin + kChunk : law.n_ids;
  if (chunk >= 0) {
    for (int id = begin; id < end; ++id) {
      if (t < law.weights[id]) return id;
      t = t - law.weights[id];
    }
  }
  return last_positive(law.weights, begin, end);
}

/// Storage of one law: padded_size(vocabulary) weights and n_chunks sums.
struct LawRoom {
  double* weights = nullptr;
  double* chunk_sums = nullptr;
};

/// max(0, share x target - draft) per id, with its chunk sums, in `room`. With share 1 the law of
/// the token emitted at a rejection (Leviathan et al. 2023, Chen et al. 2023); the block rule
/// scales the target (Sun et al. 2025). The total is the mass itself; zero only where rounding left
/// nothing.
inline Law residual_law(const Law& target, const Law& draft, const LawRoom& room,
                        double share = 1.0) {
  const int n = target.n_ids;
  double* const weights = room.weights;
  if (target.is_point() || draft.is_point()) {
    for (int id = 0; id < n; ++id) {
      const double d = share * target.prob(id) - draft.prob(id);
      weights[id] = d > 0.0 ? d : 0.0;
    }
  } else {
    for (int id = 0; id < n; ++id) {
      const double d =
          share * (target.weights[id] / target.total) - draft.weights[id] / draft.total;
      weights[id] = d > 0.0 ? d : 0.0;
    }
  }
  for (int id = n; id < padded_size(n); ++id) weights[id] = 0.0;
  return {weights, room.chunk_sums, sum_chunks(weights, n, room.chunk_sums), n, -1};
}

/// Smallest id among those with the largest logit. Requires n_ids >= 1 and no NaN.
inline TokenId argmax(const float* logits, int n_ids) {
  TokenId best = 0;
  for (int id = 1; id < n_ids; ++id)
    if (logits[id] > logits[best]) best = id;
  return best;
}

/// Integer whose order is the float's order, -0 and +0 alike: the key of top-k and top-p.
inline std::uint32_t ordered_key(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x + 0.0F);
  return (bits & 0x80000000U) ? ~bits : bits | 0x80000000U;
}

}  // namespace specbench::engine
