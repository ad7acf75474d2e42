#include "harness/yardstick.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace specbench::harness {
namespace {

TEST(Yardstick, ReadsEveryWordOfItsBuffer) {
  // The same buffer, added up by a plain loop: a part left out or read twice changes the xor.
  const SharedBuffer buffer(3 * 4096 + 100, 1);
  EXPECT_EQ(buffer.n_bytes(), 3u * 4096);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < buffer.n_bytes() / 8; ++i) sum ^= buffer.part(0)[i];
  ASSERT_NE(sum, 0u);
  FakeClock clock;
  PhaseTimer timer(clock, 1);
  Yardstick yardstick("yardstick", 3 * 4096, 1, 3);
  EXPECT_EQ(yardstick.bytes_a_run(), 9u * 4096);
  EXPECT_EQ(yardstick.checksum(), 0u);  // nothing read yet
  const Outcome outcome = yardstick.run(0, timer);
  EXPECT_EQ(yardstick.checksum(), sum);
  EXPECT_EQ(outcome.n_tokens, 0);
  EXPECT_EQ(outcome.fingerprint, kNoTokens.fingerprint);
  EXPECT_EQ(clock.n_reads(), 0);  // takes no time itself
}

TEST(StreamingRead, AllWalksReadTheSame) {
  const SharedBuffer buffer(64 * 4096, 2);
  for (const int thread : {0, 1}) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buffer.part_bytes() / 8; ++i) sum ^= buffer.part(thread)[i];
    for (const int n_streams : {1, 2, 4}) {
      EXPECT_EQ(read_stream(buffer.part(thread), buffer.part_bytes(), {n_streams, 0}), sum);
      EXPECT_EQ(read_stream(buffer.part(thread), buffer.part_bytes(), {n_streams, 1024}), sum);
    }
  }
}

TEST(Yardstick, TeamsReadTheWholeBufferToo) {
  FakeClock clock;
  PhaseTimer timer(clock, 1);
  Yardstick one("one", 16 * 4096, 1), two("two", 16 * 4096, 2);
  one.run(0, timer);
  two.run(5, timer);
  EXPECT_EQ(one.checksum(), two.checksum());
}

TEST(Yardstick, IsAnArmLikeTheOthers) {
  Yardstick yardstick("yardstick", 1 << 20, 1, 2);
  SteadyClock clock;
  const std::atomic<bool> stop{false};
  Plan plan;
  plan.n_cases = 2;
  plan.protocol = Protocol::kGate;
  const Series series = measure(std::vector<Subject*>{&yardstick}, plan, clock, {}, stop);
  EXPECT_FALSE(series.is_refused());
  EXPECT_EQ(series.blocks_done, 5);
  // 2 MiB at 2 TB/s would take 1 us: less means that nothing was read.
  for (const Sample& sample : series.samples) EXPECT_GT(sample.wall_ns, 1000);
}

TEST(Yardstick, BadRequestsAreRefused) {
  EXPECT_THROW(Yardstick("y", 1 << 20, 0), std::invalid_argument);
  EXPECT_THROW(Yardstick("y", 4096, 2), std::invalid_argument);
  EXPECT_THROW(Yardstick("y", 1 << 20, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::harness
