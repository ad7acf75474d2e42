// Pearson's chi-squared test of counts against a known law, with data-independent pooling and
// stated power. Must not look at the observed counts when it chooses the pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/contract.h"

namespace specbench::stats {

// Expected count a pool must reach: at levels down to 1e-8 the chi-squared tail is calibrated only
// from about here (LOSSLESS, section 0: unpooled tests of a correct sampler reject 21 % of runs at
// .001).
inline constexpr double kMinExpectedCount = 50.0;

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

// observed[i] draws of outcome i against probs[i]. Statistic sum (o - e)^2 / e over pools, df =
// pools - 1; p_value is the upper tail by complement, p_lower the lower tail. An observed outcome
// of probability zero is FAIL with p = 0. One pool only (df = 0) is INCONCLUSIVE. Drift: total
// variation over the pools; power by the non-central chi-squared law, lambda >= 4 n TV^2 (LOSSLESS,
// section 1); required_n allows for the pools it would have. Throws std::invalid_argument for
// negative counts, no draws, sizes that differ, or an illegal law.
TestResult pearson_test(const Contract& contract, std::span<const std::int64_t> observed,
                        std::span<const double> probs);

// The same against equal probabilities: equal bins of a probability integral transform,
// independence tables.
TestResult pearson_uniform_test(const Contract& contract, std::span<const std::int64_t> observed);

}  // namespace specbench::stats
