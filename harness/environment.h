// The machine a run ran on. A fact that cannot be read is absent, never made up. Reads files;
// judges nothing but what `environment_faults` says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/throttling.h"

namespace specbench::harness {

struct Environment {
  std::string date_utc;  // ISO 8601, 2026-01-31T12:00:00Z
  std::optional<std::string> cpu_model;
  int n_cores_affinity = 1;                 // logical cores this process may run on
  std::optional<double> cgroup_cores;       // CPU quota in cores; absent: no quota
  std::optional<std::string> governor;      // of core 0
  std::optional<double> frequency_mhz;      // of core 0, now
  std::optional<double> frequency_max_mhz;  // of core 0
  std::optional<bool> is_boost_enabled;     // frequencies above the nominal one are allowed
  std::optional<double> load_average;       // over one minute, runnable threads
  std::optional<int> n_processes_running;   // runnable threads now, the one that reads too
  std::optional<std::string> boot_id;       // drawn at each start of the machine
  ThrottleCounts throttled;                 // since the start of the machine or the control group
  std::optional<std::string> kernel;        // Linux 6.1.0 x86_64
  std::optional<std::string> distribution;  // Debian GNU/Linux 12 (bookworm)
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> memory_available_bytes;
  std::optional<std::int64_t> cgroup_memory_bytes;  // limit; absent: none
  std::optional<std::int64_t> l2_bytes;             // of core 0
  std::optional<std::int64_t> l3_bytes;             // as core 0 sees it
  std::optional<bool> is_virtual;                   // the CPU reports a hypervisor
  std::optional<int> n_numa_nodes;
  std::optional<std::string> binary_path;
  std::optional<std::uint64_t> binary_fnv1a;  // FNV-1a, 64 bits, of the binary's bytes

  // Cores this process can keep busy: the affinity, cut by the quota, at least 1.
  int n_cores_usable() const;
};

// `root` is "/" but in tests, which plant a tree of their own below it.
Environment capture_environment(const std::filesystem::path& root = "/");

// What makes timing on this machine doubtful, one sentence each: load or runnable threads above the
// usable cores, more threads than cores, a power-saving governor, a control group stopped by its
// quota, memory nearly gone. n_threads 0: not asked. Empty: nothing found.
std::vector<std::string> environment_faults(const Environment& environment, int n_threads = 0);

// Every fact as key and value in a fixed order; absent facts are absent values.
std::vector<std::pair<std::string, std::optional<std::string>>> describe(
    const Environment& environment);

// CPU time of the whole machine since boot, in ticks.
struct CpuTimes {
  std::int64_t total = 0;
  std::int64_t steal = 0;  // time the hypervisor gave to others
  std::int64_t idle = 0;   // idle and waiting for disks
};
std::optional<CpuTimes> read_cpu_times(const std::filesystem::path& root = "/");
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat);

// Runnable threads of the machine: 3 of "0.62 0.35 0.17 3/97 18899".
std::optional<int> parse_running(std::string_view loadavg);

// Share of CPU time stolen between two readings, 0..1; absent if no tick passed between them.
std::optional<double> steal_share(const CpuTimes& before, const CpuTimes& after);

std::uint64_t fnv1a(std::string_view bytes);

}  // namespace specbench::harness
