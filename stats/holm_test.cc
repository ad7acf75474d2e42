#include "stats/holm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "stats/test_support.h"

namespace specbench::stats {
namespace {

TEST(Holm, ByHand) {
  // Sorted .01, .02, .03, .04 times 4, 3, 2, 1 = .04, .06, .06, .04; then the running maximum.
  const std::vector<double> adjusted = holm_adjust(std::vector<double>{0.03, 0.01, 0.04, 0.02});
  ASSERT_EQ(adjusted.size(), 4u);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.06);
  EXPECT_EQ(holm_reject(std::vector<double>{0.03, 0.01, 0.04, 0.02}, 0.05),
            (std::vector<bool>{false, true, false, false}));
}

TEST(Holm, IsBetweenRawAndBonferroni) {
  testing::Uniform random(1);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> p_values(1 + static_cast<std::size_t>(random.next() * 30));
    for (double& p : p_values) p = random.next();
    const std::vector<double> adjusted = holm_adjust(p_values);
    for (std::size_t i = 0; i < p_values.size(); ++i) {
      EXPECT_GE(adjusted[i], p_values[i]);
      EXPECT_LE(adjusted[i], std::min(1.0, p_values[i] * static_cast<double>(p_values.size())));
      for (std::size_t j = 0; j < i; ++j) {
        if (p_values[i] < p_values[j]) {
          EXPECT_LE(adjusted[i], adjusted[j]);
        }
      }
    }
  }
}

TEST(Holm, EdgesAndBadInput) {
  EXPECT_TRUE(holm_adjust({}).empty());
  EXPECT_EQ(holm_adjust(std::vector<double>{0.7})[0], 0.7);
  EXPECT_EQ(holm_adjust(std::vector<double>{0.0, 1.0})[0], 0.0);
  EXPECT_THROW(holm_adjust(std::vector<double>{std::nan("")}), std::invalid_argument);
  EXPECT_THROW(holm_adjust(std::vector<double>{1.1}), std::invalid_argument);
  EXPECT_THROW(holm_reject(std::vector<double>{0.1}, 0.0), std::invalid_argument);
}

TEST(HolmStatistical, FamilyErrorHolds) {
  int n_families_with_error = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    testing::Uniform random(seed);
    std::vector<double> p_values(20);
    for (double& p : p_values) p = random.next();
    for (const bool is_rejected : holm_reject(p_values, 0.05)) {
      if (!is_rejected) continue;
      ++n_families_with_error;
      break;
    }
  }
  EXPECT_LE(n_families_with_error, 100 + 49);  // 5 % and five standard deviations
  EXPECT_GE(n_families_with_error, 40);
}

}  // namespace
}  // namespace specbench::stats
