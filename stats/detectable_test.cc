#include "stats/detectable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "stats/summary.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

std::vector<double> normals(std::uint64_t seed, int n, double deviation) {
  testing::Uniform random(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& x : values) {
    x = deviation * std::sqrt(-2.0 * std::log(1.0 - random.next())) *
        std::cos(6.283185307 * random.next());
  }
  return values;
}

// The bound of ten is their least, z with P(all ten above z) = .9: z = -2.3087 deviations.
// Smoothing widens the resampled law by about a fifth.
TEST(Detectable, ComesNearTheNormalLawsOwnShift) {
  const std::vector<double> deciles = {-1.6449, -1.0364, -0.6745, -0.3853, -0.1257,
                                       0.1257,  0.3853,  0.6745,  1.0364,  1.6449};
  const DetectablePlan plan{.miss = 0.002, .threshold = 3.0, .power = 0.9};
  const double shift = *min_detectable_shift(deciles, plan);
  EXPECT_GT(shift, 3.0 + 2.3);
  EXPECT_LT(shift, 3.0 + 1.2 * 2.3087);
  DetectablePlan certain = plan, doubtful = plan;
  certain.power = 0.99;
  doubtful.power = 0.5;
  EXPECT_GT(*min_detectable_shift(deciles, certain), shift);
  EXPECT_LT(*min_detectable_shift(deciles, doubtful), shift);
}

TEST(Detectable, ShiftsAndScalesWithTheValues) {
  const std::vector<double> values = normals(3, 20, 0.02);
  const DetectablePlan plan{.miss = 0.003, .threshold = 0.02, .power = 0.9};
  const double shift = *min_detectable_shift(values, plan);
  std::vector<double> moved = values, doubled = values;
  for (double& x : moved) x += 5.0;
  for (double& x : doubled) x *= 2.0;
  EXPECT_NEAR(*min_detectable_shift(moved, plan), shift, 1e-12);
  EXPECT_NEAR(*min_detectable_shift(doubled, plan) - 0.02, 2.0 * (shift - 0.02), 1e-12);
  EXPECT_EQ(*min_detectable_shift(values, plan), shift);  // same seed, same answer
  EXPECT_DOUBLE_EQ(*min_detectable_shift(std::vector<double>(20, 1.0), plan), 0.02);
}

TEST(Detectable, EmptyWhereThereIsNoBound) {
  const DetectablePlan plan{.miss = 5e-4};
  EXPECT_FALSE(min_detectable_shift(normals(1, 10, 1.0), plan).has_value());
  EXPECT_TRUE(min_detectable_shift(normals(1, 11, 1.0), plan).has_value());
}

TEST(Detectable, RefusesBadInput) {
  const std::vector<double> values = normals(1, 20, 1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(min_detectable_shift({}, {}), std::invalid_argument);
  EXPECT_THROW(min_detectable_shift(std::vector<double>{1.0, nan}, {}), std::invalid_argument);
  EXPECT_THROW(min_detectable_shift(values, {.miss = 0.5}), std::invalid_argument);
  EXPECT_THROW(min_detectable_shift(values, {.threshold = nan}), std::invalid_argument);
  EXPECT_THROW(min_detectable_shift(values, {.power = 1.0}), std::invalid_argument);
  EXPECT_THROW(min_detectable_shift(values, {.n_resamples = 0}), std::invalid_argument);
}

// The share of fresh samples of the same law in which the promised shift is found.
double share_found(int n, double miss) {
  constexpr std::uint64_t kSeeds = 1000;
  int n_found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const DetectablePlan plan{.miss = miss, .threshold = 0.02, .power = 0.9, .n_resamples = 400};
    const double shift = *min_detectable_shift(normals(2 * seed, n, 0.023), plan);
    std::vector<double> fresh = normals(2 * seed + 1, n, 0.023);
    for (double& x : fresh) x += shift;
    n_found += median_interval(fresh, 1.0 - 2.0 * plan.miss)->lower > plan.threshold;
  }
  return n_found / static_cast<double>(kSeeds);
}

// An estimate from few values is itself uncertain: the share stays within .08 of the power.
TEST(DetectableStatistical, ThePromisedShiftIsFoundAboutAsOftenAsPromised) {
  EXPECT_NEAR(share_found(10, 0.002), 0.9, 0.08);
  EXPECT_NEAR(share_found(20, 0.003), 0.9, 0.08);
  EXPECT_NEAR(share_found(40, 0.005), 0.9, 0.08);
}

}  // namespace
}  // namespace specbench::stats
