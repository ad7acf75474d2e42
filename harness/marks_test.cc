#include "harness/marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "harness/scripted_subject_test_support.h"

namespace specbench::harness {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A machine of one core whose counters follow the fake clock, and trouble on demand.
class PlantedWatch final : public Watch {
 public:
  explicit PlantedWatch(FakeClock& clock) : Watch(WatchRules{}), clock_(clock) {}
  WatchReading read() override {
    if (on_read) on_read();
    WatchReading reading;
    reading.at_ns = clock_.time_ns();
    reading.own_cpu_ns = reading.at_ns;
    reading.total_ticks = reading.at_ns / reading.tick_ns;
    reading.busy_ticks = reading.at_ns / reading.tick_ns;
    reading.steal_ticks = 0;
    if (disturb) disturb(reading, n_reads_);
    ++n_reads_;
    return reading;
  }
  std::function<void()> on_read;
  std::function<void(WatchReading&, int n_read)> disturb;
  int n_reads() const { return n_reads_; }

 private:
  FakeClock& clock_;
  int n_reads_ = 0;
};

// Steals a share of the time from `begin` to `end`; the core's own work is less by as much.
std::function<void(WatchReading&, int)> thief(std::int64_t begin, std::int64_t end,
                                              std::int64_t percent = 10) {
  return [=](WatchReading& reading, int) {
    const std::int64_t stolen_ns = (std::clamp(reading.at_ns, begin, end) - begin) / 100 * percent;
    reading.steal_ticks = stolen_ns / reading.tick_ns;
    *reading.busy_ticks -= *reading.steal_ticks;
    reading.own_cpu_ns -= stolen_ns;
  };
}

class Marking : public testing::Test {
 protected:
  // Two cases of so long on one arm.
  Series run(std::int64_t run_ns, Watch* watch) {
    ScriptedSubject arm("arm", clock_, {.phase_ns = {{run_ns}, {run_ns}}});
    Plan plan;
    plan.n_cases = 2;
    plan.n_warmups = n_warmups_;
    plan.n_blocks = n_blocks_;
    return measure(std::vector<Subject*>{&arm}, plan, clock_, {}, stop_, watch);
  }
  // Marks of the measured samples.
  static std::vector<std::string> measured(const Series& series) {
    std::vector<std::string> marks;
    for (const Sample& sample : series.samples) {
      if (!sample.is_warmup) marks.push_back(sample.mark);
    }
    return marks;
  }

