#include "harness/phase_timer.h"

#include <gtest/gtest.h>

#include <numeric>

namespace specbench::harness {
namespace {

std::vector<std::int64_t> to_vector(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

TEST(PhaseTimer, PhasesSumToTheWallTime) {
  FakeClock clock;
  PhaseTimer timer(clock, 3);
  clock.advance(7);  // before the start: counts nowhere
  timer.start();
  clock.advance(5);
  timer.enter(1);
  clock.advance(10);
  timer.enter(2);
  clock.advance(100);
  timer.enter(1);
  clock.advance(1000);
  timer.stop();
  EXPECT_EQ(to_vector(timer.phase_ns()), (std::vector<std::int64_t>{5, 1010, 100}));
  EXPECT_EQ(timer.wall_ns(), 1115);
  EXPECT_EQ(clock.n_reads(), 5);  // start, three phases, stop
}

TEST(PhaseTimer, SumHoldsWhenReadingsThemselvesTakeTime) {
  FakeClock clock({3, 1, 4, 1, 5, 9, 2, 6});
  PhaseTimer timer(clock, 2, 4);
  timer.start();
  timer.enter(1);
  timer.delivered(2);
  timer.enter(0);
  timer.delivered(1);
  timer.stop();
  const auto phases = timer.phase_ns();
  EXPECT_EQ(std::accumulate(phases.begin(), phases.end(), std::int64_t{0}), timer.wall_ns());
}

TEST(PhaseTimer, FirstTokenIsMarkedOnce) {
  FakeClock clock;
  PhaseTimer timer(clock, 1);
  timer.start();
  EXPECT_FALSE(timer.first_token_ns().has_value());
  clock.advance(40);
  timer.first_token();
  clock.advance(60);
  timer.first_token();
  timer.stop();
  EXPECT_EQ(timer.first_token_ns(), 40);
  EXPECT_EQ(timer.decode_ns(), 60);
  EXPECT_EQ(clock.n_reads(), 3);
}

TEST(PhaseTimer, WithoutAFirstTokenThereIsNoDecodeTime) {
  FakeClock clock;
  PhaseTimer timer(clock, 1);
  timer.start();
  clock.advance(40);
  timer.stop();
  EXPECT_EQ(timer.decode_ns(), std::nullopt);
}

TEST(PhaseTimer, KeepsDeliveries) {
  FakeClock clock;
  PhaseTimer timer(clock, 1, 2);
  timer.start();
  clock.advance(10);
  timer.delivered(1);
  clock.advance(5);
  timer.delivered(4);
  clock.advance(5);
  timer.delivered(3);  // no room
  timer.stop();
  EXPECT_EQ(timer.first_token_ns(), 10);
  EXPECT_EQ(to_vector(timer.chunk_end_ns()), (std::vector<std::int64_t>{10, 15}));
  EXPECT_EQ(std::vector<std::int32_t>(timer.chunk_tokens().begin(), timer.chunk_tokens().end()),
            (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(timer.n_chunks_lost(), 1);
}

TEST(PhaseTimer, DeliveriesThatAreNotKeptCostNoReading) {
  FakeClock clock;
  PhaseTimer timer(clock, 1);
  timer.start();
  clock.advance(10);
  timer.delivered(1);
  timer.delivered(1);
  timer.delivered(1);
  timer.stop();
  EXPECT_EQ(timer.first_token_ns(), 10);
  EXPECT_EQ(clock.n_reads(), 3);
  EXPECT_EQ(timer.n_chunks_lost(), 0);
}

TEST(PhaseTimer, StartForgetsTheRunBefore) {
  FakeClock clock;
  PhaseTimer timer(clock, 2, 1);
  timer.start();
  timer.enter(1);
  clock.advance(10);
  timer.delivered(1);
  timer.delivered(1);
  timer.stop();
  timer.start();
  clock.advance(3);
  timer.stop();
  EXPECT_EQ(to_vector(timer.phase_ns()), (std::vector<std::int64_t>{3, 0}));
  EXPECT_EQ(timer.wall_ns(), 3);
  EXPECT_FALSE(timer.first_token_ns().has_value());
  EXPECT_TRUE(timer.chunk_end_ns().empty());
  EXPECT_EQ(timer.n_chunks_lost(), 0);
}

}  // namespace
}  // namespace specbench::harness
