// The sweep: its words on typed figures, and short runs on the embedded model.
#include "suites/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/error.h"
#include "suites/fault_test_support.h"
#include "suites/latency_test_support.h"
#include "suites/latency_validity.h"
#include "suites/sweep_report.h"

namespace specbench::suites {
namespace {

using results::CheckStatus;

SweepCell cell(int k, int g, double estimate, double lower, double upper) {
  return {k, g, stats::Interval{estimate, lower, upper, 0.95}, 1.1, 1.5};
}

TEST(SweepReport, NamesTheBestAndWarnsThatItWasPicked) {
  const std::vector<SweepCell> cells = {cell(1, 1, 1.1, 1.05, 1.15), cell(3, 2, 1.3, 1.2, 1.4),
                                        cell(3, 4, 1.2, 1.1, 1.3)};
  results::Record record;
  report_sweep(cells, record);
  EXPECT_EQ(results::find_metric(record, "best_layers")->value, 3);
  EXPECT_EQ(results::find_metric(record, "best_draft_tokens")->value, 2);
  const results::Metric* best = results::find_metric(record, "best_speedup");
  EXPECT_EQ(best->value, 1.3);
  EXPECT_EQ(best->lower, 1.2);
  EXPECT_EQ(best->upper, 1.4);
  for (const char* words : {"best of 3", "1.300 x", "1.200..1.400", "too high",
                            "--suite latency --draft-layers 3 --draft-tokens 2"})
    EXPECT_NE(record.verdict.find(words), std::string::npos) << words << ": " << record.verdict;
  const results::NamedTable* table = results::find_table(record, "sweep");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->columns, (std::vector<std::string>{"layers", "draft_tokens", "speedup", "lower",
                                                      "upper", "predicted", "acceptance_length"}));
  EXPECT_EQ(table->rows[1], (std::vector<results::Value>{std::int64_t{3}, std::int64_t{2}, 1.3, 1.2,
                                                         1.4, 1.1, 1.5}));
}

TEST(SweepReport, SaysWhereNothingIsGained) {
  results::Record slower, doubtful;
  report_sweep(std::vector{cell(1, 1, 0.9, 0.8, 0.95)}, slower);
  EXPECT_NE(slower.verdict.find("none is faster"), std::string::npos) << slower.verdict;
  report_sweep(std::vector{cell(1, 1, 1.05, 0.98, 1.1)}, doubtful);
  EXPECT_NE(doubtful.verdict.find("does not exclude 1"), std::string::npos) << doubtful.verdict;
}

TEST(SweepReport, ACellWithoutASpeedUpIsAbsentNotZero) {
  std::vector<SweepCell> cells = {cell(1, 1, 1.1, 1.0, 1.2)};
  cells.push_back({2, 1, {}, {}, 1.0});
  results::Record record, empty;
  report_sweep(cells, record);
  const auto& row = results::find_table(record, "sweep")->rows[1];
  for (const std::size_t column : {2U, 3U, 4U, 5U})
    EXPECT_TRUE(std::holds_alternative<std::monostate>(row[column])) << column;
  EXPECT_EQ(results::find_metric(record, "best_layers")->value, 1);
  report_sweep(std::span(cells).subspan(1), empty);
  EXPECT_TRUE(empty.verdict.empty());
  EXPECT_FALSE(results::find_metric(empty, "best_speedup")->value);
}

TEST(SweepReport, APairIsTheBaselineAndTheArmThatWasAskedFor) {
  harness::Series series = typed_input().series;
  for (harness::Sample& sample : series.samples)
    if (sample.arm == kTwin) *sample.decode_ns *= 2;  // the third arm: half as fast as the second
  const std::vector<int> n_sequences = {1, 1};
  for (const auto& [arm, expected] : {std::pair{1, 1.25}, std::pair{2, 0.625}}) {
    const harness::Series pair = pair_of(series, arm);
    EXPECT_EQ(pair.arm_names.back(), series.arm_names[static_cast<std::size_t>(arm)]);
    const auto ratio =
        speedup({pair, n_sequences, 1}, kAutoregressive, kSpeculative, Timed::kDecode);
    ASSERT_TRUE(ratio);
    EXPECT_NEAR(ratio->estimate, expected, 1e-12);
  }
}

Options sweep_options() { return testing::embedded_options("sweep"); }
/// On a machine that is busy with other work too: then the sweep is void, but whole.
bool was_measured(const results::Record& record) {
  return record.exit_code == kPassed ||
         (record.exit_code == kVoid &&
          record.verdict.find("Measured all the same: the best of") != std::string::npos);
}

const SweepGrid kSmall{{3, 6, 99}, {1, 3}, 2, 8};

TEST(Sweep, MeasuresEveryCellOfASmallGrid) {
  testing::Bench bench(sweep_options());
  results::Record record = start_record(bench.context);
  run_sweep(bench.context, record, kSmall);
  EXPECT_TRUE(was_measured(record)) << record.verdict;
  for (const results::Check& check : record.checks)
    EXPECT_EQ(check.status, CheckStatus::kPassed) << check.id << ": " << check.detail;
  EXPECT_EQ(record.checks.size(), 5U + 2U);           // the arms; equal.timed and validity
  constexpr std::size_t kPasses = 5 + kLeastWarmups;  // of every arm over two prompts
  EXPECT_EQ(record.samples.size(), 5U * 2U * kPasses);
  const results::NamedTable* table = results::find_table(record, "sweep");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 4U);  // no layer 99
  for (const auto& row : table->rows) {
    const double speedup = std::get<double>(row[2]), predicted = std::get<double>(row[5]);
    EXPECT_LE(std::get<double>(row[3]), speedup);
    EXPECT_GE(std::get<double>(row[4]), speedup);
    EXPECT_LT(std::fabs(std::log(speedup / predicted)), 0.7);  // of the same order, on any machine
    EXPECT_GE(std::get<double>(row[6]), 1.0);
    EXPECT_LE(std::get<double>(row[6]), 1.0 + static_cast<double>(std::get<std::int64_t>(row[1])));
  }
}

