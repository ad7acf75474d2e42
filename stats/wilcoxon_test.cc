#include "stats/wilcoxon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "stats/summary.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

TEST(Wilcoxon, TailByHand) {
  // n = 3: of 8 sign patterns W = 0 and W = 1 have one each.
  EXPECT_EQ(signed_rank_lower_tail(-1, 3), 0.0);
  EXPECT_EQ(signed_rank_lower_tail(1, 3), 0.25);
  EXPECT_EQ(signed_rank_lower_tail(6, 3), 1.0);
  EXPECT_EQ(signed_rank_lower_tail(0, 5), 1.0 / 32);
  // The tables' critical values: W <= 8 for n = 10 and W <= 52 for n = 20 at two-sided 5 %.
  EXPECT_EQ(signed_rank_lower_tail(8, 10), 25.0 / 1024);
  EXPECT_EQ(signed_rank_lower_tail(10, 10), 43.0 / 1024);
  EXPECT_EQ(signed_rank_lower_tail(52, 20), 25397.0 / 1048576);
  // 56855660883395047 of 2^60, counted in whole numbers.
  EXPECT_NEAR(signed_rank_lower_tail(690, 60), 0.04931442483830082, 1e-15);
}

TEST(Wilcoxon, TailEqualsEnumerationOfAllSigns) {
  for (int n = 1; n <= 12; ++n) {
    std::vector<int> counts(static_cast<std::size_t>(n * (n + 1) / 2 + 1), 0);
    for (unsigned signs = 0; signs < (1U << n); ++signs) {
      std::size_t sum = 0;
      for (int rank = 1; rank <= n; ++rank) {
        if ((signs >> (rank - 1)) & 1U) sum += static_cast<std::size_t>(rank);
      }
      ++counts[sum];
    }
    int below = 0;
    for (std::size_t w = 0; w < counts.size(); ++w) {
      below += counts[w];
      EXPECT_EQ(signed_rank_lower_tail(static_cast<std::int64_t>(w), n), below / std::exp2(n));
    }
  }
}

TEST(Wilcoxon, IntervalByHand) {
  // Walsh averages of 1, 2, 4: 1, 1.5, 2, 2.5, 3, 4; the extremes cover 1 - 2 / 8.
  const std::vector<double> values = {4, 1, 2};
  const auto widest = wilcoxon_interval(values, 0.75);
  ASSERT_TRUE(widest.has_value());
  EXPECT_EQ(widest->lower, 1.0);
  EXPECT_EQ(widest->upper, 4.0);
  EXPECT_EQ(widest->estimate, 2.25);
  EXPECT_EQ(widest->level, 0.75);
  EXPECT_FALSE(wilcoxon_interval(values, 0.76).has_value());
  const auto inner = wilcoxon_interval(values, 0.5);  // P(W < 2) = 2 / 8
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(inner->lower, 1.5);
  EXPECT_EQ(inner->upper, 3.0);
  EXPECT_EQ(inner->level, 0.5);
  EXPECT_FALSE(wilcoxon_interval(std::vector<double>{7.0}, 0.5).has_value());
}

TEST(Wilcoxon, TenValuesUseTheNinthAverage) {
  std::vector<double> values;
  for (int i = 1; i <= 10; ++i) values.push_back(i);
  const auto interval = wilcoxon_interval(values, 0.95);
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->level, 1.0 - 2.0 * 25 / 1024);
  EXPECT_EQ(interval->estimate, 5.5);
  // Averages of 1..10 in order: 1, 1.5, 2, 2, 2.5, 2.5, 3, 3, 3, ...
  EXPECT_EQ(interval->lower, 3.0);
  EXPECT_EQ(interval->upper, 8.0);
}

TEST(Wilcoxon, RefusesBadInput) {
  const std::vector<double> infinite = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_THROW(wilcoxon_interval({}, 0.9), std::invalid_argument);
  EXPECT_THROW(wilcoxon_interval(infinite, 0.9), std::invalid_argument);
  EXPECT_THROW(wilcoxon_interval(std::vector<double>(1001), 0.9), std::invalid_argument);
  EXPECT_THROW(wilcoxon_interval(std::vector<double>{1, 2}, 1.0), std::invalid_argument);
  EXPECT_THROW(signed_rank_lower_tail(0, 0), std::invalid_argument);
  EXPECT_THROW(signed_rank_lower_tail(0, 1001), std::invalid_argument);
}

TEST(WilcoxonStatistical, CoversAsStatedAndIsNarrowerThanOrderStatistics) {
  constexpr int kSeeds = 4000;
  int n_below = 0, n_above = 0;
  double width = 0.0, order_width = 0.0, level = 0.0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    testing::Uniform random(seed);
    std::vector<double> values(15);
    for (double& x : values) {
      x = std::sqrt(-2.0 * std::log(1.0 - random.next())) * std::cos(6.283185307 * random.next());
    }
    const Interval interval = *wilcoxon_interval(values, 0.9);
    n_below += interval.upper < 0.0;
    n_above += interval.lower > 0.0;
    level = interval.level;
    width += interval.upper - interval.lower;
    const Interval order = *median_interval(values, 0.9);
    order_width += order.upper - order.lower;
  }
  // Each end misses as often as its exact level says, within 4.5 deviations.
  const double expected = kSeeds * 0.5 * (1.0 - level);
  EXPECT_NEAR(n_below, expected, 4.5 * std::sqrt(expected));
  EXPECT_NEAR(n_above, expected, 4.5 * std::sqrt(expected));
  EXPECT_LT(width, 0.95 * order_width);
}

}  // namespace
}  // namespace specbench::stats
