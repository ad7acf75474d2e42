#include "stats/pearson.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

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
  // (60 - 50)^2 / 50 twice = 4; df 1.
  const TestResult result =
      pearson_test(contract(), Counts{60, 40 + 0}, std::vector<double>{0.5, 0.5});
  EXPECT_DOUBLE_EQ(result.statistic, 4.0);
  EXPECT_EQ(result.n, 100);
  EXPECT_DOUBLE_EQ(result.p_value, chi_squared_sf(4.0, 1));
  EXPECT_DOUBLE_EQ(result.p_lower, chi_squared_cdf(4.0, 1));
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_DOUBLE_EQ(result.min_detectable, pearson_min_detectable(1, 1e-6, 0.01, 100));
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

TEST(Pearson, OnePoolIsInconclusive) {
  const TestResult one_hot =
      pearson_test(contract(), Counts{1000, 0}, std::vector<double>{1.0, 0.0});
  EXPECT_EQ(one_hot.verdict, Verdict::kInconclusive);
  EXPECT_EQ(one_hot.required_n, kNoSampleSuffices);
  const TestResult rare =
      pearson_test(contract(), Counts{1000, 0}, std::vector<double>{0.999, 0.001});
  EXPECT_EQ(rare.verdict, Verdict::kInconclusive);
  EXPECT_GE(rare.required_n, 50'000);  // 50 expected at a rate of .001
  EXPECT_LT(rare.required_n, kNoSampleSuffices);
}

TEST(Pearson, RequiredSizeAllowsForThePoolsItWillHave) {
  // 64 outcomes, n = 138: two pools now, 64 at the size needed.
  Counts counts(64, 2);
  counts[0] = 12;
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
