#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "ci/gate.h"
#include "ci/gate_fault_test_support.h"

namespace specbench::ci {
namespace {

using results::Value;
using testing::drop_column;
using testing::expect_faults;
using testing::set_entry;
using testing::Sides;
using testing::table_of;

TEST(GateValidity, RecordsThatCannotBeComparedAreVoid) {
  expect_faults({
      {"other machine",
       [](Sides& s) { set_entry(s.candidate.environment, "cpu_model", Value(std::string("B"))); },
       Outcome::kVoid, "validity.machine", "cpu_model (A and B)"},
      {"other kernel",
       [](Sides& s) { set_entry(s.candidate.environment, "kernel", Value(std::string("L"))); },
       Outcome::kVoid, "validity.machine", "kernel"},
      {"rebooted",
       [](Sides& s) { set_entry(s.candidate.environment, "boot_id", Value(std::string("c"))); },
       Outcome::kVoid, "validity.machine", "boot_id (b and c)"},
      {"no machine", [](Sides& s) { s.candidate.environment = s.baseline.environment = {}; },
       Outcome::kVoid, "validity.machine", "neither record names"},
      {"other model",
       [](Sides& s) { set_entry(s.candidate.model, "hash", Value(std::string("b"))); },
       Outcome::kVoid, "validity.model", "a95c and b"},
      {"no model", [](Sides& s) { s.candidate.model = s.baseline.model = {}; }, Outcome::kVoid,
       "validity.model", "- and -"},
      {"other options",
       [](Sides& s) { set_entry(s.candidate.options, "draft_tokens", std::int64_t{3}); },
       Outcome::kVoid, "validity.options", "draft_tokens (2 and 3)"},
      {"other samples",
       [](Sides& s) { set_entry(s.candidate_lossless.options, "samples", std::int64_t{9}); },
       Outcome::kVoid, "validity.options.lossless", "samples (100000 and 9)"},
      {"other schema", [](Sides& s) { --s.candidate.schema_version; }, Outcome::kVoid,
       "validity.schema", "schema versions"},
      {"a schema to come", [](Sides& s) { s.candidate.schema_version = 77; }, Outcome::kVoid,
       "validity.record.candidate", "schema version 77"},
      {"interrupted", [](Sides& s) { s.candidate.was_interrupted = true; }, Outcome::kVoid,
       "validity.record.candidate", "interrupted"},
      {"void itself", [](Sides& s) { s.baseline.exit_code = 3; }, Outcome::kVoid,
       "validity.record.baseline", "void itself"},
      {"a broken baseline",
       [](Sides& s) { s.baseline.checks[0].status = results::CheckStatus::kFailed; },
       Outcome::kVoid, "validity.baseline_checks", "identity.rounds"},
      {"a broken baseline's exit code", [](Sides& s) { s.baseline.exit_code = 1; }, Outcome::kVoid,
       "validity.record.baseline", "broken"},
  });
}

TEST(GateValidity, MissingValuesAreVoid) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_faults({
      {"no table", [](Sides& s) { s.candidate.tables.clear(); }, Outcome::kVoid,
       "validity.values.candidate", "no table process_values"},
      {"no column", [](Sides& s) { drop_column(s.candidate, "log_aa"); }, Outcome::kVoid,
       "validity.values.candidate", "without the column log_aa"},
      {"no process column", [](Sides& s) { drop_column(s.baseline, "process"); }, Outcome::kVoid,
       "validity.values.baseline", "without the column process"},
      {"null", [](Sides& s) { table_of(s.candidate).rows[3][1] = Value(); }, Outcome::kVoid,
       "validity.values.candidate", "no finite log_speedup of process 3"},
      {"NaN", [nan](Sides& s) { table_of(s.baseline).rows[4][1] = nan; }, Outcome::kVoid,
       "validity.values.baseline", "no finite log_speedup of process 4"},
      {"text", [](Sides& s) { table_of(s.baseline).rows[4][1] = Value(std::string("1")); },
       Outcome::kVoid, "validity.values.baseline", "no finite log_speedup"},
      {"a process twice", [](Sides& s) { table_of(s.candidate).rows[4][0] = std::int64_t{3}; },
       Outcome::kVoid, "validity.values.candidate", "process 3 twice"},
      {"a short row", [](Sides& s) { table_of(s.candidate).rows[4].pop_back(); }, Outcome::kVoid,
       "validity.values.candidate", "cut short"},
      {"no injected arm",
       [](Sides& s) {
         for (auto& row : table_of(s.candidate).rows) row[4] = Value();
       },
       Outcome::kVoid, "validity.values.candidate", "log_injected"},
      {"no metric", [](Sides& s) { s.candidate.metrics.erase(s.candidate.metrics.begin()); },
       Outcome::kVoid, "validity.values.candidate", "metric speedup"},
      {"a metric of null", [](Sides& s) { s.candidate.metrics[2].value.reset(); }, Outcome::kVoid,
       "validity.values.candidate", "acceptance_length"},
      {"no counter", [](Sides& s) { s.baseline.counters.erase(s.baseline.counters.begin()); },
       Outcome::kVoid, "validity.values.baseline", "counter rounds"},
      {"too few processes", [](Sides& s) { table_of(s.candidate).rows.pop_back(); }, Outcome::kVoid,
       "validity.processes", "9 processes"},
      {"processes that do not pair",
       [](Sides& s) { table_of(s.candidate).rows[9][0] = std::int64_t{77}; }, Outcome::kVoid,
       "validity.processes", "9 processes"},
  });
}

TEST(GateValidity, AnInstrumentThatCannotBeTrustedIsVoid) {
  expect_faults({
      {"wide A/A", [](Sides& s) { s.candidate.tables = {testing::process_table({.noise = 0.1})}; },
       Outcome::kVoid, "validity.aa.candidate", "too wide"},
      {"biased A/A", [](Sides& s) { s.baseline.tables = {testing::process_table({.bias = 0.03})}; },
       Outcome::kVoid, "validity.aa.baseline", "timed differently, by more than 1.00 %"},
      {"injected work not seen",
       [](Sides& s) { s.candidate.tables = {testing::process_table({.injected = 0.0})}; },
       Outcome::kVoid, "validity.injected.candidate", "not seen"},
      {"marked samples",
       [](Sides& s) {
         for (auto& row : table_of(s.candidate).rows) row[7] = 0.21;
       },
       Outcome::kVoid, "validity.marked.candidate", "21.00 % of the candidate's samples"},
  });
}

// Under a percent between equal arms cannot turn a verdict about two.
TEST(GateValidity, ABiasTooSmallToMatterIsNoObstacle) {
  Sides sides;
  sides.baseline.tables = {testing::process_table({.bias = 0.008})};
  const GateVerdict verdict = judge(sides.input(), Policy{});
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.sentence;
  Policy strict;
  strict.max_aa_bias = 0.001;
  EXPECT_EQ(judge(sides.input(), strict).outcome, Outcome::kVoid);
}

// One process in ten that was disturbed widens the extremes, not what the instrument can resolve.
TEST(GateValidity, OneDisturbedProcessDoesNotBlindTheInstrument) {
  Sides sides;
  auto& rows = table_of(sides.candidate).rows;
  rows[4][3] = 0.12;   // log_aa
  rows[7][4] = -0.03;  // log_injected
  const GateVerdict verdict = judge(sides.input(), Policy{});
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.sentence;
  for (const std::size_t p : {2U, 5U, 6U}) rows[p][3] = -0.12;  // and six of ten do widen it
  for (const std::size_t p : {7U, 8U}) rows[p][3] = 0.12;
  EXPECT_EQ(judge(sides.input(), Policy{}).outcome, Outcome::kVoid);
}

}  // namespace
}  // namespace specbench::ci
