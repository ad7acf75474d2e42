#include "suites/process_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "suites/latency_test_support.h"

namespace specbench::suites {
namespace {

/// The typed measurement with an injected arm of 5 % more decode time and a yardstick of 800 ns.
harness::Series typed_series() {
  harness::Series series = typed_input().series;
  series.arm_names.insert(series.arm_names.end(), {kArmNames[kInjected], kArmNames[kYardstick]});
  for (int block = 0; block < kWholeBlocks; ++block) {
    for (int c = 0; c < kCases; ++c) {
      series.samples.push_back(sample_of(kInjected, c, block, {0, 500, 2500, 5000, 300, 600}, 11));
      series.samples.push_back(sample_of(kYardstick, c, block, {400, 0, 0, 0, 0, 0}, 0));
    }
  }
  return series;
}

const std::vector<int> kOneEach{1, 1};

TEST(ProcessValues, LogRatiosOfTheTypedMeasurement) {
  const harness::Series series = typed_series();
  const ProcessValues values = process_values({series, kOneEach, 1}, 3, 0.25);
  EXPECT_EQ(values.process, 3);
  EXPECT_EQ(values.n_blocks, kWholeBlocks);
  EXPECT_DOUBLE_EQ(values.marked, 0.25);
  EXPECT_NEAR(values.log_speedup.value(), std::log(10000.0 / 8000.0), 1e-12);
  EXPECT_NEAR(values.log_e2e_speedup.value(), std::log(10500.0 / 8500.0), 1e-12);
  EXPECT_DOUBLE_EQ(values.log_aa.value(), 0.0);
  EXPECT_NEAR(values.log_injected.value(), std::log(1.05), 1e-12);
  EXPECT_NEAR(values.log_cost.value(), std::log(800.0 / 800.0), 1e-12);
}

TEST(ProcessValues, OneSlowBlockDoesNotMoveTheMedian) {
  harness::Series series = typed_series();
  for (harness::Sample& sample : series.samples)
    if (sample.block == 2 && sample.arm == kSpeculative) sample.decode_ns = 1'000'000;
  const ProcessValues values = process_values({series, kOneEach, 1}, 0, 0);
  EXPECT_NEAR(values.log_speedup.value(), std::log(1.25), 1e-12);
}

TEST(ProcessValues, CommonDriftCancels) {
  harness::Series series = typed_series();
  for (harness::Sample& sample : series.samples) {
    const int factor = 1 + sample.block;
    sample.wall_ns *= factor;
    sample.decode_ns = *sample.decode_ns * factor;
  }
  const ProcessValues values = process_values({series, kOneEach, 1}, 0, 0);
  EXPECT_NEAR(values.log_speedup.value(), std::log(1.25), 1e-12);
  EXPECT_NEAR(values.log_cost.value(), 0.0, 1e-12);
}

TEST(ProcessValues, AnArmThatDidNotRunIsAbsent) {
  const harness::Series series = typed_input().series;
  const ProcessValues values = process_values({series, kOneEach, 1}, 0, 0);
  EXPECT_TRUE(values.log_speedup);
  EXPECT_FALSE(values.log_injected);
  EXPECT_FALSE(values.log_cost);
}

TEST(ProcessValues, TableGoesThereAndBack) {
  const harness::Series series = typed_series();
  const ProcessValues all[] = {process_values({series, kOneEach, 1}, 0, 0.5),
                               process_values({typed_input().series, kOneEach, 1}, 1, 0)};
  results::Record record;
  record.tables.push_back(process_table(all));
  const auto back = read_process_table(record);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].log_injected, all[0].log_injected);
  EXPECT_EQ(back[0].marked, 0.5);
  EXPECT_EQ(back[1].process, 1);
  EXPECT_FALSE(back[1].log_cost);
  EXPECT_EQ(present(back, &ProcessValues::log_cost).size(), 1U);
  record.tables.front().columns.back() = "something";
  EXPECT_THROW(read_process_table(record), std::invalid_argument);
  EXPECT_TRUE(read_process_table(results::Record{}).empty());
}

}  // namespace
}  // namespace specbench::suites
