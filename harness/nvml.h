// What NVIDIA's management library says about the GPUs. The library is opened at run time and may
// be missing: no GPUs then, and no error. Judges nothing but what `gpu_faults` says; changes no
// setting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specbench::harness {

// A fact that the device does not tell is absent.
struct Gpu {
  std::optional<std::string> name;
  std::optional<std::string> driver_version;
  std::optional<double> sm_mhz;  // now
  std::optional<double> sm_max_mhz;
  std::optional<double> memory_mhz;               // now
  std::optional<double> power_limit_watts;        // enforced
  std::optional<double> temperature_celsius;      // of the chip
  std::optional<std::uint64_t> throttle_reasons;  // bits as in the library; 0: none
};

// The functions used, with our own declarations of their C interface: 0 is success, a device an
// opaque pointer. Those that a driver lacks are null.
struct NvmlTable {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char* text, unsigned size) = nullptr;
  int (*device_count)(unsigned* count) = nullptr;
  int (*device)(unsigned index, void** device) = nullptr;
  int (*name)(void* device, char* text, unsigned size) = nullptr;
  int (*clock)(void* device, int domain, unsigned* mhz) = nullptr;
  int (*max_clock)(void* device, int domain, unsigned* mhz) = nullptr;
  int (*power_limit)(void* device, unsigned* milliwatts) = nullptr;
  int (*throttle_reasons)(void* device, unsigned long long* bits) = nullptr;
  int (*temperature)(void* device, int sensor, unsigned* celsius) = nullptr;
};

// An open library; it stays open as long as this lives.
class NvmlLibrary {
 public:
  // `file` is found as dlopen finds it; tests name others.
  explicit NvmlLibrary(const std::string& file = "libnvidia-ml.so.1");
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  bool is_open() const { return handle_ != nullptr; }
  const NvmlTable& table() const { return table_; }  // all null where the library is missing

 private:
  void* handle_ = nullptr;
  NvmlTable table_;
};

// Every GPU the table tells of, by index; empty if it lacks init, device_count or device, or they
// fail. The library is started and shut down.
std::vector<Gpu> read_gpus(const NvmlTable& table);

// The GPUs of this machine: opens the library, reads, closes it. Up to a second where it is found.
std::vector<Gpu> read_gpus();

// "power-cap,thermal-hardware": names of the bits, unknown ones as "bit-12"; "none" for 0.
std::string throttle_text(std::uint64_t reasons);

// One sentence for each GPU that is slowed by heat or power.
std::vector<std::string> gpu_faults(const std::vector<Gpu>& gpus);

// Every fact as key and value in a fixed order: gpu0_name, gpu0_driver_version, ...; absent facts
// are absent values.
std::vector<std::pair<std::string, std::optional<std::string>>> describe(
    const std::vector<Gpu>& gpus);

}  // namespace specbench::harness