TEST(Sweep, DoesNotTimeWhatIsWrong) {
  Options options = sweep_options();
  options.sampling.temperature = 0;
  options.mutant = "K5";  // rows of a verification go on from one another's states
  testing::Bench bench(options);
  results::Record record = start_record(bench.context);
  run_sweep(bench.context, record, kSmall);
  EXPECT_EQ(record.exit_code, kFailed);
  EXPECT_NE(record.verdict.find("equal.tokens"), std::string::npos) << record.verdict;
  EXPECT_EQ(results::find_table(record, "sweep"), nullptr);
}

TEST(Sweep, GreedyTokensAreTheSameInEveryCell) {
  Options options = sweep_options();
  options.sampling.temperature = 0;
  testing::Bench bench(options);
  results::Record record = start_record(bench.context);
  run_sweep(bench.context, record, kSmall);
  EXPECT_TRUE(was_measured(record)) << record.verdict;
}

TEST(Sweep, AStoppedRunIsVoid) {
  testing::Bench bench(sweep_options());
  bench.stop = true;
  results::Record record = start_record(bench.context);
  run_sweep(bench.context, record, kSmall);
  EXPECT_EQ(record.exit_code, kVoid);
  EXPECT_NE(record.verdict.find("interrupted"), std::string::npos) << record.verdict;
}

TEST(Sweep, RefusesWhatItCannotVary) {
  const auto refused = [](const std::function<void(Options&)>& change, const SweepGrid& grid) {
    Options options = sweep_options();
    change(options);
    testing::Bench bench(options);
    results::Record record = start_record(bench.context);
    try {
      run_sweep(bench.context, record, grid);
    } catch (const engine::InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const auto has = [](const std::string& sentence, const char* words) {
    return sentence.find(words) != std::string::npos;
  };
  EXPECT_PRED2(has, refused([](Options& o) { o.drafter = "oracle"; }, kSmall), "--drafter");
  EXPECT_PRED2(has, refused([](Options& o) { o.batch = 4; }, kSmall), "--batch");
  EXPECT_PRED2(has, refused([](Options& o) { o.max_tokens = 1; }, kSmall), "--max-tokens");
  EXPECT_PRED2(has, refused([](Options&) {}, {{12}, {1}, 2, 8}), "12 layers");
}

TEST(SweepSlow, TheWholeGridNamesAWinner) {
  testing::Bench bench(sweep_options());
  results::Record record = start_record(bench.context);
  run_sweep(bench.context, record);
  EXPECT_TRUE(was_measured(record)) << record.verdict;
  ASSERT_NE(results::find_table(record, "sweep"), nullptr);
  EXPECT_EQ(results::find_table(record, "sweep")->rows.size(), 36U);
  EXPECT_NE(record.verdict.find("the best of 36"), std::string::npos) << record.verdict;
}

}  // namespace
}  // namespace specbench::suites
