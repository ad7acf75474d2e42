#include "suites/processes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/error.h"
#include "results/record_file.h"
#include "suites/process_values.h"

namespace specbench::suites {
namespace {

namespace fs = std::filesystem;

const std::atomic<bool> kGoOn{false};

fs::path fresh_folder(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / ("specbench_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

/// A record of one process whose speed-up is e^value.
results::Record part(int process, double value, std::int64_t accepted = 7) {
  results::Record record;
  record.suite = "latency";
  record.metrics = {{"speedup", std::exp(value), "ratio", {}, {}, {}, "within-process"},
                    {"draft_ms", 1.0 + process, "ms", {}, {}, {}, "mean of a round"},
                    {"acceptance_length", 2.5, "1", {}, {}, {}, ""}};
  record.counters = {{"accepted", accepted}};
  record.checks = {{"identity.rounds", results::CheckStatus::kPassed, ""}};
  ProcessValues values;
  values.process = process;
  values.log_speedup = value;
  values.n_blocks = 8;
  record.tables = {process_table({&values, 1})};
  results::SampleRow sample;
  sample.arm = "speculative";
  sample.process = process;
  record.samples.push_back(sample);
  return record;
}

std::vector<results::Record> ten_parts() {
  std::vector<results::Record> records;
  for (int p = 0; p < 10; ++p) records.push_back(part(p, 0.01 * p));
  return records;
}

TEST(Processes, MergedSpeedupIsTheMedianWithOrderStatistics) {
  const results::Record merged = merge_processes(ten_parts());
  const results::Metric* speedup = results::find_metric(merged, "speedup");
  ASSERT_NE(speedup, nullptr);
  EXPECT_NEAR(speedup->value.value(), std::exp(0.045), 1e-12);
  EXPECT_NEAR(speedup->lower.value(), std::exp(0.01), 1e-12);  // ranks 2 and 9 of ten: .979
  EXPECT_NEAR(speedup->upper.value(), std::exp(0.08), 1e-12);
  EXPECT_NEAR(speedup->level.value(), 1 - 22.0 / 1024, 1e-12);
  EXPECT_EQ(merged.samples.size(), 10U);
  EXPECT_EQ(read_process_table(merged).size(), 10U);
  EXPECT_EQ(merged.exit_code, kPassed);
  EXPECT_NEAR(*results::find_metric(merged, "draft_ms")->value, 5.5, 1e-12);
  EXPECT_FALSE(results::find_metric(merged, "acceptance_length")->lower);  // exact: no spread
}

TEST(Processes, MergedRunSaysHowSmallAnEffectItWouldHaveSeen) {
  const auto effect = [](double scale) {
    std::vector<results::Record> records;
    for (int p = 0; p < 10; ++p) records.push_back(part(p, scale * 0.01 * p));
    const results::Record merged = merge_processes(std::move(records));
    return results::find_metric(merged, "min_detectable_slowdown")->value.value();
  };
  // Spread .03: a bound over ten of them is off by about twice their spread, hardly by more.
  EXPECT_GT(effect(1), 0.03);
  EXPECT_LT(effect(1), 0.12);
  EXPECT_NEAR(std::log1p(effect(2)), 2 * std::log1p(effect(1)), 1e-9);  // scales with the spread
  const results::Record few = merge_processes({part(0, 0.1), part(1, 0.2)});
  EXPECT_FALSE(results::find_metric(few, "min_detectable_slowdown")->value);
}

TEST(Processes, OtherCountersAreABrokenRun) {
  auto records = ten_parts();
  records[4] = part(4, 0.04, 8);
  const results::Record merged = merge_processes(std::move(records));
  EXPECT_EQ(merged.exit_code, kFailed);
  EXPECT_NE(merged.verdict.find("Process 4 counted 8 accepted"), std::string::npos);
}

TEST(Processes, AFailedCheckOfAnyProcessFailsTheRun) {
  auto records = ten_parts();
  records[9].checks[0] = {"identity.rounds", results::CheckStatus::kFailed, "3 is not 4."};
  const results::Record merged = merge_processes(std::move(records));
  EXPECT_EQ(merged.exit_code, kFailed);
  EXPECT_NE(merged.verdict.find("Process 9: 3 is not 4."), std::string::npos);
}

TEST(Processes, WordsForAChild) {
  const std::vector<std::string> words{
      "--suite", "latency",     "--out",    "a.json", "--resume",      "--seed=3", "--quiet",
      "--stop",  "--processes", "--policy", "x",      "--processes=9", "--top-k",  "5"};
  constexpr std::string_view kTaken[] = {"--policy"};
  // The text of --stop is a word like any other: here it reads as an option, as the parser reads
  // it.
  EXPECT_EQ(
      words_for_child(words, kTaken),
      (std::vector<std::string>{"--suite", "latency", "--seed=3", "--stop", "x", "--top-k", "5"}));
}

TEST(Processes, PartsStayOnlyWhereKeptAndAreTakenUpByTheirOwnRun) {
  const fs::path out = fresh_folder("parts") / "run.json";
  {
    Parts parts(out, "one", false);
    results::RecordFile(parts.file("process-0")).commit(part(0, 0));
    parts.keep();
  }
  EXPECT_THROW(Parts(out, "another", true), engine::InputError);
  {
    const Parts parts(out, "one", true);
    EXPECT_TRUE(parts.has("process-0"));
    const auto record = measure_part({"/nowhere", {}, "process-0"}, parts, kGoOn);
    EXPECT_EQ(record.value().suite, "latency");  // taken up, not measured
  }
  EXPECT_FALSE(fs::exists(out.string() + ".parts"));
}

TEST(Processes, AForeignFolderIsNotEmptied) {
  const fs::path out = fresh_folder("foreign") / "run.json";
  fs::create_directories(out.string() + ".parts");
  std::ofstream(out.string() + ".parts/thesis.txt") << "years of work";
  EXPECT_THROW(Parts(out, "one", false), engine::InputError);
  EXPECT_TRUE(fs::exists(out.string() + ".parts/thesis.txt"));
}

TEST(Processes, AnotherProgramIsNamed) {
  for (const char* binary : {"/bin/true", "/bin/cat", "/nowhere/specbench"}) {
    try {
      require_specbench(binary, kGoOn);
      FAIL() << binary << " was taken for specbench";
    } catch (const engine::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(binary), std::string::npos);
    }
  }
}

TEST(Processes, AChildThatLeavesNoRecordIsAnError) {
  const Parts parts("", "one", false);
  EXPECT_THROW(measure_part({"/bin/false", {}, "process-0"}, parts, kGoOn), std::runtime_error);
}

}  // namespace
}  // namespace specbench::suites
