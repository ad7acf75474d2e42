#include "harness/pinning.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "harness/system_text.h"

namespace specbench::harness {
namespace {

bool is_in(const std::vector<int>& cores, int core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

bool stay_on(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<int> choose_cores(std::span<const int> usable, int current, int n_threads,
                              const std::function<std::vector<int>(int core)>& siblings) {
  if (n_threads < 1 || usable.size() < static_cast<std::size_t>(n_threads)) return {};
  std::vector<int> turn(usable.begin(), usable.end());
  const auto begin = std::find(turn.begin(), turn.end(), current);
  if (begin != turn.end()) std::rotate(turn.begin(), begin, turn.end());
  std::vector<int> chosen, shared;  // shared: hardware threads of cores taken already
  for (const int core : turn) {
    const std::vector<int> same = siblings(core);
    const bool is_taken =
        std::any_of(chosen.begin(), chosen.end(), [&](int other) { return is_in(same, other); });
    (is_taken ? shared : chosen).push_back(core);
  }
  chosen.insert(chosen.end(), shared.begin(), shared.end());
  chosen.resize(static_cast<std::size_t>(n_threads));
  return chosen;
}

std::vector<int> parse_core_list(std::string_view text) {
  std::vector<int> cores;
  for (const std::string_view part : split(trim(text), ',')) {
    const auto ends = split(part, '-');
    const auto first = parse_number<int>(ends.front()), last = parse_number<int>(ends.back());
    for (int core = first.value_or(0); first && last && core <= std::min(*last, CPU_SETSIZE);
         ++core)
      cores.push_back(core);
  }
  return cores;
}

PinnedThreads::PinnedThreads(int n_threads, const std::filesystem::path& root)
    : usable_(usable_cores()) {
  const auto siblings = [&](int core) {
    return parse_core_list(
        read_line(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(core)) /
                  "topology/thread_siblings_list")
            .value_or(std::to_string(core)));
  };
  cores_ = choose_cores(usable_, sched_getcpu(), n_threads, siblings);
  if (cores_.empty()) return;
  std::atomic<bool> is_pinned = true;
#pragma omp parallel num_threads(n_threads)
  if (!stay_on({&cores_[static_cast<std::size_t>(omp_get_thread_num())], 1})) is_pinned = false;
  if (!is_pinned) cores_.clear();
}

PinnedThreads::~PinnedThreads() {
  if (usable_.empty()) return;
#pragma omp parallel num_threads(static_cast <int>(std::max <std::size_t>(cores_.size(), 1)))
  (void)stay_on(usable_);
}

}  // namespace specbench::harness
