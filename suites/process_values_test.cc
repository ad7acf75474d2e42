#include "suites/process_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "suites/latency_test_support.h"

namespace specbench::suites {
namespace {

/// The typed measurement with an injected arm of 5 % more decode time.
harness::Series typed_series() {
  harness::Series series = typed_input().series;
  series.arm_names.push_back(kArmNames[kInjected]);
  for (int block = 0; block < kWholeBlocks; ++block) {
    for (int c = 0; c < kCases; ++c) {
      series.samples.push_back(sample_of(kInjected, c, block, {0, 500, 2500, 5000, 300, 600}, 11));
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
  EXPECT_FALSE(values.log_cost);  // of a pair that took turns
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
}

TEST(ProcessValues, AnArmThatDidNotRunIsAbsent) {
  const harness::Series series = typed_input().series;
  const ProcessValues values = process_values({series, kOneEach, 1}, 0, 0);
  EXPECT_TRUE(values.log_speedup);
  EXPECT_FALSE(values.log_injected);
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
  EXPECT_FALSE(back[1].log_injected);
  EXPECT_EQ(present(back, &ProcessValues::log_injected).size(), 1U);
  record.tables.front().columns.back() = "something";
  EXPECT_THROW(read_process_table(record), std::invalid_argument);
  EXPECT_TRUE(read_process_table(results::Record{}).empty());
}

results::Record process_of(std::vector<std::int64_t> decode_ns) {
  results::Record record;
  ProcessValues values;
  record.tables = {process_table({&values, 1})};
  int block = 0;
  for (const std::int64_t ns : decode_ns) {
    results::SampleRow row;
    row.arm = kArmNames[block % 2 == 0 ? kSpeculative : kTwin];
    row.block = block++;
    row.decode_ns = ns;
    row.n_tokens = 10;
    record.samples.push_back(row);
  }
  return record;
}

TEST(ProcessValues, CostIsPairedRunByRun) {
  // The machine slows down threefold on the way; the candidate is 10 % slower throughout.
  results::Record baseline = process_of({1000, 2000, 3000}),
                  candidate = process_of({1100, 2200, 3300});
  candidate.samples[0].is_warmup = true;  // no warm-up counts
  EXPECT_NEAR(paired_log_cost(baseline, candidate).value(), std::log(1.1), 1e-12);
  candidate.samples[1].arm = kArmNames[kAutoregressive];
  candidate.samples[2].block = 7;
  EXPECT_FALSE(paired_log_cost(baseline, candidate));
  set_log_cost(0.25, candidate);
  EXPECT_EQ(read_process_table(candidate).at(0).log_cost, 0.25);
}

}  // namespace
}  // namespace specbench::suites
