#include "harness/nvml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace specbench::harness {
namespace {

// Two planted devices; the second one tells nothing but its name.
int n_starts = 0;
int n_stops = 0;
int devices[2];
constexpr int kNotSupported = 3;

void put(std::string_view value, char* text, unsigned size) {
  std::memcpy(text, value.data(), std::min<std::size_t>(size, value.size() + 1));
}
bool is_first(void* device) { return device == &devices[0]; }

NvmlTable planted() {
  NvmlTable table;
  table.init = [] { return ++n_starts, 0; };
  table.shutdown = [] { return ++n_stops, 0; };
  table.driver_version = [](char* text, unsigned size) { return put("999.42", text, size), 0; };
  table.device_count = [](unsigned* count) { return *count = 2, 0; };
  table.device = [](unsigned index, void** device) { return *device = &devices[index], 0; };
  table.name = [](void* device, char* text, unsigned size) {
    return put(is_first(device) ? "Planted GPU" : "Silent GPU", text, size), 0;
  };
  table.clock = [](void* device, int domain, unsigned* mhz) {
    *mhz = domain == 1 ? 1500 : domain == 2 ? 2600 : 0;
    return is_first(device) ? 0 : kNotSupported;
  };
  table.max_clock = [](void* device, int domain, unsigned* mhz) {
    *mhz = domain == 1 ? 1980 : 0;
    return is_first(device) ? 0 : kNotSupported;
  };
  table.power_limit = [](void* device, unsigned* milliwatts) {
    *milliwatts = 700'500;
    return is_first(device) ? 0 : kNotSupported;
  };
  table.throttle_reasons = [](void* device, unsigned long long* bits) {
    *bits = 0x45;
    return is_first(device) ? 0 : kNotSupported;
  };
  table.temperature = [](void* device, int sensor, unsigned* celsius) {
    *celsius = sensor == 0 ? 61 : 0;
    return is_first(device) ? 0 : kNotSupported;
  };
  return table;
}

TEST(Nvml, ReadsPlantedDevices) {
  n_starts = n_stops = 0;
  const std::vector<Gpu> gpus = read_gpus(planted());
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].name, "Planted GPU");
  EXPECT_EQ(gpus[0].driver_version, "999.42");
  EXPECT_EQ(gpus[0].sm_mhz, 1500);
  EXPECT_EQ(gpus[0].sm_max_mhz, 1980);
  EXPECT_EQ(gpus[0].memory_mhz, 2600);
  EXPECT_EQ(gpus[0].power_limit_watts, 700.5);
  EXPECT_EQ(gpus[0].temperature_celsius, 61);
  EXPECT_EQ(gpus[0].throttle_reasons, 0x45u);
  EXPECT_EQ(gpus[1].name, "Silent GPU");
  EXPECT_FALSE(gpus[1].sm_mhz || gpus[1].sm_max_mhz || gpus[1].memory_mhz ||
               gpus[1].power_limit_watts || gpus[1].temperature_celsius ||
               gpus[1].throttle_reasons);
  EXPECT_EQ(n_starts, 1);
  EXPECT_EQ(n_stops, 1);
}

TEST(Nvml, WhatIsMissingIsAbsentAndNoError) {
  EXPECT_TRUE(read_gpus(NvmlTable{}).empty());
  NvmlTable table = planted();
  table.init = [] { return 9; };  // a driver that is not loaded
  EXPECT_TRUE(read_gpus(table).empty());
  table = planted();
  table.name = nullptr;
  table.throttle_reasons = nullptr;
  const std::vector<Gpu> gpus = read_gpus(table);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_FALSE(gpus[0].name || gpus[0].throttle_reasons);
  EXPECT_EQ(gpus[0].sm_mhz, 1500);
  table.device = [](unsigned index, void** device) {
    *device = &devices[index];
    return index == 0 ? kNotSupported : 0;
  };
  const std::vector<Gpu> second = read_gpus(table);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_FALSE(second[0].driver_version.has_value());
  EXPECT_EQ(second[1].driver_version, "999.42");
}

TEST(Nvml, AnAbsentLibraryHasNoTable) {
  const NvmlLibrary absent("libspecbench-no-such-library.so.1");
  EXPECT_FALSE(absent.is_open());
  EXPECT_TRUE(read_gpus(absent.table()).empty());
  const NvmlLibrary other("libc.so.6");  // opens, but has none of the functions
  EXPECT_TRUE(other.is_open());
  EXPECT_TRUE(other.table().init == nullptr);
  EXPECT_TRUE(read_gpus(other.table()).empty());
  EXPECT_NO_THROW(read_gpus());
}

TEST(Nvml, ReasonsHaveNames) {
  EXPECT_EQ(throttle_text(0), "none");
  EXPECT_EQ(throttle_text(0x45), "idle,power-cap,thermal-hardware");
  EXPECT_EQ(throttle_text(std::uint64_t{1} << 12), "bit-12");
}

TEST(Nvml, HeatAndPowerAreFaultsRestIsNot) {
  std::vector<Gpu> gpus(2);
  EXPECT_TRUE(gpu_faults(gpus).empty());
  gpus[0].throttle_reasons = 0x103;  // idle, application clocks, display clocks
  EXPECT_TRUE(gpu_faults(gpus).empty());
  gpus[1].name = "Hot GPU";
  gpus[1].throttle_reasons = 0x41;
  ASSERT_EQ(gpu_faults(gpus).size(), 1u);
  EXPECT_NE(gpu_faults(gpus)[0].find("GPU 1 (Hot GPU) is slowed down: thermal-hardware;"),
            std::string::npos)
      << gpu_faults(gpus)[0];
  for (const int bit : {2, 3, 5, 6, 7}) {
    gpus[1].throttle_reasons = std::uint64_t{1} << bit;
    EXPECT_EQ(gpu_faults(gpus).size(), 1u) << bit;
  }
}

TEST(Nvml, FactsAreDescribedByIndex) {
  EXPECT_TRUE(describe(std::vector<Gpu>{}).empty());
  const auto facts = describe(read_gpus(planted()));
  ASSERT_EQ(facts.size(), 16u);
  EXPECT_EQ(facts[0].first, "gpu0_name");
  EXPECT_EQ(facts[0].second, "Planted GPU");
  EXPECT_EQ(facts[5].first, "gpu0_power_limit_watts");
  EXPECT_EQ(facts[5].second, "700.5");
  EXPECT_EQ(facts[7].second, "idle,power-cap,thermal-hardware");
  EXPECT_EQ(facts[15].first, "gpu1_throttle_reasons");
  EXPECT_FALSE(facts[15].second.has_value());
}

}  // namespace
}  // namespace specbench::harness
