#include "harness/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace specbench::harness {
namespace {

// Numbers of the C interface, from NVIDIA's NVML reference.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kChipSensor = 0;

struct Reason {
  int bit;
  std::string_view name;
  bool is_fault;  // slows what is measured; the others are settings or rest
};
constexpr Reason kReasons[] = {{0, "idle", false},
                               {1, "application-clocks", false},
                               {2, "power-cap", true},
                               {3, "hardware", true},
                               {4, "sync-boost", false},
                               {5, "thermal-software", true},
                               {6, "thermal-hardware", true},
                               {7, "power-brake", true},
                               {8, "display-clocks", false}};

template <typename Function>
void find(void* handle, const char* symbol, Function*& function) {
  // The one way POSIX offers from an object pointer to a function.
  function = reinterpret_cast<Function*>(dlsym(handle, symbol));
}

template <typename Function, typename... Arguments>
std::optional<std::string> ask_text(Function* function, Arguments... arguments) {
  std::array<char, 96> text{};
  if (function == nullptr ||
      function(arguments..., text.data(), static_cast<unsigned>(text.size())) != kSuccess) {
    return std::nullopt;
  }
  text.back() = '\0';
  if (text.front() == '\0') return std::nullopt;
  return std::string(text.data());
}

template <typename Number, typename Function, typename... Arguments>
std::optional<Number> ask(Function* function, Arguments... arguments) {
  Number value{};
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

std::optional<double> scaled(std::optional<unsigned> value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

Gpu read_gpu(const NvmlTable& table, void* device) {
  Gpu gpu;
  gpu.name = ask_text(table.name, device);
  gpu.driver_version = ask_text(table.driver_version);
  gpu.sm_mhz = scaled(ask<unsigned>(table.clock, device, kSmClock), 1);
  gpu.sm_max_mhz = scaled(ask<unsigned>(table.max_clock, device, kSmClock), 1);
  gpu.memory_mhz = scaled(ask<unsigned>(table.clock, device, kMemoryClock), 1);
  gpu.power_limit_watts = scaled(ask<unsigned>(table.power_limit, device), 1e-3);
  gpu.temperature_celsius = scaled(ask<unsigned>(table.temperature, device, kChipSensor), 1);
  gpu.throttle_reasons = ask<unsigned long long>(table.throttle_reasons, device);
  return gpu;
}

std::optional<std::string> number_text(std::optional<double> value) {
  if (!value) return std::nullopt;
  return fmt::format("{:.6g}", *value);
}

std::string name_of_bit(int bit) {
  for (const Reason& reason : kReasons) {
    if (reason.bit == bit) return std::string(reason.name);
  }
  return fmt::format("bit-{}", bit);
}

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& file)
    : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) return;
  find(handle_, "nvmlInit_v2", table_.init);
  find(handle_, "nvmlShutdown", table_.shutdown);
  find(handle_, "nvmlSystemGetDriverVersion", table_.driver_version);
  find(handle_, "nvmlDeviceGetCount_v2", table_.device_count);
  find(handle_, "nvmlDeviceGetHandleByIndex_v2", table_.device);
  find(handle_, "nvmlDeviceGetName", table_.name);
  find(handle_, "nvmlDeviceGetClockInfo", table_.clock);
  find(handle_, "nvmlDeviceGetMaxClockInfo", table_.max_clock);
  find(handle_, "nvmlDeviceGetEnforcedPowerLimit", table_.power_limit);
  find(handle_, "nvmlDeviceGetCurrentClocksThrottleReasons", table_.throttle_reasons);
  // Newer drivers may drop the old name for this one.
  if (table_.throttle_reasons == nullptr)
    find(handle_, "nvmlDeviceGetCurrentClocksEventReasons", table_.throttle_reasons);
  find(handle_, "nvmlDeviceGetTemperature", table_.temperature);
}

NvmlLibrary::~NvmlLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::vector<Gpu> read_gpus(const NvmlTable& table) {
  std::vector<Gpu> gpus;
  if (table.init == nullptr || table.device_count == nullptr || table.device == nullptr ||
      table.init() != kSuccess) {
    return gpus;
  }
  const unsigned count = ask<unsigned>(table.device_count).value_or(0);
  for (unsigned index = 0; index < count; ++index) {
    // A device without a handle is one without facts, so that the others keep their numbers.
    const auto device = ask<void*>(table.device, index);
    gpus.push_back(device ? read_gpu(table, *device) : Gpu{});
  }
  if (table.shutdown != nullptr) table.shutdown();
  return gpus;
}

std::vector<Gpu> read_gpus() {
  const NvmlLibrary library;
  return read_gpus(library.table());
}

std::string throttle_text(std::uint64_t reasons) {
  if (reasons == 0) return "none";
  std::string text;
  for (int bit = 0; bit < 64; ++bit) {
    if ((reasons >> bit & 1) == 0) continue;
    if (!text.empty()) text += ',';
    text += name_of_bit(bit);
  }
  return text;
}

std::vector<std::string> gpu_faults(const std::vector<Gpu>& gpus) {
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::uint64_t slowing = 0;
    for (const Reason& reason : kReasons) {
      if (reason.is_fault) slowing |= std::uint64_t{1} << reason.bit;
    }
    slowing &= gpus[i].throttle_reasons.value_or(0);
    if (slowing == 0) continue;
    faults.push_back(fmt::format("GPU {} ({}) is slowed down: {}; let it cool or raise its limits",
                                 i, gpus[i].name.value_or("name unknown"), throttle_text(slowing)));
  }
  return faults;
}

std::vector<std::pair<std::string, std::optional<std::string>>> describe(
    const std::vector<Gpu>& gpus) {
  std::vector<std::pair<std::string, std::optional<std::string>>> facts;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    const auto add = [&](const char* fact, std::optional<std::string> value) {
      facts.emplace_back(fmt::format("gpu{}_{}", i, fact), std::move(value));
    };
    add("name", gpu.name);
    add("driver_version", gpu.driver_version);
    add("sm_mhz", number_text(gpu.sm_mhz));
    add("sm_max_mhz", number_text(gpu.sm_max_mhz));
    add("memory_mhz", number_text(gpu.memory_mhz));
    add("power_limit_watts", number_text(gpu.power_limit_watts));
    add("temperature_celsius", number_text(gpu.temperature_celsius));
    std::optional<std::string> reasons;
    if (gpu.throttle_reasons) reasons = throttle_text(*gpu.throttle_reasons);
    add("throttle_reasons", reasons);
  }
  return facts;
}

}  // namespace specbench::harness
