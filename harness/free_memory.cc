#include "harness/free_memory.h"

#include <algorithm>
#include <string>

#include "harness/system_text.h"

namespace specbench::harness {

namespace {

namespace fs = std::filesystem;

/// Names of one thing in the two versions of control groups.
struct Names {
  const char *limit, *used, *inactive;
};
constexpr Names kVersions[] = {
    {"memory.max", "memory.current", "inactive_file"},
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};

std::optional<std::int64_t> left_in(const fs::path& folder, const Names& names) {
  const auto limit = read_number<std::int64_t>(folder / names.limit);
  const auto used = read_number<std::int64_t>(folder / names.used);
  if (!limit || !used) return std::nullopt;  // "max" is no number: no limit
  const std::string details = read_text(folder / "memory.stat").value_or("");
  const auto inactive = parse_number<std::int64_t>(find_field(details, names.inactive, ' '));
  return std::max(std::int64_t{0}, *limit - *used + std::min(inactive.value_or(0), *used));
}

}  // namespace

std::optional<std::int64_t> free_memory_bytes(const fs::path& root) {
  const std::string memory = read_text(root / "proc/meminfo").value_or("");
  auto least = parse_number<std::int64_t>(find_field(memory, "MemAvailable", ':'));
  if (least) *least *= 1024;
  for (const CgroupPath& cgroup : read_cgroup_paths(root))
    for (const fs::path& folder : cgroup_folders(root, cgroup))
      for (const Names& names : kVersions)
        if (const auto left = left_in(folder, names))
          least = std::min(least.value_or(*left), *left);
  return least;
}

}  // namespace specbench::harness
