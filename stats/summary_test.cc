#include "stats/summary.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "stats/binomial.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Summary, MedianAndQuantileByHand) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2.0);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(quantile(one_to(10), 0.5), 5.0);
  EXPECT_EQ(quantile(one_to(10), 0.51), 6.0);
  EXPECT_EQ(quantile(one_to(10), 0.3), 3.0);  // 10 x .3 rounds above 3
  EXPECT_EQ(quantile(one_to(100), 0.99), 99.0);
  EXPECT_EQ(quantile(one_to(10), 1.0), 10.0);
  EXPECT_EQ(quantile(one_to(10), 1e-9), 1.0);
}

TEST(Summary, WelfordSurvivesALargeOffset) {
  // One-pass sums of squares lose this entirely.
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_DOUBLE_EQ(mean(values), 1e9 + 10);
  EXPECT_DOUBLE_EQ(variance(values), 30.0);
}

TEST(Summary, MergeEqualsOneAccumulator) {
  testing::Uniform random(2);
  RunningMoments whole, left, right, empty;
  for (int i = 0; i < 1000; ++i) {
    const double x = random.next() * 7 - 3;
    whole.add(x);
    (i < 300 ? left : right).add(x);
  }
  left.merge(right);
  left.merge(empty);
  empty.merge(left);
  EXPECT_EQ(empty.n(), 1000);
  EXPECT_NEAR(empty.mean(), whole.mean(), 1e-13);
  EXPECT_NEAR(empty.variance(), whole.variance(), 1e-12);
}

TEST(Summary, MedianIntervalHasItsExactCoverage) {
  // Ten processes: the extremes cover 1 - 2 / 1024 (one-sided 9.8e-4).
  const auto wide = median_interval(one_to(10), 0.998);
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(wide->lower, 1.0);
  EXPECT_EQ(wide->upper, 10.0);
  EXPECT_EQ(wide->estimate, 5.5);
  EXPECT_NEAR(wide->level, 1.0 - 2.0 / 1024, 1e-15);
  EXPECT_FALSE(median_interval(one_to(10), 0.999).has_value());
  // P(Bin(10, 1/2) <= 1) = 11 / 1024: the textbook [x(2), x(9)] at 97.9 %.
  const auto usual = median_interval(one_to(10), 0.95);
  ASSERT_TRUE(usual.has_value());
  EXPECT_EQ(usual->lower, 2.0);
  EXPECT_EQ(usual->upper, 9.0);
  EXPECT_NEAR(usual->level, 1.0 - 22.0 / 1024, 1e-15);
  // A level that is met exactly is met.
  EXPECT_EQ(median_interval(one_to(10), 1.0 - 22.0 / 1024)->lower, 2.0);
  EXPECT_FALSE(median_interval(one_to(1), 0.5).has_value());
}

TEST(Summary, TailQuantileNeeds459) {
  EXPECT_EQ(quantile_required_n(0.99, 0.99), 459);
  EXPECT_EQ(quantile_required_n(0.5, 0.5), 1);
  EXPECT_EQ(quantile_required_n(0.5, 0.75), 2);
  EXPECT_FALSE(quantile_upper_bound(one_to(458), 0.99, 0.99).has_value());
  EXPECT_EQ(quantile_upper_bound(one_to(459), 0.99, 0.99), 459.0);
  EXPECT_LT(*quantile_upper_bound(one_to(2000), 0.99, 0.99), 2000.0);
}

TEST(Summary, QuantileIntervalEndsMissAsStated) {
  const auto interval = quantile_interval(one_to(1000), 0.9, 0.95);
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->estimate, 900.0);
  // The lower end is as high, the upper as low, as a miss of .025 each allows.
  const auto lower = static_cast<std::int64_t>(interval->lower);
  const auto upper = static_cast<std::int64_t>(interval->upper);
  EXPECT_LE(binomial_lower_tail(lower - 1, 1000, 0.9), 0.025);
  EXPECT_GT(binomial_lower_tail(lower, 1000, 0.9), 0.025);
  EXPECT_LE(binomial_upper_tail(upper, 1000, 0.9), 0.025);
  EXPECT_GT(binomial_upper_tail(upper - 1, 1000, 0.9), 0.025);
  EXPECT_GE(interval->level, 0.95);
  EXPECT_FALSE(quantile_interval(one_to(100), 0.99, 0.95).has_value());
}

TEST(Summary, RefusesBadInput) {
  const std::vector<double> infinite = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_THROW(median({}), std::invalid_argument);
  EXPECT_THROW(median(infinite), std::invalid_argument);
  EXPECT_THROW(quantile(one_to(3), 0.0), std::invalid_argument);
  EXPECT_THROW(quantile(one_to(3), 1.1), std::invalid_argument);
  EXPECT_THROW(mean({}), std::invalid_argument);
  EXPECT_THROW(variance(one_to(1)), std::invalid_argument);
  EXPECT_THROW(mean(infinite), std::invalid_argument);
  EXPECT_THROW(median_interval(one_to(3), 1.0), std::invalid_argument);
  EXPECT_THROW(quantile_interval(one_to(3), 1.0, 0.9), std::invalid_argument);
  EXPECT_THROW(quantile_upper_bound(one_to(3), 0.9, 0.0), std::invalid_argument);
  EXPECT_THROW(quantile_required_n(0.9, 1.0), std::invalid_argument);
}

TEST(SummaryStatistical, IntervalsCoverAsStated) {
  int n_median = 0, n_quantile = 0, n_bound = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    testing::Uniform random(seed);
    std::vector<double> values(60);
    for (double& x : values) x = random.next();
    const auto median_range = *median_interval(values, 0.9);
    const auto quantile_range = *quantile_interval(values, 0.8, 0.9);
    n_median += median_range.lower <= 0.5 && 0.5 <= median_range.upper;
    n_quantile += quantile_range.lower <= 0.8 && 0.8 <= quantile_range.upper;
    n_bound += *quantile_upper_bound(values, 0.9, 0.95) >= 0.9;
  }
  EXPECT_GE(n_median, 1800 - 68);
  EXPECT_GE(n_quantile, 1800 - 68);
  EXPECT_GE(n_bound, 1900 - 49);
}

}  // namespace
}  // namespace specbench::stats
