// Pearson's chi-squared test of counts against a known law, with data-independent pooling and
// stated power. Must not look at the observed counts when it chooses the pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/contract.h"

namespace specbench::stats {

// Expected count a pool must reach at a level of 2e-5 or more (LOSSLESS, section 0: unpooled tests
// of a correct sampler reject 21 % of runs at .001).
inline constexpr double kMinExpectedCount = 50.0;

// The same at any level: max(50, z^6 / 120) with P(|N(0,1)| > z) = alpha, which is 114 at 1e-6 and
// 482 at 5e-10. A count is skewed: far out its tail is about exp(z^3 / (6 sqrt(count))) times the
// normal one, and this keeps the exponent at 1.83. By exact binomial sums at df = 1 and 1e-12 <=
// alpha <= 1e-2 a correct sampler then fails at most 3 times as often as alpha says (at 5e-10 and
// 50 expected: 37 times); more pools come closer. alpha in (0, 1); std::invalid_argument otherwise.
double min_expected_count(double alpha);

// Which pool each outcome belongs to, a function of the law and n alone.
struct PooledBins {
  static constexpr std::int32_t kForbidden = -1;
  std::vector<std::int32_t>
      pool_of_bin;               // [n_bins], pool index, or kForbidden where the law is zero
  std::vector<double> expected;  // [n_pools], expected counts, in order of growing smallest member
  std::size_t n_pools() const { return expected.size(); }
};

// Merges outcomes, the rarest first (ties by index), until every pool expects at least min_expected
// of n draws; an outcome that is common enough stays alone. A remainder joins the last pool. With n
// x 1 < min_expected there is one pool. Requires finite expected_probs >= 0 that sum to 1 within
// 1e-9 (probabilities, not counts), n >= 1, min_expected > 0. Throws std::invalid_argument
// otherwise.
PooledBins pool_bins(std::span<const double> expected_probs, std::int64_t n,
                     double min_expected = kMinExpectedCount);

// Pools below this df say nothing of a statistic that is too small: exact matches are too likely.
inline constexpr int kMinTooGoodDf = 10;

// observed[i] draws of outcome i against probs[i]. Statistic sum (o - e)^2 / e over pools of
// min_expected_count(alpha), df = pools - 1; p_value is the upper tail by complement, p_lower an
// upper bound on the lower tail (NaN below kMinTooGoodDf). An observed outcome of probability zero
// is FAIL with p = 0. One pool only (df = 0) is INCONCLUSIVE. Drift: total variation over the
// pools; power by the non-central chi-squared law, lambda >= 4 n TV^2 (LOSSLESS, section 1);
// required_n allows for the pools it would have. Throws std::invalid_argument for negative counts,
// no draws, sizes that differ, or an illegal law.
TestResult pearson_test(const Contract& contract, std::span<const std::int64_t> observed,
                        std::span<const double> probs);

// The same against equal probabilities: equal bins of a probability integral transform,
// independence tables.
TestResult pearson_uniform_test(const Contract& contract, std::span<const std::int64_t> observed);

}  // namespace specbench::stats
