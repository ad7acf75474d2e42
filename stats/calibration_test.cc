#include "stats/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "stats/test_support.h"

namespace specbench::stats {
namespace {

std::vector<double> uniforms(int n, std::uint64_t seed) {
  testing::Uniform random(seed);
  std::vector<double> p;
  for (int i = 0; i < n; ++i) p.push_back(random.next());
  return p;
}

TEST(Calibration, CountsByHand) {
  const std::vector<double> p = {0.0005, 0.2, 0.03, 0.005};
  const PValueTail tail = p_value_tail(p);
  EXPECT_EQ(tail.n, 4);
  EXPECT_EQ(tail.n_below_05, 3);
  EXPECT_EQ(tail.n_below_01, 2);
  EXPECT_EQ(tail.n_below_far, 1);
  EXPECT_NEAR(tail.excess, 0.8, 1e-15);  // F(.2) = 1
  PValueTail both = tail;
  both.merge(p_value_tail(std::vector<double>{1.0}));
  EXPECT_EQ(both.n, 5);
  EXPECT_NEAR(both.excess, 0.8, 1e-15);
}

TEST(Calibration, RefusesWhatIsNoPValue) {
  EXPECT_THROW((void)p_value_tail({}), std::invalid_argument);
  EXPECT_THROW((void)p_value_tail(std::vector<double>{1.5}), std::invalid_argument);
  EXPECT_THROW((void)p_value_tail(std::vector<double>{std::nan("")}), std::invalid_argument);
  EXPECT_THROW((void)are_too_small(PValueTail{1, 0, 0, 0, 0.0}, 0.0), std::invalid_argument);
}

TEST(Calibration, HonestAndConservativePValuesPass) {
  int n_flagged = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    n_flagged += are_too_small(p_value_tail(uniforms(2000, seed)), 1e-4);
  EXPECT_LE(n_flagged, 1);
  EXPECT_FALSE(are_too_small(p_value_tail(std::vector<double>(2000, 1.0)), 1e-4));
}

TEST(Calibration, PValuesThatPromiseTooMuchAreFlagged) {
  std::vector<double> squared = uniforms(2000, 1);
  for (double& p : squared) p *= p;
  EXPECT_TRUE(are_too_small(p_value_tail(squared), 1e-6));
  // Right in the middle, wrong far out: 30 of 2,000 below 1e-3 where 2 are due.
  std::vector<double> tailed = uniforms(2000, 2);
  for (std::size_t i = 0; i < 30; ++i) tailed[i] = 1e-4;
  const PValueTail tail = p_value_tail(tailed);
  EXPECT_LT(tail.excess, 0.06);
  EXPECT_TRUE(are_too_small(tail, 1e-6));
}

}  // namespace
}  // namespace specbench::stats
