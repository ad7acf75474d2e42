#include "harness/throttling.h"

#include <algorithm>
#include <string>

#include "harness/system_text.h"

namespace specbench::harness {
namespace {

namespace fs = std::filesystem;

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value) sum = sum.value_or(0) + *value;
}

}  // namespace

std::vector<fs::path> find_cgroup_cpu_stats(const fs::path& root) {
  std::vector<fs::path> files;
  for (const CgroupPath& cgroup : read_cgroup_paths(root)) {
    for (const fs::path& folder : cgroup_folders(root, cgroup)) {
      // One group is reached by several names: "cpu" is often a link to "cpu,cpuacct".
      std::error_code error;
      const fs::path file = fs::canonical(folder / "cpu.stat", error);
      if (error || std::find(files.begin(), files.end(), file) != files.end()) continue;
      const std::string text = read_text(file).value_or("");
      if (find_field(text, "nr_throttled", ' ')) files.push_back(file);
    }
  }
  return files;
}

ThrottleCounts read_throttle_counts(const std::vector<fs::path>& cgroup_cpu_stats,
                                    const fs::path& root) {
  ThrottleCounts counts;
  const fs::path thermal = root / "sys/devices/system/cpu/cpu0/thermal_throttle";
  add(counts.n_thermal, read_number<std::int64_t>(thermal / "core_throttle_count"));
  add(counts.n_thermal, read_number<std::int64_t>(thermal / "package_throttle_count"));
  for (const fs::path& file : cgroup_cpu_stats) {
    const std::string text = read_text(file).value_or("");
    add(counts.n_cgroup_throttled,
        parse_number<std::int64_t>(find_field(text, "nr_throttled", ' ')));
    add(counts.n_cgroup_periods, parse_number<std::int64_t>(find_field(text, "nr_periods", ' ')));
  }
  return counts;
}

}  // namespace specbench::harness
