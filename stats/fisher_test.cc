#include "stats/fisher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stats/binomial.h"
#include "stats/golden/golden.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;

Contract contract(double alpha = 1e-3, double tau = 0.1) {
  return Contract("fisher", "one rate", alpha, tau, 0.01);
}

TEST(Fisher, MatchesRationalArithmetic) {
  for (const auto& row : golden::kFisher) {
    SCOPED_TRACE(::testing::Message() << row.k_first << "/" << row.n_first << " " << row.k_second
                                      << "/" << row.n_second);
    EXPECT_LE(relative_error(fisher_exact_p({row.k_first, row.n_first, row.k_second, row.n_second}),
                             row.p),
              1e-12);
  }
}

TEST(Fisher, TeaByHand) {
  // Tables of margins 4, 4, 4, 4 have weights 1, 16, 36, 16, 1 of 70.
  EXPECT_NEAR(fisher_exact_p({4, 4, 0, 4}), 2.0 / 70, 1e-15);
  EXPECT_NEAR(fisher_exact_p({3, 4, 1, 4}), 34.0 / 70, 1e-15);
  EXPECT_NEAR(fisher_exact_p({2, 4, 2, 4}), 1.0, 1e-15);
}

TEST(Fisher, NeverZeroAndSymmetric) {
  EXPECT_GT(fisher_exact_p({1'000'000, 1'000'000, 0, 1'000'000}), 0.0);
  EXPECT_LT(fisher_exact_p({1'000'000, 1'000'000, 0, 1'000'000}), 1e-250);
  EXPECT_NEAR(fisher_exact_p({7, 30, 19, 50}), fisher_exact_p({19, 50, 7, 30}), 1e-14);
  EXPECT_NEAR(fisher_exact_p({7, 30, 19, 50}), fisher_exact_p({23, 30, 31, 50}), 1e-14);
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

TEST(Fisher, ValidForEveryTotalByEnumeration) {
  for (int k = 1; k < 40; k += 3) {
    for (double level : {0.001, 0.05, 0.3}) {
      double rejected = 0.0;
      for (int first = std::max(0, k - 25); first <= std::min(15, k); ++first) {
        const double pmf =
            std::exp(log_choose(15, first) + log_choose(25, k - first) - log_choose(40, k));
        if (fisher_exact_p({first, 15, k - first, 25}) <= level) rejected += pmf;
      }
      EXPECT_LE(rejected, level + 1e-10) << k;
    }
  }
}

TEST(Fisher, DetectableDifferenceNearsTheNormalFigure) {
  // 10,000 trials each, rate 1/2: (3.29 + 2.33) sqrt(.25 x 2 / 10,000) = .0397.
  EXPECT_NEAR(fisher_min_detectable({5000, 10'000, 5000, 10'000}, 1e-3, 0.01), 0.0397, 0.0006);
  // 3 events in all reject at no odds ratio.
  EXPECT_EQ(fisher_min_detectable({1, 1000, 2, 1000}, 1e-3, 0.01), 1.0);
}

TEST(Fisher, TestPassesOnlyWithPower) {
  const TestResult few = fisher_exact_test(contract(), {50, 100, 52, 100});
  EXPECT_EQ(few.verdict, Verdict::kInconclusive);
  EXPECT_EQ(few.drift_kind, kDriftRateDifference);
  // The need is a saw-tooth, so a few more than required.
  const std::int64_t half = few.required_n * 52 / 100;
  EXPECT_EQ(fisher_exact_test(contract(), {half * 51 / 100, half, half * 51 / 100, half}).verdict,
            Verdict::kPass);
  EXPECT_EQ(fisher_exact_test(contract(), {90, 100, 40, 100}).verdict, Verdict::kFail);
  const TestResult none = fisher_exact_test(contract(), {0, 100, 0, 100});
  EXPECT_EQ(none.verdict, Verdict::kInconclusive);
  EXPECT_EQ(none.required_n, kNoSampleSuffices);
}

TEST(Fisher, RefusesBadCounts) {
  EXPECT_THROW(fisher_exact_p({-1, 10, 0, 10}), std::invalid_argument);
  EXPECT_THROW(fisher_exact_p({11, 10, 0, 10}), std::invalid_argument);
  EXPECT_THROW(fisher_exact_p({1, 10, 11, 10}), std::invalid_argument);
  EXPECT_THROW(fisher_exact_test(contract(), {0, 0, 0, 0}), std::invalid_argument);
  EXPECT_THROW(fisher_min_detectable({1, 2, 1, 2}, 0.0, 0.1), std::invalid_argument);
}

std::int64_t count_events(Uniform& random, std::int64_t n, double rate) {
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < n; ++i) k += random.bit(rate);
  return k;
}

TEST(FisherStatistical, LevelHoldsAndDriftOfTauIsCaught) {
  const Contract strict = contract(1e-3, 0.08);
  const std::int64_t n = fisher_exact_test(strict, {30, 100, 30, 100}).required_n / 2 + 1;
  int n_low = 0, n_twentieth = 0, n_caught = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    const double p =
        fisher_exact_p({count_events(random, 300, 0.3), 300, count_events(random, 500, 0.3), 500});
    n_low += p < 1e-3;
    n_twentieth += p < 0.05;
    if (seed >= 200) continue;
    n_caught += fisher_exact_test(
                    strict, {count_events(random, n, 0.34), n, count_events(random, n, 0.26), n})
                    .verdict == Verdict::kFail;
  }
  // Discrete, so at most the level: 2 and 100 expected at most; P(X >= 14) and P(X >= 150) < 1e-6.
  EXPECT_LE(n_low, 13);
  EXPECT_LE(n_twentieth, 149);
  EXPECT_GE(n_twentieth, 50);  // P < 1e-6 at a realised level of .04
  EXPECT_GE(n_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
