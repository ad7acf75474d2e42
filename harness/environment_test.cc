#include "harness/environment.h"

#include <gtest/gtest.h>

#include <map>

#include "harness/file_tree_test_support.h"

namespace specbench::harness {
namespace {

namespace fs = std::filesystem;

class EnvironmentTree : public testing::FileTree {};

TEST_F(EnvironmentTree, WhatCannotBeReadIsAbsent) {
  const Environment e = capture_environment(root_);
  EXPECT_FALSE(e.cpu_model || e.governor || e.frequency_mhz || e.load_average || e.kernel ||
               e.distribution);
  EXPECT_FALSE(e.memory_bytes || e.l2_bytes || e.l3_bytes || e.is_virtual || e.n_numa_nodes ||
               e.binary_path);
  EXPECT_FALSE(e.boot_id || e.n_processes_running || e.is_boost_enabled || e.throttled.n_thermal ||
               e.throttled.n_cgroup_throttled || e.throttled.n_cgroup_periods);
  EXPECT_FALSE(e.cgroup_cores || e.cgroup_memory_bytes || e.binary_fnv1a ||
               e.memory_available_bytes);
  EXPECT_GE(e.n_cores_usable(), 1);
  EXPECT_EQ(e.date_utc.size(), 20u);
  for (const auto& [key, value] : describe(e)) {
    EXPECT_EQ(value.has_value(), key == "date_utc" || key.starts_with("n_cores")) << key;
  }
  EXPECT_FALSE(read_cpu_times(root_).has_value());
}

TEST_F(EnvironmentTree, ReadsAPlantedMachine) {
  write("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Planted CPU @ 3.00GHz\ncpu MHz\t\t: 2000.5\nflags\t\t: fpu "
        "sse hypervisor\n\n");
  write("proc/loadavg", "1.25 0.50 0.10 2/300 1234\n");
  write("proc/sys/kernel/random/boot_id", "132fd091-c4f6-4ae8-8944-e572c2b633fb\n");
  write("proc/sys/kernel/ostype", "Linux\n");
  write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  write("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  write("proc/meminfo",
        "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n");
  write("sys/devices/system/node/online", "0-1,3\n");
  const fs::path cpu0 = "sys/devices/system/cpu/cpu0";
  write(cpu0 / "cpufreq/scaling_governor", "powersave\n");
  write(cpu0 / "cpufreq/scaling_cur_freq", "2800000\n");
  write(cpu0 / "cpufreq/cpuinfo_max_freq", "3500000\n");
  write(cpu0 / "thermal_throttle/core_throttle_count", "11\n");
  write("sys/devices/system/cpu/cpufreq/boost", "0\n");
  write(cpu0 / "cache/index1/level", "1\n");
  write(cpu0 / "cache/index1/size", "32K\n");
  write(cpu0 / "cache/index2/level", "2\n");
  write(cpu0 / "cache/index2/size", "1024K\n");
  write(cpu0 / "cache/index3/level", "3\n");
  write(cpu0 / "cache/index3/size", "32M\n");
  write("bin/tool", "a binary");
  fs::create_directories(root_ / "proc/self");
  fs::create_symlink(root_ / "bin/tool", root_ / "proc/self/exe");

  const Environment e = capture_environment(root_);
  EXPECT_EQ(e.cpu_model, "Planted CPU @ 3.00GHz");
  EXPECT_EQ(e.is_virtual, true);
  EXPECT_EQ(e.governor, "powersave");
  EXPECT_EQ(e.frequency_mhz, 2800);
  EXPECT_EQ(e.frequency_max_mhz, 3500);
  EXPECT_EQ(e.is_boost_enabled, false);
  EXPECT_EQ(e.load_average, 1.25);
  EXPECT_EQ(e.n_processes_running, 2);
  EXPECT_EQ(e.boot_id, "132fd091-c4f6-4ae8-8944-e572c2b633fb");
  EXPECT_EQ(e.throttled.n_thermal, 11);
  EXPECT_EQ(e.kernel, "Linux 6.1.0-18-amd64");
  EXPECT_EQ(e.distribution, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(e.memory_bytes, 16'384'000'000);
  EXPECT_EQ(e.memory_available_bytes, 8'192'000'000);
  EXPECT_EQ(e.l2_bytes, 1 << 20);
  EXPECT_EQ(e.l3_bytes, 32 << 20);
  EXPECT_EQ(e.n_numa_nodes, 3);
  EXPECT_EQ(e.binary_path, (root_ / "bin/tool").string());
  EXPECT_EQ(e.binary_fnv1a, fnv1a("a binary"));
}

TEST_F(EnvironmentTree, CgroupVersion2TakesTheTightestLimitUpTheTree) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/a/b/memory.max", "4294967296\n");
  write("sys/fs/cgroup/a/memory.max", "max\n");
  Environment e = capture_environment(root_);
  EXPECT_EQ(e.cgroup_cores, 1.5);
  EXPECT_EQ(e.cgroup_memory_bytes, std::int64_t{4} << 30);
  e.n_cores_affinity = 8;
  EXPECT_EQ(e.n_cores_usable(), 1);
  e.cgroup_cores = 0.5;
  EXPECT_EQ(e.n_cores_usable(), 1);
}

TEST_F(EnvironmentTree, CgroupVersion1AndUnlimitedValues) {
  write("proc/self/cgroup", "4:memory:/hidden/x\n1:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(capture_environment(root_).cgroup_cores, 2);
  EXPECT_FALSE(capture_environment(root_).cgroup_memory_bytes.has_value());
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(capture_environment(root_).cgroup_cores.has_value());
}

TEST_F(EnvironmentTree, ThrottlingByAQuotaIsCountedOnceAGroup) {
  write("proc/self/cgroup", "2:cpu:/a\n3:cpu,cpuacct:/a\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_periods 200\nnr_throttled 9\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 1000\nnr_throttled 2\n");
  fs::create_directory_symlink("cpu,cpuacct", root_ / "sys/fs/cgroup/cpu");
  const Environment e = capture_environment(root_);
  EXPECT_EQ(e.throttled.n_cgroup_throttled, 11);
  EXPECT_EQ(e.throttled.n_cgroup_periods, 1200);
  std::map<std::string, std::optional<std::string>> facts;
  for (const auto& [key, value] : describe(e)) facts[key] = value;
  EXPECT_EQ(facts["n_cgroup_throttled"], "11");
  EXPECT_EQ(facts["n_cgroup_periods"], "1200");
  EXPECT_FALSE(facts["n_thermal_throttles"].has_value());
}

TEST_F(EnvironmentTree, IntelSaysNoTurboForNoBoost) {
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  EXPECT_EQ(capture_environment(root_).is_boost_enabled, true);
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(capture_environment(root_).is_boost_enabled, false);
}

TEST(Environment, RunnableThreadsAndQuotasAreFaults) {
  Environment e;
  e.n_cores_affinity = 4;
  e.n_processes_running = 5;  // this one and four others
  e.throttled = {1000, 50, 1000};
  EXPECT_TRUE(environment_faults(e).empty());
  e.n_processes_running = 6;
  ASSERT_EQ(environment_faults(e).size(), 1u);
  EXPECT_NE(environment_faults(e)[0].find("5 other threads"), std::string::npos);
  e.throttled.n_cgroup_throttled = 51;
  ASSERT_EQ(environment_faults(e).size(), 2u);
  EXPECT_NE(environment_faults(e)[1].find("51 of 1000 periods"), std::string::npos);
}

TEST(Running, IsTheFourthFieldOfTheLoad) {
  EXPECT_EQ(parse_running("0.62 0.35 0.17 3/97 18899\n"), 3);
  EXPECT_FALSE(parse_running("").has_value());
  EXPECT_FALSE(parse_running("0.62 0.35 0.17").has_value());
  EXPECT_FALSE(parse_running("0.62 0.35 0.17 97 18899").has_value());
}

TEST(Environment, FaultsAreFoundAndCleanMachinesHaveNone) {
  Environment e;
  e.n_cores_affinity = 4;
  EXPECT_TRUE(environment_faults(e).empty());  // absent facts accuse nobody
  e.load_average = 4.0;
  e.governor = "performance";
  e.memory_available_bytes = std::int64_t{8} << 30;
  EXPECT_TRUE(environment_faults(e, 4).empty());
  e.load_average = 4.01;
  EXPECT_EQ(environment_faults(e, 4).size(), 1u);
  EXPECT_NE(environment_faults(e, 4)[0].find("4.01"), std::string::npos);
  e.governor = "powersave";
  e.memory_available_bytes = 1 << 20;
  EXPECT_EQ(environment_faults(e, 5).size(), 4u);
}

TEST(Environment, ThisMachineIsReadable) {
  const Environment e = capture_environment();
  EXPECT_TRUE(e.kernel.has_value());
  EXPECT_TRUE(e.memory_bytes.has_value());
  EXPECT_TRUE(e.binary_fnv1a.has_value());
}

TEST(CpuTimes, AreParsedAndStealIsAShare) {
  const auto before = parse_cpu_times("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n");
  const auto after = parse_cpu_times("cpu  150 0 110 820 10 0 0 10 7 7\n");
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->total, 1000);
  EXPECT_EQ(after->total, 1100);
  EXPECT_EQ(after->idle, 830);
  EXPECT_EQ(after->steal, 10);
  EXPECT_EQ(steal_share(*before, *after), 0.1);
  EXPECT_EQ(steal_share(*before, *before), std::nullopt);
  EXPECT_EQ(steal_share(*after, *before), std::nullopt);
}

TEST(CpuTimes, OtherTextIsRefused) {
  EXPECT_FALSE(parse_cpu_times("").has_value());
  EXPECT_FALSE(parse_cpu_times("cpu0 1 2 3 4 5 6 7 8\n").has_value());
  EXPECT_FALSE(parse_cpu_times("cpu 1 2 3\n").has_value());
  EXPECT_FALSE(parse_cpu_times("cpu 1 2 3 x 5 6 7 8\n").has_value());
}

TEST(Fnv1a, KnownValues) {  // Fowler, Noll, Vo: published test vectors
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace specbench::harness
