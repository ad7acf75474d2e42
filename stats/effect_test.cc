#include "stats/effect.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(Effect, TotalVariationByHand) {
  EXPECT_DOUBLE_EQ(total_variation(std::vector<double>{0.5, 0.5}, std::vector<double>{0.8, 0.2}),
                   0.3);
  EXPECT_EQ(total_variation(std::vector<double>{1, 0}, std::vector<double>{0, 1}), 1.0);
  EXPECT_DOUBLE_EQ(total_variation_effect(Counts{60, 40}, std::vector<double>{0.5, 0.5}).plug_in,
                   0.1);
}

TEST(Effect, NoiseFloorMatchesTheSummedLaw) {
  const std::vector<double> law = {0.5, 0.25, 0.2, 0.05};
  for (const auto& row : golden::kExpectedTv) {
    EXPECT_LE(testing::relative_error(expected_plug_in_tv(law, row.k), row.value), 1e-11);
  }
  EXPECT_EQ(expected_plug_in_tv(std::vector<double>{1.0, 0.0}, 100), 0.0);
}

TEST(Effect, NoiseFloorFallsWithTheRootOfN) {
  const std::vector<double> law(1000, 0.001);
  const double floor = expected_plug_in_tv(law, 1'000'000);
  EXPECT_NEAR(expected_plug_in_tv(law, 4'000'000) / floor, 0.5, 1e-3);
  // sqrt(2 / pi) sqrt(n p (1 - p)) summed: half of 1000 x .798 x sqrt(999) / 1e6.
  EXPECT_NEAR(floor, 0.5 * 1000 * 0.79788 * std::sqrt(999.0) / 1e6, 1e-4 * floor + 1e-6);
}

TEST(Effect, RefusesBadInput) {
  const std::vector<double> law = {0.5, 0.5};
  EXPECT_THROW(total_variation(law, std::vector<double>{1.0}), std::invalid_argument);
  EXPECT_THROW(total_variation(law, std::vector<double>{0.5, 0.6}), std::invalid_argument);
  EXPECT_THROW(expected_plug_in_tv(law, 0), std::invalid_argument);
  EXPECT_THROW(total_variation_effect(Counts{0, 0}, law), std::invalid_argument);
  EXPECT_THROW(total_variation_effect(Counts{1}, law), std::invalid_argument);
  EXPECT_THROW(total_variation_effect(Counts{1, 1}, law, 1.0), std::invalid_argument);
}

TEST(EffectStatistical, BandHoldsACorrectSamplerAndNotAFaultyOne) {
  const std::vector<double> law = {0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05};
  const std::vector<double> faulty = {0.3, 0.3, 0.1, 0.1, 0.1, 0.05, 0.05};
  int n_inside = 0, n_faulty_inside = 0;
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    testing::Uniform random(seed);
    const auto fair = total_variation_effect(testing::draw_counts(random, law, 2000), law);
    const auto bent = total_variation_effect(testing::draw_counts(random, faulty, 2000), law);
    n_inside += fair.null_lower <= fair.plug_in && fair.plug_in <= fair.null_upper;
    n_faulty_inside += bent.plug_in <= bent.null_upper;
    sum += fair.plug_in / fair.null_mean;
  }
  EXPECT_GE(n_inside, 990 - 16);
  EXPECT_EQ(n_faulty_inside, 0);
  EXPECT_NEAR(sum / 1000, 1.0, 0.06);
}

}  // namespace
}  // namespace specbench::stats