  FakeClock clock_;
  PlantedWatch watch_{clock_};
  std::atomic<bool> stop_{false};
  int n_warmups_ = 3;
  int n_blocks_ = 5;
};

TEST_F(Marking, WithoutAWatchNothingIsMarked) {
  const Series series = run(20 * kMs, nullptr);
  EXPECT_FALSE(series.was_watched);
  EXPECT_EQ(series.marked_share(), 0);
}

TEST_F(Marking, ACalmMachineLeavesSamplesClean) {
  for (const std::int64_t run_ns : {20 * kMs, 150 * kMs, 2000 * kMs}) {
    const Series series = run(run_ns, &watch_);
    EXPECT_TRUE(series.was_watched);
    EXPECT_EQ(measured(series), std::vector<std::string>(10));
    EXPECT_EQ(series.marked_share(), 0);
    EXPECT_FALSE(is_void_by_marks(series));
  }
  EXPECT_EQ(watch_.n_reads(), 3 * 2 * 16);  // before and after each run
}

TEST_F(Marking, ReadingsLieOutsideTheTimedRegion) {
  std::vector<std::string> log;
  class Logging final : public Subject {
   public:
    explicit Logging(std::vector<std::string>& lines) : lines_(lines) {}
    const std::string& name() const override { return name_; }
    void prepare(int) override { lines_.emplace_back("prepare"); }
    void synchronize() override { lines_.emplace_back("synchronize"); }
    Outcome run(int, PhaseTimer&) override {
      lines_.emplace_back("run");
      return kNoTokens;
    }

   private:
    std::string name_ = "logging";
    std::vector<std::string>& lines_;
  } arm(log);
  clock_.on_read([&] { log.emplace_back("clock"); });
  watch_.on_read = [&] {
    log.emplace_back("watch");
    clock_.advance(kMs);  // were it timed, it would show
  };
  const Series series = measure(std::vector<Subject*>{&arm}, Plan{}, clock_, {}, stop_, &watch_);
  const std::vector<std::string> once{"prepare", "watch",       "synchronize", "clock",
                                      "run",     "synchronize", "clock",       "watch"};
  ASSERT_EQ(log.size(), once.size() * 8);
  for (std::size_t i = 0; i < log.size(); ++i) ASSERT_EQ(log[i], once[i % once.size()]) << i;
  for (const Sample& sample : series.samples) EXPECT_EQ(sample.wall_ns, 0);
}

// 16 runs of two readings; the 6 warm-ups make 12.
TEST_F(Marking, AnEventMarksItsRunAlone) {
  watch_.disturb = [](WatchReading& reading, int n_read) {
    reading.throttled.n_thermal = n_read >= 12 + 2 * 3 + 1 ? 1 : 0;  // within the fourth run
    reading.n_running = n_read == 12 + 8 || n_read == 12 + 9 ? 2 : 1;
  };
  const Series series = run(20 * kMs, &watch_);
  std::vector<std::string> expected(10);
  expected[3] = "thermal";
  expected[4] = "load";
  EXPECT_EQ(measured(series), expected);
  EXPECT_EQ(series.marked_share(), 0.2);
  EXPECT_FALSE(is_void_by_marks(series));  // above .2, not at
  EXPECT_TRUE(is_void_by_marks(series, 0.19));
}

TEST_F(Marking, AFrequencyIsHeldAgainstTheHighestSeen) {
  watch_.disturb = [](WatchReading& reading, int n_read) {
    reading.frequency_mhz = n_read == 3 ? 3500 : n_read >= 28 ? 2900 : 3000;
  };
  std::vector<std::string> expected(10);
  expected[8] = expected[9] = "frequency";  // 2900 is below .85 of 3500, 3000 is not
  EXPECT_EQ(measured(run(20 * kMs, &watch_)), expected);
}

TEST_F(Marking, TroubleOfTheWarmUpStaysThere) {
  // Warm-ups of 120 ms in all, too short for a share: judged at their end, not with the blocks.
  watch_.disturb = [](WatchReading& reading, int n_read) {
    reading.steal_ticks = std::min(n_read, 11);
  };
  const Series series = run(20 * kMs, &watch_);
  EXPECT_EQ(series.samples[0].mark, "steal");
  EXPECT_EQ(measured(series), std::vector<std::string>(10));
  // One long enough is no stretch for short blocks to be judged with.
  n_warmups_ = 8;
  watch_.disturb = thief(120 * kMs + 200 * kMs, 120 * kMs + 500 * kMs);
  const Series longer = run(20 * kMs, &watch_);
  EXPECT_EQ(longer.samples[0].mark, "steal");
  EXPECT_EQ(measured(longer), std::vector<std::string>(10));
}

TEST_F(Marking, MarksOfWarmUpsDoNotCount) {
  watch_.disturb = [](WatchReading& reading, int n_read) {
    reading.throttled.n_cgroup_throttled = std::min(n_read, 11);
  };
  const Series series = run(20 * kMs, &watch_);
  EXPECT_TRUE(std::all_of(series.samples.begin(), series.samples.begin() + 6,
                          [](const Sample& s) { return s.mark == "quota"; }));
  EXPECT_EQ(series.marked_share(), 0);
}

TEST_F(Marking, LongRunsAreJudgedOneByOne) {
  // Runs of 2 s: 6 warm-ups end at 12 s; the second measured run is robbed of 3 %, its block of
  // 1.5 %: too little to mark the run beside it.
  watch_.disturb = thief(14'000 * kMs, 16'000 * kMs, 3);
  std::vector<std::string> expected(10);
  expected[1] = "steal";
  EXPECT_EQ(measured(run(2000 * kMs, &watch_)), expected);
}

TEST_F(Marking, ABlockRobbedAsAWholeIsMarkedAsAWhole) {
  watch_.disturb = thief(14'000 * kMs, 16'000 * kMs, 10);
  std::vector<std::string> expected(10);
  expected[0] = expected[1] = "steal";
  EXPECT_EQ(measured(run(2000 * kMs, &watch_)), expected);
}

TEST_F(Marking, ShortRunsAreJudgedByTheirBlock) {
  // Blocks of 300 ms, 15 ticks a run; warm-ups end at 900 ms; the third block is robbed.
  watch_.disturb = thief(1500 * kMs, 1800 * kMs);
  std::vector<std::string> expected(10);
  expected[4] = expected[5] = "steal";
  EXPECT_EQ(measured(run(150 * kMs, &watch_)), expected);
}

TEST_F(Marking, BlocksTooShortForAShareAreJudgedTogether) {
  // Blocks of 40 ms: seven make 25 ticks. 14 blocks are two stretches, the second one robbed.
  n_blocks_ = 14;
  watch_.disturb = thief((120 + 280) * kMs, 10'000 * kMs);
  const std::vector<std::string> marks = measured(run(20 * kMs, &watch_));
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks[i], i < 14 ? "" : "steal") << i;
}

TEST_F(Marking, ARestIsJudgedWithTheStretchBeforeIt) {
  // Ten blocks of 40 ms: a stretch of seven, a rest of three, robbed.
  n_blocks_ = 10;
  watch_.disturb = [](WatchReading& reading, int) {
    const std::int64_t stolen = std::max<std::int64_t>(reading.at_ns - 400 * kMs, 0) / 2;
    reading.steal_ticks = stolen / reading.tick_ns;
  };
  const std::vector<std::string> marks = measured(run(20 * kMs, &watch_));
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks[i], i < 14 ? "" : "steal") << i;
}

