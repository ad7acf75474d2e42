// How often the machine has held this process back: heat and CPU quotas, counted by the kernel.
// Reads files; judges nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace specbench::harness {

// Counts that only grow; a count the machine does not keep is absent.
struct ThrottleCounts {
  std::optional<std::int64_t> n_thermal;           // core 0 and its package slowed for heat
  std::optional<std::int64_t> n_cgroup_throttled;  // periods in which a CPU quota stopped the group
  std::optional<std::int64_t> n_cgroup_periods;    // periods in which the group wanted to run
};

// The cpu.stat files of the control groups of this process that count throttling, each once.
// `root` is "/" but in tests.
std::vector<std::filesystem::path> find_cgroup_cpu_stats(const std::filesystem::path& root = "/");

// Counts of several groups are added. `cgroup_cpu_stats` comes from the function above.
ThrottleCounts read_throttle_counts(const std::vector<std::filesystem::path>& cgroup_cpu_stats,
                                    const std::filesystem::path& root = "/");

}  // namespace specbench::harness
