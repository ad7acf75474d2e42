#include "harness/stopping.h"

#include <gtest/gtest.h>

namespace specbench::harness {
namespace {

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
}

TEST(WarmupRule, RunsTheMinimumEvenIfSettled) {
  WarmupRule rule(3, 8, 0.02);
  rule.add_window({100});
  EXPECT_FALSE(rule.has_converged());  // one window cannot agree with itself
  rule.add_window({100});
  EXPECT_TRUE(rule.has_converged());
  EXPECT_FALSE(rule.is_over());
  rule.add_window({100});
  EXPECT_TRUE(rule.is_over());
}

TEST(WarmupRule, GoesOnUntilTwoWindowsAgree) {
  WarmupRule rule(3, 8, 0.02);
  for (const double window : {200.0, 150.0, 120.0, 110.0}) {
    rule.add_window({window});
    EXPECT_FALSE(rule.is_over());
  }
  rule.add_window({108});  // 2/110 = 1.8 %
  EXPECT_TRUE(rule.is_over());
  EXPECT_TRUE(rule.has_converged());
}

TEST(WarmupRule, TheToleranceItselfIsNotEnough) {
  WarmupRule rule(3, 8, 0.02);
  rule.add_window({100});
  rule.add_window({98});  // exactly 2 %
  EXPECT_FALSE(rule.has_converged());
  rule.add_window({96.1});  // 1.9/98 = 1.94 %
  EXPECT_TRUE(rule.has_converged());
}

TEST(WarmupRule, EveryArmMustSettle) {
  WarmupRule rule(3, 8, 0.02);
  rule.add_window({100, 50});
  rule.add_window({100, 40});
  rule.add_window({100, 30});
  EXPECT_FALSE(rule.is_over());
  rule.add_window({100, 30});
  EXPECT_TRUE(rule.is_over());
}

TEST(WarmupRule, GivesUpAtTheMaximum) {
  WarmupRule rule(3, 4, 0.02);
  for (const double window : {1.0, 2.0, 1.0, 2.0}) rule.add_window({window});
  EXPECT_TRUE(rule.is_over());
  EXPECT_FALSE(rule.has_converged());
}

TEST(WarmupRule, AgreementIsOfTheLastTwoWindows) {
  WarmupRule rule(3, 8, 0.02);
  for (const double window : {100.0, 100.0, 150.0}) rule.add_window({window});
  EXPECT_FALSE(rule.is_over());
}

}  // namespace
}  // namespace specbench::harness
