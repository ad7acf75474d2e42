#include "stats/bootstrap.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::Uniform;

// Four blocks of eight prompts; a prompt takes its own time, a block drifts, the candidate is
// `speedup` times faster.
std::vector<PairedSample> planted_samples(std::uint64_t seed, double speedup,
                                          std::size_t n_prompts = 8, std::size_t n_blocks = 4) {
  Uniform random(seed);
  std::vector<double> prompt_time(n_prompts);
  for (double& time : prompt_time) time = 1.0 + random.next();
  std::vector<PairedSample> samples;
  for (std::size_t block = 0; block < n_blocks; ++block) {
    const double drift = 1.0 + 0.3 * random.next();
    for (std::size_t prompt = 0; prompt < n_prompts; ++prompt) {
      const double noise = 1.0 + 0.04 * (random.next() - 0.5);
      samples.push_back({100 * prompt_time[prompt] * drift, 64.0,
                         100 * prompt_time[prompt] * drift * noise / speedup, 64.0});
    }
  }
  return samples;
}

TEST(Bootstrap, RatioOfSumsIsNotTheMeanOfRatios) {
  const std::vector<RatioCluster> clusters = {{10, 1}, {30, 9}};
  EXPECT_DOUBLE_EQ(ratio_bootstrap(clusters, 100, 1, 0.9).estimate, 4.0);
}

TEST(Bootstrap, SpeedupByHand) {
  const std::vector<PairedSample> samples = {{100, 10, 40, 12}, {300, 30, 160, 28}};
  // (40 / 200) / (40 / 400) = 2.
  EXPECT_DOUBLE_EQ(speedup_of(samples), 2.0);
  EXPECT_DOUBLE_EQ(speedup_bootstrap(samples, 2, 50, 1, 0.9).estimate, 2.0);
}

TEST(Bootstrap, SameSeedSameInterval) {
  const auto samples = planted_samples(1, 1.5);
  const Interval first = speedup_bootstrap(samples, 8, 2000, 42, 0.95);
  const Interval second = speedup_bootstrap(samples, 8, 2000, 42, 0.95);
  const Interval other = speedup_bootstrap(samples, 8, 2000, 43, 0.95);
  EXPECT_EQ(first.lower, second.lower);
  EXPECT_EQ(first.upper, second.upper);
  EXPECT_TRUE(first.lower != other.lower || first.upper != other.upper);
  EXPECT_NEAR(first.lower, other.lower, 0.2 * (first.upper - first.lower));
}

TEST(Bootstrap, IntervalHoldsTheEstimateAndGrowsWithTheLevel) {
  const auto samples = planted_samples(2, 1.5);
  const Interval narrow = speedup_bootstrap(samples, 8, 4000, 1, 0.5);
  const Interval wide = speedup_bootstrap(samples, 8, 4000, 1, 0.99);
  EXPECT_LE(wide.lower, narrow.lower);
  EXPECT_LE(narrow.lower, narrow.estimate);
  EXPECT_LE(narrow.estimate, narrow.upper);
  EXPECT_LE(narrow.upper, wide.upper);
  EXPECT_EQ(wide.level, 0.99);
}

TEST(Bootstrap, EqualArmsWithoutNoiseGiveExactlyOne) {
  const std::vector<PairedSample> samples(12, {100, 10, 100, 10});
  const Interval interval = speedup_bootstrap(samples, 3, 200, 1, 0.95);
  EXPECT_EQ(interval.lower, 1.0);
  EXPECT_EQ(interval.upper, 1.0);
}

TEST(Bootstrap, DriftCommonToBothArmsCancels) {
  // Blocks differ by 30 %, the ratio inside a block by 4 %.
  const Interval interval = speedup_bootstrap(planted_samples(3, 1.5), 8, 4000, 1, 0.99);
  EXPECT_LT(interval.upper / interval.lower, 1.04);
  EXPECT_LT(interval.lower, 1.5);
  EXPECT_GT(interval.upper, 1.5);
}

TEST(Bootstrap, LogRatioOfBlocks) {
  const std::vector<double> blocks = {std::log(1.4), std::log(1.5), std::log(1.6), std::log(8.0)};
  const Interval by_mean = log_ratio_block_bootstrap(blocks, 2000, 1, 0.9);
  EXPECT_DOUBLE_EQ(by_mean.estimate, std::pow(1.4 * 1.5 * 1.6 * 8.0, 0.25));
  const Interval by_median = median_log_ratio_block_bootstrap(blocks, 2000, 1, 0.9);
  EXPECT_NEAR(by_median.estimate, std::sqrt(1.5 * 1.6), 1e-12);
  EXPECT_LE(by_mean.lower, by_mean.estimate);
  EXPECT_LE(by_median.lower, by_median.estimate);
  EXPECT_GE(by_mean.lower, 1.4 - 1e-12);
  EXPECT_LE(by_mean.upper, 8.0 + 1e-12);
}

TEST(Bootstrap, RefusesBadInput) {
  const std::vector<RatioCluster> good = {{1, 1}};
  EXPECT_THROW(ratio_bootstrap({}, 10, 1, 0.9), std::invalid_argument);
  EXPECT_THROW(ratio_bootstrap(std::vector<RatioCluster>{{1, 0}}, 10, 1, 0.9),
               std::invalid_argument);
  EXPECT_THROW(ratio_bootstrap(good, 0, 1, 0.9), std::invalid_argument);
  EXPECT_THROW(ratio_bootstrap(good, 10, 1, 1.0), std::invalid_argument);
  EXPECT_THROW(log_ratio_block_bootstrap({}, 10, 1, 0.9), std::invalid_argument);
  EXPECT_THROW(median_log_ratio_block_bootstrap(std::vector<double>{std::nan("")}, 10, 1, 0.9),
               std::invalid_argument);
  const std::vector<PairedSample> samples(6, {1, 1, 1, 1});
  EXPECT_THROW(speedup_bootstrap(samples, 4, 10, 1, 0.9), std::invalid_argument);
  EXPECT_THROW(speedup_bootstrap(samples, 0, 10, 1, 0.9), std::invalid_argument);
  EXPECT_THROW(speedup_of({}), std::invalid_argument);
  EXPECT_THROW(speedup_of(std::vector<PairedSample>{{1, 1, 0, 1}}), std::invalid_argument);
}

TEST(BootstrapStatistical, CoversTheTruthAndSeesAPlantedSlowdown) {
  int n_covered = 0, n_seen = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Interval fair = speedup_bootstrap(planted_samples(seed, 1.0, 20, 8), 20, 500, seed, 0.95);
    n_covered += fair.lower <= 1.0 && 1.0 <= fair.upper;
    const Interval slow =
        speedup_bootstrap(planted_samples(seed, 0.98, 20, 8), 20, 500, seed, 0.95);
    n_seen += slow.upper < 1.0;
  }
  EXPECT_GE(n_covered, 285 - 19);  // 95 % less five standard deviations
  EXPECT_GE(n_seen, 295);
}

}  // namespace
}  // namespace specbench::stats
