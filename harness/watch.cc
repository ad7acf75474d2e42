#include "harness/watch.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/clock.h"
#include "harness/environment.h"
#include "harness/system_text.h"

namespace specbench::harness {
namespace {

namespace fs = std::filesystem;

// Absent if either is, or if the counter went back.
std::optional<std::int64_t> rise(std::optional<std::int64_t> before,
                                 std::optional<std::int64_t> after) {
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

bool has_risen(std::optional<std::int64_t> before, std::optional<std::int64_t> after) {
  return rise(before, after).value_or(0) > 0;
}

double seconds_between(const WatchReading& before, const WatchReading& after) {
  return static_cast<double>(std::max<std::int64_t>(after.at_ns - before.at_ns, 0)) * 1e-9;
}

// Lines "cpu0 ...", "cpu1 ...": one a core.
int count_cores(std::string_view proc_stat) {
  int count = 0;
  for (const std::string_view line : split(proc_stat, '\n')) {
    count += line.starts_with("cpu") && !line.starts_with("cpu ");
  }
  return std::max(count, 1);
}

bool was_preempted(const WatchReading& before, const WatchReading& after, const WatchRules& rules) {
  const double seconds = seconds_between(before, after);
  // The sum falls where a thread has ended: then the switches tell.
  if (const auto waited = rise(before.waited_ns, after.waited_ns))
    return static_cast<double>(*waited) * 1e-9 > rules.max_waited_share * seconds;
  const double n_preempted = static_cast<double>(after.n_preempted - before.n_preempted);
  const double allowed = rules.max_preempted_rate * rules.n_threads * seconds;
  return n_preempted > std::max(allowed, static_cast<double>(rules.max_preempted));
}

// "256 1024 3" a thread: ns on a core, ns in line for one, time slices.
std::optional<std::int64_t> read_waited_ns(const fs::path& root) {
  std::int64_t sum = 0;
  std::error_code error;
  fs::directory_iterator thread(root / "proc/self/task", error);
  if (error || thread == fs::directory_iterator()) return std::nullopt;
  for (; !error && thread != fs::directory_iterator(); thread.increment(error)) {
    const std::string line = read_line(thread->path() / "schedstat").value_or("");
    const std::vector<std::string_view> fields = split(line, ' ');
    const auto waited = fields.size() < 2 ? std::nullopt : parse_number<std::int64_t>(fields[1]);
    if (!waited) return std::nullopt;
    sum += *waited;
  }
  return error ? std::nullopt : std::optional(sum);
}

std::int64_t to_ns(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

}  // namespace

bool has_enough_ticks(const WatchReading& before, const WatchReading& after,
                      const WatchRules& rules) {
  const auto total = rise(before.total_ticks, after.total_ticks);
  return total && *total >= std::int64_t{rules.min_ticks} * after.n_cores;
}

Marks judge_events(const WatchReading& before, const WatchReading& after, double highest_mhz,
                   const WatchRules& rules) {
  Marks marks;
  // At both ends: one runnable thread more for an instant is a timer of the kernel.
  if (before.n_running && after.n_running &&
      std::min(*before.n_running, *after.n_running) > after.n_cores) {
    marks.emplace_back("load");
  }
  if (was_preempted(before, after, rules)) marks.emplace_back("preempted");
  if (has_risen(before.throttled.n_thermal, after.throttled.n_thermal))
    marks.emplace_back("thermal");
  if (has_risen(before.throttled.n_cgroup_throttled, after.throttled.n_cgroup_throttled))
    marks.emplace_back("quota");
  if (before.frequency_mhz && after.frequency_mhz &&
      std::max(*before.frequency_mhz, *after.frequency_mhz) <
          rules.min_frequency_share * highest_mhz) {
    marks.emplace_back("frequency");
  }
  return marks;
}

Marks judge_shares(const WatchReading& before, const WatchReading& after, const WatchRules& rules) {
  Marks marks;
  const auto total = rise(before.total_ticks, after.total_ticks);
  const auto stolen = rise(before.steal_ticks, after.steal_ticks);
  const auto busy = rise(before.busy_ticks, after.busy_ticks);
  if (total && stolen && *total > 0 &&
      static_cast<double>(*stolen - 1) > rules.max_steal_share * static_cast<double>(*total)) {
    marks.emplace_back("steal");
  }
  const double seconds = seconds_between(before, after);
  if (busy && seconds > 0) {
    const double busy_cores = static_cast<double>(*busy - after.n_cores) *
                              static_cast<double>(after.tick_ns) * 1e-9 / seconds;
    const double own_cores =
        static_cast<double>(after.own_cpu_ns - before.own_cpu_ns) * 1e-9 / seconds;
    const double free_cores = std::max(after.n_cores - rules.n_threads, 0);
    if (busy_cores - own_cores > free_cores + rules.max_others_cores) marks.emplace_back("others");
  }
  return marks;
}

MachineWatch::MachineWatch(const WatchRules& rules, fs::path root)
    : Watch(rules), root_(std::move(root)), cgroup_cpu_stats_(find_cgroup_cpu_stats(root_)) {}

WatchReading MachineWatch::read() {
  WatchReading reading;
  const std::string stat = read_text(root_ / "proc/stat").value_or("");
  if (const auto times = parse_cpu_times(stat); times && times->total > 0) {
    reading.total_ticks = times->total;
    reading.steal_ticks = times->steal;
    reading.busy_ticks = times->total - times->idle - times->steal;
  }
  reading.n_cores = count_cores(stat);
  if (const long rate = sysconf(_SC_CLK_TCK); rate > 0) reading.tick_ns = 1'000'000'000 / rate;
  reading.n_running = parse_running(read_line(root_ / "proc/loadavg").value_or(""));
  // A core at rest clocks down: only the one that works tells something.
  const std::string core = "cpu" + std::to_string(std::max(sched_getcpu(), 0));
  const fs::path frequency =
      root_ / "sys/devices/system/cpu" / core / "cpufreq" / "scaling_cur_freq";
  if (const auto khz = read_number<double>(frequency)) reading.frequency_mhz = *khz / 1000;
  reading.throttled = read_throttle_counts(cgroup_cpu_stats_, root_);
  reading.waited_ns = read_waited_ns(root_);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    reading.own_cpu_ns = to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
    reading.n_preempted = usage.ru_nivcsw;
  }
  reading.at_ns = SteadyClock().now_ns();
  return reading;
}

}  // namespace specbench::harness
