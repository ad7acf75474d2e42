// Do independent draws of rare outcomes coincide as often as their law says? Sees reused or
// clustered random numbers in a tail too thin for a chi-squared test. Must not look at the counts
// when it chooses the tail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/contract.h"

namespace specbench::stats {

// P(X <= k) and P(X >= k) for X ~ Poisson(rate), rate > 0 finite; each as its own tail (1 for k <=
// 0 in the upper, 0 for k < 0 in the lower). Throws std::invalid_argument otherwise.
double poisson_lower_tail(std::int64_t k, double rate);
double poisson_upper_tail(std::int64_t k, double rate);

// min(1, 2 min(lower tail, upper tail)).
double poisson_two_sided_p(std::int64_t k, double rate);

// An outcome belongs to the tail if n draws expect at most so many of it.
inline constexpr double kMaxExpectedInTail = 0.5;

// Number of coinciding pairs among n draws, in the tail: C = sum of x (x - 1) / 2 over tail
// outcomes drawn x times. Mean C(n, 2) sum p^2 (exact).
struct CollisionLaw {
  static constexpr std::size_t kLargestCluster = 16;  // beyond: 1e-20 an outcome at the most

  std::int64_t n = 0;           // draws, of whatever outcome
  std::int64_t n_outcomes = 0;  // in the tail
  // [x]: expected number of tail outcomes drawn exactly x times, sum of Binomial(n, p) at x.
  std::array<double, kLargestCluster + 1> clusters{};
  double mean = 0.0;
};

// Requires n >= 1 and a law; throws std::invalid_argument otherwise.
CollisionLaw collision_law(std::span<const double> probs, std::int64_t n);

// Two-sided p of k coinciding pairs: twice the smaller tail, capped. Outcomes drawn twice are
// Poisson; those drawn three or four times give 3 or 6 pairs at once, which decides the far tail
// (plain Poisson fails a correct sampler hundreds of times too often at 1e-6 there). So C is taken
// as sum of x (x - 1) / 2 times a Poisson count of rate clusters[x], all independent: the mean is
// exact, and as the draws of different outcomes are negatively related, the true law is the less
// spread. A Chen-Stein bound (Arratia, Goldstein, Gordon 1989) is about 2 n sum p^2, far above any
// useful alpha, so it is not added; the tests compare with the exact law of small cases instead:
// with n p up to kMaxExpectedInTail a correct sampler fails at most as often as alpha >= 1e-9 says.
// Above a mean of 4000 the normal tail with its skewness term. Requires k >= 0 and mean > 0; throws
// std::invalid_argument otherwise.
double collision_two_sided_p(const CollisionLaw& law, std::int64_t k);

inline constexpr const char* kDriftCollisionRate = "relative collision rate";

// observed[i] draws of outcome i against probs[i]; n is all draws. Drift: relative change of the
// collision rate sum p^2 of the tail (0.5: half as many pairs, or half as many again); power with
// all clusters scaled alike, the larger of both directions. More draws see less of the tail, since
// outcomes leave it: required_n is the smallest size with enough expected pairs, or
// kNoSampleSuffices. An observed outcome of probability zero is FAIL; a tail that expects no pair
// is INCONCLUSIVE. Throws std::invalid_argument like pearson_test.
TestResult collision_test(const Contract& contract, std::span<const std::int64_t> observed,
                          std::span<const double> probs);

}  // namespace specbench::stats
