#include "stats/pearson.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

int degrees_of_freedom(const PooledBins& bins) { return static_cast<int>(bins.n_pools()) - 1; }

// Nobody draws more than this: a law that needs it (all mass but 1e-12 on one outcome) is not
// testable in practice.
constexpr std::int64_t kLargestPlan = 1'000'000'000'000'000;

// Larger samples have more pools, so the need grows with n: climb until a sample meets the need of
// its own pools.
std::int64_t required_n_with_pools(const Contract& contract, std::span<const double> probs,
                                   std::int64_t n) {
  const auto n_possible =
      std::count_if(probs.begin(), probs.end(), [](double p) { return p > 0.0; });
  if (n_possible < 2) return kNoSampleSuffices;
  const double min_expected = min_expected_count(contract.alpha());
  std::int64_t needed = n;
  for (int step = 0; step < 64; ++step) {
    const int df = degrees_of_freedom(pool_bins(probs, needed, min_expected));
    // With a single pool nothing can be tested: look at a sample twice as large.
    const std::int64_t next =
        df < 1 ? 2 * needed
               : pearson_required_n(df, contract.alpha(), contract.beta(), contract.tau());
    if (df >= 1 && next <= needed) return step == 0 ? next : needed;
    if (next > kLargestPlan) break;
    needed = next;
  }
  return kNoSampleSuffices;
}

double pearson_statistic(std::span<const std::int64_t> observed, const PooledBins& bins) {
  std::vector<double> counts(bins.n_pools(), 0.0);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (bins.pool_of_bin[i] == PooledBins::kForbidden) continue;
    counts[static_cast<std::size_t>(bins.pool_of_bin[i])] += static_cast<double>(observed[i]);
  }
  double statistic = 0.0;
  for (std::size_t pool = 0; pool < counts.size(); ++pool) {
    const double difference = counts[pool] - bins.expected[pool];
    statistic += difference * difference / bins.expected[pool];
  }
  return statistic;
}

// P(statistic <= x), made an upper bound. Counts sit on a lattice, whose points in the ball of
// radius sqrt(x) own cells in a ball larger by the covering radius. In the metric of the statistic
// that radius is at most sqrt(sum 1 / (4 e)): rounding each of a sum of counts up with the
// probability of its fraction f keeps the sum and costs sum f (1 - f) / e on average.
double lower_tail_bound(double statistic, const PooledBins& bins) {
  double squared_radius = 0.0;
  for (const double expected : bins.expected) squared_radius += 0.25 / expected;
  const double reach = std::sqrt(statistic) + std::sqrt(squared_radius);
  return chi_squared_cdf(reach * reach, degrees_of_freedom(bins));
}

}  // namespace

double min_expected_count(double alpha) {
  require(is_open_unit(alpha), "min_expected_count", "alpha must lie inside (0, 1)", alpha);
  constexpr double kSkew = 120.0;  // (6 x 1.83)^2
  return std::max(kMinExpectedCount, std::pow(normal_upper_quantile(alpha / 2.0), 6.0) / kSkew);
}

PooledBins pool_bins(std::span<const double> expected_probs, std::int64_t n, double min_expected) {
  require_law(expected_probs, "pool_bins");
  require(n >= 1, "pool_bins", "n must be at least 1", static_cast<double>(n));
  require(min_expected > 0.0, "pool_bins", "min_expected must be positive", min_expected);
  std::vector<std::size_t> rarest_first;
  for (std::size_t i = 0; i < expected_probs.size(); ++i) {
    if (expected_probs[i] > 0.0) rarest_first.push_back(i);
  }
  std::stable_sort(rarest_first.begin(), rarest_first.end(), [&](std::size_t a, std::size_t b) {
    return expected_probs[a] < expected_probs[b];
  });
  PooledBins bins;
  bins.pool_of_bin.assign(expected_probs.size(), PooledBins::kForbidden);
  double open = 0.0;  // expected count of the pool being filled, the last of bins.expected
  for (std::size_t i : rarest_first) {
    if (open == 0.0) bins.expected.push_back(0.0);
    open += static_cast<double>(n) * expected_probs[i];
    bins.expected.back() = open;
    bins.pool_of_bin[i] = static_cast<std::int32_t>(bins.n_pools() - 1);
    if (open >= min_expected) open = 0.0;
  }
  if (open > 0.0 && bins.n_pools() > 1) {
    const auto last = static_cast<std::int32_t>(bins.n_pools() - 1);
    std::replace(bins.pool_of_bin.begin(), bins.pool_of_bin.end(), last, last - 1);
    bins.expected.pop_back();
    bins.expected.back() += open;
  }
  return bins;
}

TestResult pearson_test(const Contract& contract, std::span<const std::int64_t> observed,
                        std::span<const double> probs) {
  require_law(probs, "pearson_test");
  Evidence evidence;
  evidence.statistic_name = "Pearson chi-squared";
  evidence.drift_kind = kDriftTotalVariation;
  evidence.n = require_counts(observed, probs.size(), "pearson_test");
  evidence.required_n = required_n_with_pools(contract, probs, evidence.n);
  for (std::size_t i = 0; i < probs.size(); ++i) {
    if (probs[i] > 0.0 || observed[i] == 0) continue;
    evidence.p_lower = 1.0;
    evidence.statistic = std::numeric_limits<double>::infinity();
    return fail_forbidden(contract, std::move(evidence),
                          "forbidden outcome: outcome " + std::to_string(i) +
                              " has probability 0 and was drawn " + std::to_string(observed[i]) +
                              " times");
  }
  const PooledBins bins = pool_bins(probs, evidence.n, min_expected_count(contract.alpha()));
  const int df = degrees_of_freedom(bins);
  if (df < 1) {
    return not_testable(
        contract, std::move(evidence),
        evidence.required_n == kNoSampleSuffices
            ? "the law has a single possible outcome, so there is nothing to compare (df = 0); use "
              "binomial_test of the forbidden outcomes at rate 0"
            : "all outcomes fall into one pool (df = 0); needs n = " +
                  std::to_string(evidence.required_n));
  }
  evidence.statistic = pearson_statistic(observed, bins);
  evidence.p_value = chi_squared_sf(evidence.statistic, df);
  if (df >= kMinTooGoodDf) evidence.p_lower = lower_tail_bound(evidence.statistic, bins);
  evidence.min_detectable =
      pearson_min_detectable(df, contract.alpha(), contract.beta(), evidence.n);
  return decide(contract, evidence);
}

TestResult pearson_uniform_test(const Contract& contract, std::span<const std::int64_t> observed) {
  require(!observed.empty(), "pearson_uniform_test", "there are no bins");
  const std::vector<double> probs(observed.size(), 1.0 / static_cast<double>(observed.size()));
  return pearson_test(contract, observed, probs);
}

}  // namespace specbench::stats
