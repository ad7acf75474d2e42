#include "harness/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iterator>
#include <system_error>

namespace specbench::harness {
namespace {

namespace fs = std::filesystem;

// Files of /proc and /sys report no size, so they are read to the end.
std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\"";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The number at the start of the text, spaces before it allowed.
template <typename Number>
std::optional<Number> parse_number(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  const std::string_view trimmed = trim(*text);
  Number value{};
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::string> read_line(const fs::path& path) {
  const std::optional<std::string> text = read_text(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  return std::string(trim(split(trim(*text), '\n').front()));
}

template <typename Number>
std::optional<Number> read_number(const fs::path& path) {
  return parse_number<Number>(read_line(path));
}

// The rest of the first line "key <separator> rest".
std::optional<std::string_view> find_field(std::string_view text, std::string_view key,
                                           char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos && trim(line.substr(0, at)) == key)
      return trim(line.substr(at + 1));
  }
  return std::nullopt;
}

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

// The folders that limit this process in one controller, from its own up to the root of the mount.
// A container may not see its own folder; its parents then still count.
std::vector<fs::path> cgroup_folders(const fs::path& root, std::string_view controller,
                                     std::string_view path) {
  std::vector<fs::path> folders;
  const fs::path mount = root / "sys/fs/cgroup";
  for (const fs::path& base : {mount / controller, mount, mount / "unified"}) {
    for (fs::path below = fs::path(path).relative_path();; below = below.parent_path()) {
      folders.push_back(below.empty() ? base : base / below);
      if (below.empty()) break;
    }
  }
  return folders;
}

void read_cgroup(const fs::path& root, Environment& environment) {
  const std::string text = read_text(root / "proc/self/cgroup").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> parts = split(line, ':');  // number:controllers:path
    if (parts.size() < 3) continue;
    const std::string_view path = line.substr(parts[0].size() + parts[1].size() + 2);
    for (const fs::path& folder : cgroup_folders(root, parts[1], path)) {
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
  if (n_threads > n_cores) {
    faults.push_back(
        fmt::format("{} threads share {} usable cores; ask for no more threads than cores",
                    n_threads, n_cores));
  }
  if (environment.governor == "powersave" || environment.governor == "conservative") {
    faults.push_back(fmt::format("the frequency governor is '{}'; set it to 'performance'",
                                 *environment.governor));
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
  std::optional<std::string> is_virtual;
  if (environment.is_virtual) is_virtual = *environment.is_virtual ? "yes" : "no";
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
      {"load_average", number_text(environment.load_average)},
      {"kernel", environment.kernel},
      {"distribution", environment.distribution},
      {"memory_bytes", integer_text(environment.memory_bytes)},
      {"memory_available_bytes", integer_text(environment.memory_available_bytes)},
      {"cgroup_memory_bytes", integer_text(environment.cgroup_memory_bytes)},
      {"l2_bytes", integer_text(environment.l2_bytes)},
      {"l3_bytes", integer_text(environment.l3_bytes)},
      {"is_virtual", is_virtual},
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
