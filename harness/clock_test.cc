#include "harness/clock.h"

#include <gtest/gtest.h>

namespace specbench::harness {
namespace {

TEST(Clock, SteadyNeverGoesBack) {
  SteadyClock clock;
  std::int64_t last = clock.now_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, FakeFollowsItsScriptAndAdvances) {
  FakeClock clock({10, 1});
  EXPECT_EQ(clock.now_ns(), 10);
  EXPECT_EQ(clock.now_ns(), 11);
  clock.advance(100);
  EXPECT_EQ(clock.now_ns(), 121);
  EXPECT_EQ(clock.n_reads(), 3);
}

TEST(Clock, FactsOfScriptedClocks) {
  FakeClock coarse({0, 0, 0, 1000});  // moves every fourth reading
  const ClockFacts facts = measure_clock(coarse);
  EXPECT_EQ(facts.resolution_ns, 1000);
  EXPECT_NEAR(facts.overhead_ns, 250, 0.1);
  FakeClock stopped;
  EXPECT_EQ(measure_clock(stopped).resolution_ns, 0);
  EXPECT_EQ(measure_clock(stopped).overhead_ns, 0);
}

TEST(Clock, FactsOfTheRealOne) {
  SteadyClock clock;
  const ClockFacts facts = measure_clock(clock);
  EXPECT_GT(facts.resolution_ns, 0);
  EXPECT_GT(facts.overhead_ns, 0);
}

}  // namespace
}  // namespace specbench::harness