TEST_F(Marking, AVeryShortMeasurementIsJudgedWhole) {
  watch_.disturb = [](WatchReading& reading, int) {
    reading.busy_ticks = 2 * *reading.total_ticks;  // another one as busy as we
  };
  EXPECT_EQ(measured(run(20 * kMs, &watch_)), std::vector<std::string>(10, "others"));
}

TEST_F(Marking, AnInterruptedMeasurementIsJudgedToo) {
  watch_.disturb = thief(0, 100'000 * kMs);
  ScriptedSubject arm("arm", clock_, {.phase_ns = {{150 * kMs}, {150 * kMs}}});
  Plan plan;
  plan.n_cases = 2;
  const Series series = measure(
      std::vector<Subject*>{&arm}, plan, clock_, [&](const Progress& p) { stop_ = p.n_done >= 9; },
      stop_, &watch_);
  ASSERT_EQ(series.samples.size(), 9u);
  for (const Sample& sample : series.samples) EXPECT_EQ(sample.mark, "steal");
  EXPECT_EQ(series.marked_share(), 1);
}

TEST(MarkedShare, OfNothingIsNothing) {
  Series series;
  EXPECT_EQ(series.marked_share(), 0);
  EXPECT_FALSE(is_void_by_marks(series));
  series.samples.resize(20);
  series.samples[0].mark = "load";
  EXPECT_EQ(series.marked_share(), 0.05);
  for (std::size_t i = 1; i < 4; ++i) series.samples[i].mark = "steal,others";
  EXPECT_FALSE(is_void_by_marks(series));
  series.samples[4].mark = "steal";
  EXPECT_TRUE(is_void_by_marks(series));
}

}  // namespace
}  // namespace specbench::harness
