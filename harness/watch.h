// Watches the machine around each run for signs that its time is not the program's own: stolen CPU
// time, other work, preemption, throttling. Must never be read between the two clock readings of a
// run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/throttling.h"

namespace specbench::harness {

// What the kernel counts, at one moment. A fact that cannot be read is absent and accuses nobody.
struct WatchReading {
  std::int64_t at_ns = 0;        // steady clock
  std::int64_t own_cpu_ns = 0;   // user and system time of all threads of this process
  std::int64_t n_preempted = 0;  // involuntary context switches of all threads of this process
  // Time its threads could have run but stood in line for a core, summed over them.
  std::optional<std::int64_t> waited_ns;
  std::optional<std::int64_t> total_ticks;  // CPU time of the machine, idle time too
  std::optional<std::int64_t> busy_ticks;   // neither idle nor stolen
  std::optional<std::int64_t> steal_ticks;  // given to others by the hypervisor
  std::int64_t tick_ns = 10'000'000;
  int n_cores = 1;                      // of the machine
  std::optional<int> n_running;         // runnable threads of the machine
  std::optional<double> frequency_mhz;  // of the core that reads
  ThrottleCounts throttled;
};

// When a run is doubtful. The defaults let through the noise of a machine at rest.
struct WatchRules {
  int n_threads = 1;  // of the runs
  // Share of the machine's CPU time stolen. Above it a ratio of 5 % may be the hypervisor's.
  double max_steal_share = 0.02;
  // Cores kept busy by others beyond those that the runs leave free. Kernel threads and a shell
  // take less than .1.
  double max_others_cores = 0.25;
  // Time in line for a core, over the time that passed: threads wait for each other, so that a run
  // is longer by about that share. At rest a virtual machine was seen to take 1 to 2 %, of one run
  // in twenty of 40 ms more than 5 %; medians do not feel those.
  double max_waited_share = 0.10;
  // Where the kernel does not tell that time, involuntary switches: so many at least, and so many a
  // second and thread. A core shared with one busy process sees more than 100 a second; a virtual
  // machine at rest was seen to reach 40 to 70 in one run of twenty, each of microseconds.
  int max_preempted = 3;
  double max_preempted_rate = 100;
  // A core this far below the highest frequency seen has dropped, before and after a run.
  double min_frequency_share = 0.85;
  // Ticks a core that must pass before shares are formed: an error of one tick is 4 % of a core.
  int min_ticks = 25;
};

// Names of the reasons, in a fixed order: "steal", "others", "load", "preempted", "thermal",
// "quota", "frequency". Empty: nothing found.
using Marks = std::vector<std::string>;

// True if enough ticks passed between the readings to form shares of them.
bool has_enough_ticks(const WatchReading& before, const WatchReading& after,
                      const WatchRules& rules);

// What exact counters and instants say, however short the time: load, preempted, thermal, quota,
// frequency. highest_mhz: the highest frequency seen so far; 0: none.
Marks judge_events(const WatchReading& before, const WatchReading& after, double highest_mhz,
                   const WatchRules& rules);

// What shares of ticks say: steal, others. The counts are taken at their least (a tick less, one a
// core where cores are added), so that a few ticks accuse nobody by rounding.
Marks judge_shares(const WatchReading& before, const WatchReading& after, const WatchRules& rules);

class Watch {
 public:
  explicit Watch(const WatchRules& rules) : rules_(rules) {}
  virtual ~Watch() = default;
  virtual WatchReading read() = 0;
  const WatchRules& rules() const { return rules_; }

 private:
  WatchRules rules_;
};

// The machine this runs on. A reading takes some tens of microseconds.
class MachineWatch final : public Watch {
 public:
  // `root` is "/" but in tests.
  explicit MachineWatch(const WatchRules& rules, std::filesystem::path root = "/");
  WatchReading read() override;

 private:
  std::filesystem::path root_;
  std::vector<std::filesystem::path> cgroup_cpu_stats_;
};

}  // namespace specbench::harness
