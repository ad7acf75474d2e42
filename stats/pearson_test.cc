#include "stats/pearson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "stats/binomial.h"
#include "stats/kolmogorov.h"
#include "stats/power.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::Uniform;
using Counts = std::vector<std::int64_t>;

Contract contract(double tau = 0.01) {
  return Contract("pearson", "counts follow the law", 1e-6, tau, 0.01, 1e-7);
}

TEST(PoolBins, KeepsCommonOutcomesApartAndMergesRareOnes) {
  // Expected of 1000: 500, 300, 20, 10, 170, 0. Rarest first: 10 + 20 + 170 = 200 fill the first
  // pool.
  const std::vector<double> law = {0.5, 0.3, 0.02, 0.01, 0.17, 0.0};
  const PooledBins bins = pool_bins(law, 1000);
  EXPECT_EQ(bins.pool_of_bin, (std::vector<std::int32_t>{2, 1, 0, 0, 0, PooledBins::kForbidden}));
  ASSERT_EQ(bins.n_pools(), 3u);
  EXPECT_NEAR(bins.expected[0], 200.0, 1e-9);
  EXPECT_NEAR(bins.expected[1], 300.0, 1e-9);
  EXPECT_NEAR(bins.expected[2], 500.0, 1e-9);
}

TEST(PoolBins, RemainderJoinsTheLastPool) {
  // Expected 30 each: {0, 1} and then 2 alone would be below 50.
  const PooledBins bins = pool_bins(std::vector<double>{1.0 / 3, 1.0 / 3, 1.0 / 3}, 90);
  EXPECT_EQ(bins.n_pools(), 1u);
  EXPECT_NEAR(bins.expected[0], 90.0, 1e-9);
  const PooledBins five = pool_bins(std::vector<double>(5, 0.2), 150);
  EXPECT_EQ(five.pool_of_bin, (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
  EXPECT_NEAR(five.expected[1], 90.0, 1e-9);
}

TEST(PoolBins, EveryPoolIsLargeEnoughAndNothingIsLost) {
  Uniform random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> law(1 + static_cast<std::size_t>(random.next() * 300));
    for (double& p : law) p = std::pow(random.next(), 6.0);
    const double sum = std::accumulate(law.begin(), law.end(), 0.0);
    for (double& p : law) p /= sum;
    const std::int64_t n = 1 + static_cast<std::int64_t>(random.next() * 20000);
    const PooledBins bins = pool_bins(law, n);
    double total = 0.0;
    for (double expected : bins.expected) {
      if (bins.n_pools() > 1) {
        EXPECT_GE(expected, kMinExpectedCount);
      }
      total += expected;
    }
    EXPECT_NEAR(total, static_cast<double>(n), 1e-6 * static_cast<double>(n));
    std::vector<double> refilled(bins.n_pools(), 0.0);
    for (std::size_t i = 0; i < law.size(); ++i) {
      ASSERT_GE(bins.pool_of_bin[i], 0);
      refilled[static_cast<std::size_t>(bins.pool_of_bin[i])] += law[i] * static_cast<double>(n);
    }
    for (std::size_t i = 0; i < refilled.size(); ++i) {
      EXPECT_NEAR(refilled[i], bins.expected[i], 1e-6);
    }
  }
}

TEST(PoolBins, RefusesWhatIsNoLaw) {
  EXPECT_THROW(pool_bins({}, 10), std::invalid_argument);
  EXPECT_THROW(pool_bins(std::vector<double>{0.5, 0.4}, 10), std::invalid_argument);
  EXPECT_THROW(pool_bins(std::vector<double>{1.5, -0.5}, 10), std::invalid_argument);
  EXPECT_THROW(pool_bins(std::vector<double>{std::nan(""), 1.0}, 10), std::invalid_argument);
  EXPECT_THROW(pool_bins(std::vector<double>{0.5, 0.5}, 0), std::invalid_argument);
  EXPECT_THROW(pool_bins(std::vector<double>{0.5, 0.5}, 10, 0.0), std::invalid_argument);
}

TEST(Pearson, StatisticByHand) {
  // (220 - 200)^2 / 200 twice = 4; df 1.
  const TestResult result =
      pearson_test(contract(), Counts{220, 180}, std::vector<double>{0.5, 0.5});
  EXPECT_DOUBLE_EQ(result.statistic, 4.0);
  EXPECT_EQ(result.n, 400);
  EXPECT_DOUBLE_EQ(result.p_value, chi_squared_sf(4.0, 1));
  EXPECT_TRUE(std::isnan(result.p_lower));
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_DOUBLE_EQ(result.min_detectable, pearson_min_detectable(1, 1e-6, 0.01, 400));
  EXPECT_EQ(result.required_n, pearson_required_n(1, 1e-6, 0.01, 0.01));
}

TEST(Pearson, PassesExactlyFromTheRequiredSize) {
  const std::vector<double> law(4, 0.25);
  const std::int64_t needed = pearson_required_n(3, 1e-6, 0.01, 0.01);
  const auto near_even = [](std::int64_t n) {
    const std::int64_t quarter = n / 4;
    return Counts{quarter + 300, quarter - 300, quarter, n - 3 * quarter};
  };
  EXPECT_EQ(pearson_test(contract(), near_even(needed), law).verdict, Verdict::kPass);
  EXPECT_EQ(pearson_test(contract(), near_even(needed), law).required_n, needed);
  const TestResult small = pearson_test(contract(), near_even(needed - 1), law);
  EXPECT_EQ(small.verdict, Verdict::kInconclusive);
  EXPECT_EQ(small.required_n, needed);
}

TEST(Pearson, BiasedCoinFails) {
  const TestResult result =
      pearson_test(contract(), Counts{510'000, 490'000}, std::vector<double>{0.5, 0.5});
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_LT(result.p_value, 1e-80);
}

TEST(Pearson, ForbiddenOutcomeFailsAtOnce) {
  const TestResult result =
      pearson_test(contract(), Counts{50, 49, 1}, std::vector<double>{0.5, 0.5, 0.0});
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_EQ(result.p_value, 0.0);
  EXPECT_NE(result.reason.find("forbidden outcome: outcome 2"), std::string::npos) << result.reason;
}

TEST(Pearson, TooGoodFails) {
  // Counts equal to their expectation: a frozen sampler.
  const TestResult result = pearson_uniform_test(contract(), Counts(64, 10'000));
  EXPECT_EQ(result.statistic, 0.0);
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_NE(result.reason.find("too good"), std::string::npos);
}

// 64 bins, n = 128: 25 bins fill the first pool, 39 the second; they match exactly in 7 % of runs.
TEST(Pearson, AnExactMatchOfFewPoolsIsNoFault) {
  const Contract lenient("pearson", "h", 1e-4, 0.01, 0.01, 1e-4);
  const TestResult two = pearson_uniform_test(lenient, Counts(64, 2));
  EXPECT_EQ(two.statistic, 0.0);
  EXPECT_TRUE(std::isnan(two.p_lower));
  EXPECT_EQ(two.verdict, Verdict::kInconclusive);
  const TestResult ten = pearson_uniform_test(lenient, Counts(10, 1'000'000));
  EXPECT_TRUE(std::isnan(ten.p_lower));
  EXPECT_EQ(ten.verdict, Verdict::kPass);
  EXPECT_EQ(pearson_uniform_test(lenient, Counts(11, 1'000'000)).verdict, Verdict::kFail);
}

// Chances that equal pools expecting n / k each give a sum (c - b)^2 of at most q, b = n / k
// rounded down: exact multinomial sums, [q].
std::vector<double> exact_lower_tail(int k, int n, int max_q) {
  const int base = n / k;
  const int max_sum = 4 * static_cast<int>(std::sqrt(max_q * k)) + k;
  const int most = static_cast<int>(std::sqrt(max_q));
  const double mean = static_cast<double>(n) / k;
  const auto log_poisson = [](double rate, int c) {
    return c * std::log(rate) - rate - std::lgamma(c + 1.0);
  };
  const auto n_q = static_cast<std::size_t>(max_q + 1);
  const auto n_sums = static_cast<std::size_t>(2 * max_sum + 1);
  const auto at = [&](int sum, int q) {
    return static_cast<std::size_t>(sum + max_sum) * n_q + static_cast<std::size_t>(q);
  };
  std::vector<double> chance(n_sums * n_q, 0.0);
  chance[at(0, 0)] = 1.0;
  for (int pool = 0; pool < k; ++pool) {
    std::vector<double> next(chance.size(), 0.0);
    for (int j = -most; j <= most; ++j) {
      const double weight = std::exp(log_poisson(mean, base + j));
      for (int sum = std::max(-max_sum, -max_sum - j); sum <= std::min(max_sum, max_sum - j); ++sum)
        for (int q = 0; q + j * j <= max_q; ++q)
          next[at(sum + j, q + j * j)] += weight * chance[at(sum, q)];
    }
    chance = next;
  }
  std::vector<double> tail(n_q);
  double total = 0.0;
  for (int q = 0; q <= max_q; ++q)
    tail[static_cast<std::size_t>(q)] = total +=
        chance[at(n - k * base, q)] / std::exp(log_poisson(n, n));
  return tail;
}

TEST(Pearson, PLowerBoundsTheExactLowerTail) {
  // Whole and broken expected counts at the smallest that pools may have. The bound is loosest
  // where the lattice is coarse: an exact match of 11 pools of 50 has chance 1.1e-12.
  struct Case {
    int k, n, max_q;
  };
  for (const Case& c :
       {Case{11, 550, 80}, {11, 555, 80}, {11, 1155, 150}, {21, 1050, 200}, {21, 1060, 200}}) {
    const std::vector<double> exact = exact_lower_tail(c.k, c.n, c.max_q);
    const double mean = static_cast<double>(c.n) / c.k;
    const int base = c.n / c.k, n_up = c.n % c.k;
    const Contract lenient("pearson", "h", 1e-4, 0.01, 0.01, 1e-9);
    for (int q = n_up; q <= c.max_q; ++q) {
      const double statistic = (q - c.k * (mean - base) * (mean - base)) / mean;
      const double reach = std::sqrt(std::max(0.0, statistic)) + 0.5 * std::sqrt(c.k / mean);
      EXPECT_LE(exact[static_cast<std::size_t>(q)], 1.1 * chi_squared_cdf(reach * reach, c.k - 1))
          << c.k << " pools, n = " << c.n << ", q = " << q;
    }
    Counts closest(static_cast<std::size_t>(c.k), base);
    for (int i = 0; i < n_up; ++i) ++closest[static_cast<std::size_t>(i)];
    const double p_lower = pearson_uniform_test(lenient, closest).p_lower;
    EXPECT_GE(p_lower, exact[static_cast<std::size_t>(n_up)]) << c.k << ", " << c.n;
    EXPECT_LT(p_lower, 1e-6) << c.k << ", " << c.n;  // still of use
  }
}

// P(p_value < alpha) / alpha of a correct sampler: two pools, the smaller expecting `expected` and
// the other `times` as much.
double realised_over_nominal(double expected, double times, double alpha) {
  const auto n = static_cast<std::int64_t>(std::llround(expected * (1.0 + times)));
  const double p = expected / static_cast<double>(n);
  const double distance =
      std::fabs(normal_upper_quantile(alpha / 2)) * std::sqrt(expected * (1.0 - p));
  const auto low = static_cast<std::int64_t>(std::ceil(expected - distance)) - 1;
  const auto high = static_cast<std::int64_t>(std::floor(expected + distance)) + 1;
  return ((low >= 0 ? binomial_lower_tail(low, n, p) : 0.0) +
          (high <= n ? binomial_upper_tail(high, n, p) : 0.0)) /
         alpha;
}

TEST(Pearson, MinExpectedCountKeepsTheTailCalibrated) {
  EXPECT_EQ(min_expected_count(0.01), kMinExpectedCount);
  EXPECT_EQ(min_expected_count(1e-4), kMinExpectedCount);
  EXPECT_NEAR(min_expected_count(1e-6), 114.2, 0.5);
  EXPECT_NEAR(min_expected_count(5e-10), 482, 1.0);
  EXPECT_THROW(min_expected_count(0.0), std::invalid_argument);
  for (double alpha : {1e-2, 1e-3, 1e-4, 2e-5, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 5e-10, 1e-10, 1e-12})
    for (double times : {1.0, 3.0, 30.0, 1e3, 1e5})
      for (int step = 0; step < 40; ++step)  // the tail is a saw-tooth
        EXPECT_LE(realised_over_nominal(min_expected_count(alpha) + 0.25 * step, times, alpha), 3.0)
            << alpha << ", " << times << ", " << step;
  EXPECT_GT(realised_over_nominal(50, 1e5, 5e-10), 25.0);  // what it is there for
}

TEST(Pearson, PoolsFollowTheLevel) {
  // 200 a bin: enough at 1e-4; at 5e-10 a pool takes three.
  const Counts counts(30, 200);
  const Contract lenient("pearson", "h", 1e-4, 0.01, 0.01),
      strict("pearson", "h", 5e-10, 0.01, 0.01);
  EXPECT_EQ(pearson_uniform_test(lenient, counts).min_detectable,
            pearson_min_detectable(29, 1e-4, 0.01, 6000));
  EXPECT_EQ(pearson_uniform_test(strict, counts).min_detectable,
            pearson_min_detectable(9, 5e-10, 0.01, 6000));
  EXPECT_EQ(pearson_uniform_test(strict, counts).required_n,
            pearson_required_n(29, 5e-10, 0.01, 0.01));
}

TEST(Pearson, OnePoolIsInconclusive) {
  const TestResult one_hot =
      pearson_test(contract(), Counts{1000, 0}, std::vector<double>{1.0, 0.0});
  EXPECT_EQ(one_hot.verdict, Verdict::kInconclusive);
  EXPECT_EQ(one_hot.required_n, kNoSampleSuffices);
  const TestResult rare =
      pearson_test(contract(), Counts{1000, 0}, std::vector<double>{0.999, 0.001});
  EXPECT_EQ(rare.verdict, Verdict::kInconclusive);
  EXPECT_GE(rare.required_n, 114'000);  // 114 expected at a rate of .001
  EXPECT_LT(rare.required_n, kNoSampleSuffices);
}

TEST(Pearson, RequiredSizeAllowsForThePoolsItWillHave) {
  // 64 outcomes, n = 266: two pools now, 64 at the size needed.
  Counts counts(64, 4);
  counts[0] = 14;
  const TestResult result = pearson_uniform_test(contract(), counts);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.required_n, pearson_required_n(63, 1e-6, 0.01, 0.01));
}

TEST(Pearson, PFallsAsTheStatisticGrows) {
  double last = 1.1;
  for (std::int64_t shift = 0; shift < 3000; shift += 50) {
    const TestResult result = pearson_test(contract(), Counts{50'000 + shift, 50'000 - shift},
                                           std::vector<double>{0.5, 0.5});
    EXPECT_GE(result.p_value, 0.0);
    EXPECT_LT(result.p_value, last);
    last = result.p_value;
  }
}

TEST(Pearson, RefusesBadCounts) {
  const std::vector<double> law = {0.5, 0.5};
  EXPECT_THROW(pearson_test(contract(), Counts{1, 2, 3}, law), std::invalid_argument);
  EXPECT_THROW(pearson_test(contract(), Counts{1, -1}, law), std::invalid_argument);
  EXPECT_THROW(pearson_test(contract(), Counts{0, 0}, law), std::invalid_argument);
  EXPECT_THROW(pearson_test(contract(), Counts{1, 1}, std::vector<double>{0.5, 0.6}),
               std::invalid_argument);
  EXPECT_THROW(pearson_uniform_test(contract(), Counts{}), std::invalid_argument);
}

TEST(PearsonStatistical, NullPValuesAreUniform) {
  const std::vector<double> law = {0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.03, 0.01, 0.01};
  std::vector<double> p_values;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    p_values.push_back(
        pearson_test(contract(), testing::draw_counts(random, law, 8000), law).p_value);
  }
  EXPECT_LT(ks_statistic(p_values), testing::largest_allowed_distance(2000));
}

TEST(PearsonStatistical, DriftOfTauIsCaught) {
  // The hardest direction: the drift spread so that lambda is 4 n TV^2 exactly (two equal halves of
  // uniform bins).
  const Contract strict("pearson", "h", 1e-4, 0.03, 0.1);
  const std::vector<double> law(8, 0.125);
  std::vector<double> drifted = law;
  for (std::size_t i = 0; i < 8; ++i) drifted[i] += i < 4 ? 0.03 / 4 : -0.03 / 4;
  const auto n = static_cast<int>(pearson_required_n(7, 1e-4, 0.1, 0.03));
  int n_caught = 0;
  int n_false = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Uniform random(seed);
    n_caught += pearson_test(strict, testing::draw_counts(random, drifted, n), law).verdict ==
                Verdict::kFail;
    n_false +=
        pearson_test(strict, testing::draw_counts(random, law, n), law).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught, 900 - 48);  // 900 less five standard deviations
  EXPECT_LE(n_false, 3);          // .1 expected
}

}  // namespace
}  // namespace specbench::stats
