#include "harness/watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <functional>

#include "harness/clock.h"

namespace specbench::harness {
namespace {

namespace fs = std::filesystem;

// One second on four cores with two threads at work: nothing to object to.
struct Second {
  WatchReading before;
  WatchReading after;
};
Second calm() {
  Second second;
  second.before.at_ns = 5'000'000'000;
  second.before.own_cpu_ns = 1'000'000'000;
  second.before.n_preempted = 100;
  second.before.total_ticks = 40'000;
  second.before.busy_ticks = 10'000;
  second.before.steal_ticks = 50;
  second.before.n_cores = 4;
  second.before.n_running = 3;
  second.before.frequency_mhz = 3000;
  second.before.throttled = {7, 20, 500};
  second.after = second.before;
  second.after.at_ns += 1'000'000'000;
  second.after.own_cpu_ns += 2'000'000'000;
  second.after.n_preempted += 10;
  *second.after.total_ticks += 400;
  *second.after.busy_ticks += 210;
  *second.after.steal_ticks += 2;
  return second;
}

WatchRules two_threads() {
  WatchRules rules;
  rules.n_threads = 2;
  return rules;
}

Marks events(const std::function<void(Second&)>& disturb) {
  Second second = calm();
  disturb(second);
  return judge_events(second.before, second.after, 3000, two_threads());
}

Marks shares(const std::function<void(Second&)>& disturb, const WatchRules& rules = two_threads()) {
  Second second = calm();
  disturb(second);
  return judge_shares(second.before, second.after, rules);
}

TEST(WatchRules, ACalmSecondHasNoMarks) {
  EXPECT_EQ(events([](Second&) {}), Marks{});
  EXPECT_EQ(shares([](Second&) {}), Marks{});
}

TEST(WatchRules, LoadAboveTheCoresAtBothEnds) {
  EXPECT_EQ(events([](Second& s) { s.before.n_running = s.after.n_running = 5; }), Marks{"load"});
  EXPECT_EQ(events([](Second& s) { s.before.n_running = s.after.n_running = 4; }), Marks{});
  EXPECT_EQ(events([](Second& s) { s.after.n_running = 50; }), Marks{});
}

TEST(WatchRules, Preemption) {  // 100 a second and thread: 200, but 3 at least
  EXPECT_EQ(events([](Second& s) { s.after.n_preempted = 301; }), Marks{"preempted"});
  EXPECT_EQ(events([](Second& s) { s.after.n_preempted = 300; }), Marks{});
  const auto in_ms = [](std::int64_t ms, std::int64_t n) {
    return events([ms, n](Second& s) {
      s.after.at_ns = s.before.at_ns + ms * 1'000'000;
      s.after.n_preempted = s.before.n_preempted + n;
    });
  };
  EXPECT_EQ(in_ms(20, 4), Marks{});
  EXPECT_EQ(in_ms(20, 5), Marks{"preempted"});
  EXPECT_EQ(in_ms(1, 3), Marks{});
  EXPECT_EQ(in_ms(1, 4), Marks{"preempted"});
}

TEST(WatchRules, TimeInLineForACoreCountsBeforeSwitches) {  // 10 % of a second
  const auto waited = [](std::optional<std::int64_t> before, std::optional<std::int64_t> after) {
    return events([=](Second& s) {
      s.after.n_preempted += 1000;  // of microseconds each
      s.before.waited_ns = before;
      s.after.waited_ns = after;
    });
  };
  EXPECT_EQ(waited(7'000, 100'006'000), Marks{});
  EXPECT_EQ(waited(7'000, 100'008'000), Marks{"preempted"});
  EXPECT_EQ(waited({}, 1), Marks{"preempted"});  // not known at one end: the switches tell
  EXPECT_EQ(waited(9'000, 8'000), Marks{"preempted"});
}

TEST(WatchRules, ThrottlingOfEitherKind) {
  EXPECT_EQ(events([](Second& s) { s.after.throttled.n_thermal = 8; }), Marks{"thermal"});
  EXPECT_EQ(events([](Second& s) { s.after.throttled.n_cgroup_throttled = 21; }), Marks{"quota"});
  EXPECT_EQ(events([](Second& s) { s.after.throttled.n_cgroup_periods = 600; }), Marks{});
  EXPECT_EQ(events([](Second& s) { s.after.throttled.n_thermal = 6; }), Marks{});  // went back
}

TEST(WatchRules, AFrequencyThatDropped) {
  const auto at = [](double before, double after) {
    return events([=](Second& s) {
      s.before.frequency_mhz = before;
      s.after.frequency_mhz = after;
    });
  };
  EXPECT_EQ(at(2500, 2549), Marks{"frequency"});  // below .85 of 3000
  EXPECT_EQ(at(2550, 2550), Marks{});
  EXPECT_EQ(at(1000, 3000), Marks{});  // it was only at rest before
}

TEST(WatchRules, StolenTime) {  // 2 % of 400 ticks are 8, and one for rounding
  EXPECT_EQ(shares([](Second& s) { s.after.steal_ticks = 60; }), Marks{"steal"});
  EXPECT_EQ(shares([](Second& s) { s.after.steal_ticks = 59; }), Marks{});
}

TEST(WatchRules, OthersBeyondTheFreeCores) {
  // 100 ticks a core: 200 are ours, 2 cores are free; 4 ticks may be rounding, 25 are allowed.
  EXPECT_EQ(shares([](Second& s) { s.after.busy_ticks = 10'430; }), Marks{"others"});
  EXPECT_EQ(shares([](Second& s) { s.after.busy_ticks = 10'428; }), Marks{});
  WatchRules all_cores = two_threads();
  all_cores.n_threads = 4;
  EXPECT_EQ(shares([](Second& s) { s.after.busy_ticks = 10'230; }, all_cores), Marks{"others"});
  EXPECT_EQ(shares([](Second& s) { s.after.busy_ticks = 10'228; }, all_cores), Marks{});
  WatchRules more_threads_than_cores = two_threads();
  more_threads_than_cores.n_threads = 8;
  EXPECT_EQ(shares([](Second& s) { s.after.busy_ticks = 10'230; }, more_threads_than_cores),
            Marks{"others"});
}

TEST(WatchRules, SeveralReasonsInAFixedOrder) {
  EXPECT_EQ(events([](Second& s) {
              s.before.n_running = s.after.n_running = 9;
              s.after.n_preempted += 1000;
              ++*s.after.throttled.n_thermal;
              ++*s.after.throttled.n_cgroup_throttled;
              s.before.frequency_mhz = s.after.frequency_mhz = 1000;
            }),
            (Marks{"load", "preempted", "thermal", "quota", "frequency"}));
  EXPECT_EQ(shares([](Second& s) {
              *s.after.steal_ticks += 100;
              *s.after.busy_ticks += 300;
            }),
            (Marks{"steal", "others"}));
}

TEST(WatchRules, AbsentFactsAccuseNobody) {
  Second second;
  second.after.at_ns = 1'000'000'000;
  EXPECT_EQ(judge_events(second.before, second.after, 3000, WatchRules{}), Marks{});
  EXPECT_EQ(judge_shares(second.before, second.after, WatchRules{}), Marks{});
  EXPECT_FALSE(has_enough_ticks(second.before, second.after, WatchRules{}));
}

TEST(WatchRules, TicksMustBeEnoughForAShare) {
  Second second = calm();
  second.after.total_ticks = *second.before.total_ticks + 100;  // 25 a core
  EXPECT_TRUE(has_enough_ticks(second.before, second.after, two_threads()));
  --*second.after.total_ticks;
  EXPECT_FALSE(has_enough_ticks(second.before, second.after, two_threads()));
}

TEST(MachineWatch, ReadsAPlantedMachine) {
  const fs::path root = fs::temp_directory_path() / ("specbench_watch_" + std::to_string(getpid()));
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  write("proc/stat", "cpu  100 5 50 800 20 1 4 30 0 0\ncpu0 1 2\ncpu1 1 2\ncpu2 1 2\nintr 7\n");
  write("proc/loadavg", "1.25 0.50 0.10 6/300 1234\n");
  write("proc/self/cgroup", "0::/a\n");
  write("sys/fs/cgroup/a/cpu.stat", "usage_usec 1\nnr_periods 40\nnr_throttled 4\n");
  write("sys/fs/cgroup/cpu.stat", "usage_usec 1\n");  // the root counts none
  for (int core = 0; core < 1024; ++core) {
    if (core > 0 && core >= sysconf(_SC_NPROCESSORS_CONF)) break;
    write(
        fs::path("sys/devices/system/cpu/cpu" + std::to_string(core)) / "cpufreq/scaling_cur_freq",
        "2800000\n");
  }
  const fs::path thermal = "sys/devices/system/cpu/cpu0/thermal_throttle";
  write(thermal / "core_throttle_count", "3\n");
  write(thermal / "package_throttle_count", "2\n");
  write("proc/self/task/11/schedstat", "900 40 7\n");
  write("proc/self/task/12/schedstat", "800 2 7\n");
  const WatchReading reading = MachineWatch(WatchRules{}, root).read();
  write("proc/self/task/13/schedstat", "disabled\n");
  EXPECT_FALSE(MachineWatch(WatchRules{}, root).read().waited_ns);
  fs::remove_all(root);
  EXPECT_EQ(reading.waited_ns, 42);
  EXPECT_EQ(reading.total_ticks, 1010);
  EXPECT_EQ(reading.steal_ticks, 30);
  EXPECT_EQ(reading.busy_ticks, 160);
  EXPECT_EQ(reading.n_cores, 3);
  EXPECT_EQ(reading.n_running, 6);
  EXPECT_EQ(reading.frequency_mhz, 2800);
  EXPECT_EQ(reading.throttled.n_thermal, 5);
  EXPECT_EQ(reading.throttled.n_cgroup_throttled, 4);
  EXPECT_EQ(reading.throttled.n_cgroup_periods, 40);
  EXPECT_GT(reading.own_cpu_ns, 0);
}

TEST(MachineWatch, WhatCannotBeReadIsAbsent) {
  const WatchReading reading = MachineWatch(WatchRules{}, "/nonexistent").read();
  EXPECT_FALSE(reading.total_ticks || reading.steal_ticks || reading.busy_ticks ||
               reading.n_running || reading.frequency_mhz || reading.waited_ns);
  EXPECT_FALSE(reading.throttled.n_thermal || reading.throttled.n_cgroup_throttled ||
               reading.throttled.n_cgroup_periods);
  EXPECT_EQ(reading.n_cores, 1);
}

TEST(MachineWatch, OwnWorkIsOwn) {
  MachineWatch watch{WatchRules{}};
  SteadyClock clock;
  const std::clock_t cpu_before = std::clock();
  const WatchReading before = watch.read();
  for (const std::int64_t begin = clock.now_ns(); clock.now_ns() - begin < 60'000'000;) {
  }
  const WatchReading after = watch.read();
  const double cpu_ns = static_cast<double>(std::clock() - cpu_before) * 1e9 / CLOCKS_PER_SEC;
  // The two clocks may differ by a tick of the kernel.
  EXPECT_NEAR(static_cast<double>(after.own_cpu_ns - before.own_cpu_ns), cpu_ns, 10e6);
  EXPECT_GE(after.at_ns - before.at_ns, 60'000'000);
}

}  // namespace
}  // namespace specbench::harness
