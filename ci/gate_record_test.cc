#include <gtest/gtest.h>

#include <cmath>

#include "ci/gate.h"
#include "ci/gate_test_support.h"
#include "results/record_json.h"

namespace specbench::ci {
namespace {

using testing::Sides;

TEST(GateRecord, HoldsTheChecksTheFiguresAndThePromise) {
  Sides sides;
  Policy policy;
  policy.figures = {"speedup", "cost"};
  const GateVerdict verdict = judge(sides.input(), policy);
  const results::Record record = gate_record(verdict, sides.input(), policy);
  EXPECT_EQ(record.suite, "gate");
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_EQ(record.verdict, verdict.sentence);
  EXPECT_EQ(record.options, policy_entries(policy));
  EXPECT_EQ(record.environment, sides.candidate.environment);
  const results::NamedTable* gate = results::find_table(record, "gate");
  ASSERT_NE(gate, nullptr);
  EXPECT_EQ(gate->columns,
            (std::vector<std::string>{"check", "outcome", "value", "lower", "upper", "threshold"}));
  EXPECT_EQ(gate->rows.size(), verdict.checks.size());
  EXPECT_EQ(record.checks.size(), verdict.checks.size());
  const results::NamedTable* pairs = results::find_table(record, "gate_pairs");
  ASSERT_NE(pairs, nullptr);
  ASSERT_EQ(pairs->rows.size(), 10U);
  const auto& rows_a = sides.baseline.tables[0].rows;
  const auto& rows_b = sides.candidate.tables[0].rows;
  EXPECT_DOUBLE_EQ(std::get<double>(pairs->rows[3][1]),
                   std::get<double>(rows_a[3][1]) - std::get<double>(rows_b[3][1]));
  EXPECT_DOUBLE_EQ(std::get<double>(pairs->rows[3][2]),
                   std::get<double>(rows_b[3][5]) - std::get<double>(rows_a[3][5]));
  const results::Metric* slowdown = results::find_metric(record, "slowdown.speedup");
  ASSERT_NE(slowdown, nullptr);
  EXPECT_EQ(slowdown->value, testing::find_check(verdict, "slowdown.speedup")->value);
  EXPECT_NEAR(*slowdown->level, 1.0 - 2.0 / 1024, 1e-12);  // the extremes of ten
  const results::Metric* seen = results::find_metric(record, "min_detectable_slowdown");
  ASSERT_NE(seen, nullptr);
  EXPECT_GT(*seen->value, 0.02);
  EXPECT_LT(*seen->value, 0.06);
  EXPECT_NE(seen->note.find("would have been seen with probability 0.9"), std::string::npos);
  EXPECT_NE(results::find_metric(record, "min_detectable_slowdown.cost"), nullptr);
  EXPECT_EQ(results::to_json(results::from_json(results::to_json(record))),
            results::to_json(record));
}

TEST(GateRecord, NoOutcomeButPassIsAPassedCheck) {
  Sides sides;
  sides.candidate.tables.clear();
  sides.candidate_lossless.exit_code = 2;
  const GateVerdict verdict = judge(sides.input(), {});
  const results::Record record = gate_record(verdict, sides.input(), {});
  EXPECT_EQ(record.exit_code, 3);
  for (std::size_t i = 0; i < record.checks.size(); ++i) {
    const bool has_passed = record.checks[i].status == results::CheckStatus::kPassed;
    EXPECT_EQ(has_passed, verdict.checks[i].outcome == Outcome::kPass) << record.checks[i].id;
    const bool is_void = verdict.checks[i].outcome == Outcome::kVoid;
    EXPECT_EQ(record.checks[i].detail.rfind("VOID: ", 0) == 0, is_void) << record.checks[i].id;
  }
  EXPECT_EQ(results::find_table(record, "gate_pairs"), nullptr);
  EXPECT_EQ(results::find_metric(record, "slowdown.speedup"), nullptr);
}

TEST(GateRecord, WhatDoesNotApplyIsSkippedAndAnInterruptionHasItsCode) {
  Sides sides;
  GateInput times = sides.input();
  times.baseline_lossless = times.candidate_lossless = nullptr;
  const results::Record record = gate_record(judge(times, {}), times, {});
  int n_skipped = 0;
  for (const results::Check& check : record.checks)
    n_skipped += check.id == "drift.lossless" && check.status == results::CheckStatus::kSkipped;
  EXPECT_EQ(n_skipped, 1);
  GateVerdict stopped;
  stopped.was_interrupted = true;
  EXPECT_EQ(gate_record(stopped, {}, {}).exit_code, 130);
  EXPECT_TRUE(gate_record(stopped, {}, {}).was_interrupted);
}

TEST(GateRecord, ExitCodesAreTheOutcomes) {
  for (const auto& [outcome, code] : {std::pair{Outcome::kPass, 0},
                                      {Outcome::kFail, 1},
                                      {Outcome::kInconclusive, 2},
                                      {Outcome::kVoid, 3}}) {
    GateVerdict verdict;
    verdict.outcome = outcome;
    EXPECT_EQ(gate_record(verdict, {}, {}).exit_code, code);
  }
}

}  // namespace
}  // namespace specbench::ci
