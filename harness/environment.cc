#include "harness/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <system_error>

#include "harness/system_text.h"

namespace specbench::harness {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> to_string(std::optional<std::string_view> text) {
  if (!text || text->empty()) return std::nullopt;
  return std::string(*text);
}

std::optional<std::int64_t> times(std::optional<std::int64_t> value, std::int64_t factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

template <typename Number>
void keep_smaller(std::optional<Number>& smallest, std::optional<Number> value) {
  if (value && (!smallest || *value < *smallest)) smallest = value;
}

int count_affinity_cores() {
  constexpr int kMaxCores = 8192;
  cpu_set_t* set = CPU_ALLOC(kMaxCores);
  const std::size_t size = CPU_ALLOC_SIZE(kMaxCores);
  const bool is_known = set != nullptr && sched_getaffinity(0, size, set) == 0;
  const int count =
      is_known ? CPU_COUNT_S(size, set) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  CPU_FREE(set);
  return std::max(count, 1);
}

void read_cgroup(const fs::path& root, Environment& environment) {
  for (const CgroupPath& cgroup : read_cgroup_paths(root)) {
    for (const fs::path& folder : cgroup_folders(root, cgroup)) {
      // Version 2 writes "max" for no limit, version 1 -1 or a number near 2^63.
      if (const std::optional<std::string> limit = read_line(folder / "cpu.max")) {
        const std::size_t space = limit->find(' ');
        const auto quota = parse_number<double>(*limit);
        if (quota && space != std::string::npos) {
          const auto period = parse_number<double>(std::string_view(*limit).substr(space));
          if (period && *period > 0)
            keep_smaller(environment.cgroup_cores, std::optional(*quota / *period));
        }
      }
      const auto quota = read_number<double>(folder / "cpu.cfs_quota_us");
      const auto period = read_number<double>(folder / "cpu.cfs_period_us");
      if (quota && period && *quota > 0 && *period > 0) {
        keep_smaller(environment.cgroup_cores, std::optional(*quota / *period));
      }
      for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
        const auto bytes = read_number<std::int64_t>(folder / name);
        if (bytes && *bytes < (std::int64_t{1} << 60))
          keep_smaller(environment.cgroup_memory_bytes, bytes);
      }
    }
  }
}

// The kernel's switch, or that of Intel's driver, which says the opposite.
std::optional<bool> read_boost(const fs::path& cpus) {
  if (const auto boost = read_number<int>(cpus / "cpufreq/boost")) return *boost != 0;
  if (const auto no_turbo = read_number<int>(cpus / "intel_pstate/no_turbo")) return *no_turbo == 0;
  return std::nullopt;
}

void read_cpu(const fs::path& root, Environment& environment) {
  const std::string info = read_text(root / "proc/cpuinfo").value_or("");
  environment.cpu_model = to_string(find_field(info, "model name", ':'));
  if (const auto flags = find_field(info, "flags", ':')) {
    environment.is_virtual =
        (" " + std::string(*flags) + " ").find(" hypervisor ") != std::string::npos;
  }
  const fs::path cpu0 = root / "sys/devices/system/cpu/cpu0";
  environment.governor = read_line(cpu0 / "cpufreq/scaling_governor");
  if (const auto khz = read_number<double>(cpu0 / "cpufreq/scaling_cur_freq")) {
    environment.frequency_mhz = *khz / 1000;
  } else {
    environment.frequency_mhz = parse_number<double>(find_field(info, "cpu MHz", ':'));
  }
  if (const auto khz = read_number<double>(cpu0 / "cpufreq/cpuinfo_max_freq")) {
    environment.frequency_max_mhz = *khz / 1000;
  }
  environment.is_boost_enabled = read_boost(cpu0.parent_path());
  for (int i = 0; i < 8; ++i) {
    const fs::path cache = cpu0 / fmt::format("cache/index{}", i);
    const auto level = read_number<int>(cache / "level");
    const std::optional<std::string> size = read_line(cache / "size");
    if (!level || !size || read_line(cache / "type") == "Instruction") continue;
    const std::int64_t unit = size->back() == 'K' ? 1 << 10 : size->back() == 'M' ? 1 << 20 : 1;
    if (*level == 2) environment.l2_bytes = times(parse_number<std::int64_t>(*size), unit);
    if (*level == 3) environment.l3_bytes = times(parse_number<std::int64_t>(*size), unit);
  }
}

// "0-3,8" is 5.
std::optional<int> count_list(const std::optional<std::string>& list) {
  if (!list) return std::nullopt;
  int count = 0;
  for (const std::string_view range : split(*list, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_number<int>(range);
    const auto last =
        dash == std::string_view::npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    count += *last - *first + 1;
  }
  return count;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

std::optional<std::string> number_text(std::optional<double> value) {
  if (!value) return std::nullopt;
  return fmt::format("{:.6g}", *value);
}

std::optional<std::string> yes_or_no(std::optional<bool> value) {
  if (!value) return std::nullopt;
  return *value ? "yes" : "no";
}

template <typename Integer>
std::optional<std::string> integer_text(std::optional<Integer> value) {
  if (!value) return std::nullopt;
  return fmt::format("{}", *value);
}

}  // namespace

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

int Environment::n_cores_usable() const {
  if (!cgroup_cores || *cgroup_cores >= n_cores_affinity) return n_cores_affinity;
  return std::max(1, static_cast<int>(*cgroup_cores));
}

Environment capture_environment(const fs::path& root) {
  Environment environment;
  environment.date_utc = now_utc();
  environment.n_cores_affinity = count_affinity_cores();
  read_cpu(root, environment);
  read_cgroup(root, environment);
  environment.load_average = read_number<double>(root / "proc/loadavg");
  environment.n_processes_running = parse_running(read_line(root / "proc/loadavg").value_or(""));
  environment.boot_id = read_line(root / "proc/sys/kernel/random/boot_id");
  environment.throttled = read_throttle_counts(find_cgroup_cpu_stats(root), root);
  const std::optional<std::string> os = read_line(root / "proc/sys/kernel/ostype");
  const std::optional<std::string> release = read_line(root / "proc/sys/kernel/osrelease");
  if (os && release) environment.kernel = *os + " " + *release;
  const std::string distribution = read_text(root / "etc/os-release").value_or("");
  environment.distribution = to_string(find_field(distribution, "PRETTY_NAME", '='));
  const std::string memory = read_text(root / "proc/meminfo").value_or("");
  environment.memory_bytes =
      times(parse_number<std::int64_t>(find_field(memory, "MemTotal", ':')), 1024);
  environment.memory_available_bytes =
      times(parse_number<std::int64_t>(find_field(memory, "MemAvailable", ':')), 1024);
  environment.n_numa_nodes = count_list(read_line(root / "sys/devices/system/node/online"));
  std::error_code error;
  const fs::path binary = fs::read_symlink(root / "proc/self/exe", error);
  if (!error) {
    environment.binary_path = binary.string();
    // Through the link: it opens the very binary that runs, even if the file has been replaced
    // since.
    if (const auto bytes = read_text(root / "proc/self/exe"))
      environment.binary_fnv1a = fnv1a(*bytes);
  }
  return environment;
}

std::vector<std::string> environment_faults(const Environment& environment, int n_threads) {
  std::vector<std::string> faults;
  const int n_cores = environment.n_cores_usable();
  // The run itself is no part of the load yet; half a core of noise is normal on a machine at rest.
  if (environment.load_average && *environment.load_average > n_cores) {
    faults.push_back(fmt::format(
        "the load average {:.2f} is above the {} usable cores; wait for other work to end",
        *environment.load_average, n_cores));
  }
  // The thread that reads is one of them.
  if (environment.n_processes_running && *environment.n_processes_running - 1 > n_cores) {
    faults.push_back(fmt::format(
        "{} other threads want to run now on the {} usable cores; wait for other work to end",
        *environment.n_processes_running - 1, n_cores));
  }
  if (n_threads > n_cores) {
    faults.push_back(
        fmt::format("{} threads share {} usable cores; ask for no more threads than cores",
                    n_threads, n_cores));
  }
  if (environment.governor == "powersave" || environment.governor == "conservative") {
    faults.push_back(fmt::format("the frequency governor is '{}'; set it to 'performance'",
                                 *environment.governor));
  }
  const auto& [n_thermal, n_throttled, n_periods] = environment.throttled;
  constexpr double kMaxThrottled = 0.05;
  if (n_throttled && n_periods &&
      static_cast<double>(*n_throttled) > kMaxThrottled * static_cast<double>(*n_periods)) {
    faults.push_back(
        fmt::format("the CPU quota has stopped this control group in {} of {} periods; raise it or "
                    "ask for fewer threads",
                    *n_throttled, *n_periods));
  }
  constexpr std::int64_t kScarceBytes = std::int64_t{256} << 20;
  if (environment.memory_available_bytes && *environment.memory_available_bytes < kScarceBytes) {
    faults.push_back(fmt::format("only {} MiB of memory are available; free some before measuring",
                                 *environment.memory_available_bytes >> 20));
  }
  return faults;
}

std::vector<std::pair<std::string, std::optional<std::string>>> describe(
    const Environment& environment) {
  std::optional<std::string> hash;
  if (environment.binary_fnv1a) hash = fmt::format("{:016x}", *environment.binary_fnv1a);
  return {
      {"date_utc", environment.date_utc},
      {"cpu_model", environment.cpu_model},
      {"n_cores_usable", fmt::format("{}", environment.n_cores_usable())},
      {"n_cores_affinity", fmt::format("{}", environment.n_cores_affinity)},
      {"cgroup_cores", number_text(environment.cgroup_cores)},
      {"governor", environment.governor},
      {"frequency_mhz", number_text(environment.frequency_mhz)},
      {"frequency_max_mhz", number_text(environment.frequency_max_mhz)},
      {"is_boost_enabled", yes_or_no(environment.is_boost_enabled)},
      {"load_average", number_text(environment.load_average)},
      {"n_processes_running", integer_text(environment.n_processes_running)},
      {"n_thermal_throttles", integer_text(environment.throttled.n_thermal)},
      {"n_cgroup_throttled", integer_text(environment.throttled.n_cgroup_throttled)},
      {"n_cgroup_periods", integer_text(environment.throttled.n_cgroup_periods)},
      {"boot_id", environment.boot_id},
      {"kernel", environment.kernel},
      {"distribution", environment.distribution},
      {"memory_bytes", integer_text(environment.memory_bytes)},
      {"memory_available_bytes", integer_text(environment.memory_available_bytes)},
      {"cgroup_memory_bytes", integer_text(environment.cgroup_memory_bytes)},
      {"l2_bytes", integer_text(environment.l2_bytes)},
      {"l3_bytes", integer_text(environment.l3_bytes)},
      {"is_virtual", yes_or_no(environment.is_virtual)},
      {"n_numa_nodes", integer_text(environment.n_numa_nodes)},
      {"binary_path", environment.binary_path},
      {"binary_fnv1a", hash},
  };
}

std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are part of user
  // and nice.
  const std::string_view line = split(proc_stat, '\n').front();
  if (!line.starts_with("cpu ")) return std::nullopt;
  std::vector<std::int64_t> ticks;
  for (const std::string_view part : split(line.substr(4), ' ')) {
    if (part.empty()) continue;
    const auto value = parse_number<std::int64_t>(part);
    if (!value) return std::nullopt;
    ticks.push_back(*value);
  }
  if (ticks.size() < 8) return std::nullopt;
  CpuTimes times;
  for (std::size_t i = 0; i < 8; ++i) times.total += ticks[i];
  times.idle = ticks[3] + ticks[4];
  times.steal = ticks[7];
  return times;
}

std::optional<int> parse_running(std::string_view loadavg) {
  const std::vector<std::string_view> parts = split(loadavg, ' ');
  if (parts.size() < 4 || parts[3].find('/') == std::string_view::npos) return std::nullopt;
  return parse_number<int>(parts[3]);
}

std::optional<CpuTimes> read_cpu_times(const fs::path& root) {
  const std::optional<std::string> text = read_text(root / "proc/stat");
  if (!text) return std::nullopt;
  return parse_cpu_times(*text);
}

std::optional<double> steal_share(const CpuTimes& before, const CpuTimes& after) {
  const std::int64_t passed = after.total - before.total;
  const std::int64_t stolen = after.steal - before.steal;
  if (passed <= 0 || stolen < 0) return std::nullopt;
  return static_cast<double>(stolen) / static_cast<double>(passed);
}

}  // namespace specbench::harness
