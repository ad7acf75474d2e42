#include "ci/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "ci/gate_fault_test_support.h"

namespace specbench::ci {
namespace {

using results::Value;
using testing::expect_faults;
using testing::set_counter;
using testing::set_entry;
using testing::Sides;
using testing::table_of;

TEST(Gate, UnchangedCodePasses) {
  const Sides sides;
  const GateVerdict verdict = judge(sides.input(), {});
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.sentence;
  EXPECT_EQ(verdict.n_wanted, 0);
  for (const GateCheck& check : verdict.checks)
    EXPECT_EQ(check.outcome, Outcome::kPass) << check.id << ": " << check.detail;
  const GateCheck* slowdown = testing::find_check(verdict, "slowdown.cost");
  ASSERT_NE(slowdown, nullptr);
  EXPECT_LT(*slowdown->lower, 0.02);
  EXPECT_LT(*slowdown->upper, 0.05);
  EXPECT_EQ(*slowdown->threshold, 0.05);
  EXPECT_NE(verdict.sentence.find("cost at most"), std::string::npos) << verdict.sentence;
}

TEST(Gate, ChecksStandInTheirOrder) {
  const GateVerdict verdict = judge(Sides().input(), {.speedup_floor = 1.0});
  std::string groups;
  for (const GateCheck& check : verdict.checks) {
    const std::string group = check.id.substr(0, check.id.find('.'));
    if (groups.size() < group.size() || groups.substr(groups.size() - group.size()) != group)
      groups += " " + group;
  }
  EXPECT_EQ(groups, " validity property counters floor slowdown drift identities");
}

TEST(Gate, BrokenPropertiesFail) {
  expect_faults({
      {"a changed counter", [](Sides& s) { set_counter(s.candidate, "emitted", 641); },
       Outcome::kFail, "counters.exact", "emitted: 641 instead of 640"},
      {"a missing counter", [](Sides& s) { s.candidate.counters.pop_back(); }, Outcome::kFail,
       "counters.exact", "token_layers.speculative: missing instead of 13548"},
      {"a failed check",
       [](Sides& s) {
         s.candidate.checks[2].status = results::CheckStatus::kFailed;
         s.candidate.exit_code = 1;
       },
       Outcome::kFail, "property.candidate", "counters.token_layers"},
      {"an exit code alone",
       [](Sides& s) {
         s.candidate.exit_code = 1;
         s.candidate.verdict = "FAILED: x";
       },
       Outcome::kFail, "property.candidate", "FAILED: x"},
      {"a broken identity",
       [](Sides& s) { s.candidate.checks[0].status = results::CheckStatus::kFailed; },
       Outcome::kFail, "identities", "identity.rounds"},
      {"unequal tokens",
       [](Sides& s) { s.candidate.checks[3].status = results::CheckStatus::kFailed; },
       Outcome::kFail, "identities", "equal.tokens"},
      {"a failing law", [](Sides& s) { s.candidate_lossless.tests[1].verdict = "FAIL"; },
       Outcome::kFail, "drift.laws", "wide.all.p"},
      {"not lossless",
       [](Sides& s) {
         s.candidate_lossless.exit_code = 1;
         s.candidate_lossless.verdict = "NOT LOSSLESS (real.all.id.ks)";
       },
       Outcome::kFail, "drift.lossless", "NOT LOSSLESS"},
      {"acceptance fell", [](Sides& s) { set_counter(s.candidate_lossless, "accepted", 55000); },
       Outcome::kFail, "drift.acceptance_length", "it fell"},
      {"acceptance rose", [](Sides& s) { set_counter(s.candidate_lossless, "accepted", 58000); },
       Outcome::kFail, "drift.acceptance_length", "it rose"},
      {"certified_tv rose", [](Sides& s) { s.candidate_lossless.metrics[0].value = 0.02; },
       Outcome::kFail, "drift.certified_tv", "replays differ"},
  });
}

TEST(Gate, ABrokenPropertyStandsWhereTimingIsVoid) {
  expect_faults({
      {"a mutant on a noisy machine",
       [](Sides& s) {
         set_counter(s.candidate, "accepted", 3600);
         s.candidate.tables = {testing::process_table({.noise = 0.1})};
       },
       Outcome::kFail, "counters.exact", "accepted: 3600"},
      {"a bent law and no table",
       [](Sides& s) {
         s.candidate_lossless.tests[0].verdict = "FAIL";
         s.candidate.tables.clear();
       },
       Outcome::kFail, "drift.laws", "real.all.id.ks"},
  });
}

TEST(Gate, WhatIsNoLongerLookedAtIsVoid) {
  expect_faults({
      {"a law is gone", [](Sides& s) { s.candidate_lossless.tests.pop_back(); }, Outcome::kVoid,
       "drift.laws", "wide.all.p"},
      {"an identity is gone",
       [](Sides& s) { s.candidate.checks.erase(s.candidate.checks.begin()); }, Outcome::kVoid,
       "identities", "identity.rounds"},
      {"an identity is skipped",
       [](Sides& s) { s.candidate.checks[1].status = results::CheckStatus::kSkipped; },
       Outcome::kVoid, "identities", "equal.counts"},
      {"no certified_tv", [](Sides& s) { s.candidate_lossless.metrics[0].value.reset(); },
       Outcome::kVoid, "drift.certified_tv", "no finite certified_tv"},
      {"no acceptance_length", [](Sides& s) { s.candidate_lossless.metrics.pop_back(); },
       Outcome::kVoid, "drift.acceptance_length", "acceptance_length"},
      {"accepted above drafted",
       [](Sides& s) { set_counter(s.candidate_lossless, "accepted", 99999); }, Outcome::kVoid,
       "drift.acceptance_length", "no legal counters"},
  });
}

TEST(Gate, DoubtIsInconclusive) {
  expect_faults({
      {"a slowdown between the thresholds",
       [](Sides& s) {
         s.baseline = testing::latency_record({.seed = 2, .noise = 0.016});
         s.candidate = testing::latency_record({.seed = 3, .noise = 0.016, .slowdown = 0.035});
       },
       Outcome::kInconclusive, "slowdown.cost", "neither above 2.00 % nor below 5.00 %"},
      {"a short lossless run",
       [](Sides& s) {
         s.candidate_lossless.exit_code = 2;
         s.candidate_lossless.verdict = "INCONCLUSIVE (raise --samples)";
       },
       Outcome::kInconclusive, "drift.lossless", "raise --samples"},
      {"both certify too little",
       [](Sides& s) {
         s.candidate_lossless.metrics[0].value = s.baseline_lossless.metrics[0].value = 0.02;
       },
       Outcome::kInconclusive, "drift.certified_tv", "raise lossless_samples"},
  });
}

TEST(Gate, ASlowdownFailsInEachGatedFigure) {
  Policy policy;
  policy.figures = {"speedup", "cost"};
  expect_faults(
      {{"slower",
        [](Sides& s) { s.candidate = testing::latency_record({.seed = 2, .slowdown = 0.08}); },
        Outcome::kFail, "slowdown.cost", "more than 2.00 %"}},
      policy);
  // A slowdown of both arms leaves the speed-up as it was; only the cost sees it.
  const auto slow_everywhere = [](Sides& s) {
    for (auto& row : table_of(s.candidate).rows) row[5] = std::get<double>(row[5]) + std::log(1.08);
  };
  expect_faults({{"slower everywhere", slow_everywhere, Outcome::kFail, "slowdown.cost", "slower"}},
                policy);
  Sides sides;
  slow_everywhere(sides);
  const Policy speedup_alone{.figures = {"speedup"}};
  EXPECT_EQ(judge(sides.input(), speedup_alone).outcome, Outcome::kPass);
  // Gated and not there is void; not gated and not there is nobody's matter.
  for (auto& row : table_of(sides.candidate).rows) row[5] = Value();
  EXPECT_EQ(judge(sides.input(), speedup_alone).outcome, Outcome::kPass);
  EXPECT_EQ(judge(sides.input(), policy).outcome, Outcome::kVoid);
}

TEST(Gate, TheFloorFailsOnlyWithCertainty) {
  const auto none = [](Sides&) {};
  expect_faults({{"high floor", none, Outcome::kFail, "floor.speedup", "the floor 1.400"}},
                {.speedup_floor = 1.4});
  EXPECT_EQ(judge(Sides().input(), {.speedup_floor = 1.3}).outcome, Outcome::kPass);
  EXPECT_EQ(judge(Sides().input(), {.speedup_floor = 1.2}).outcome, Outcome::kPass);
}

TEST(Gate, AnIntendedChangeIsNamedByPolicy) {
  Sides sides;
  set_counter(sides.candidate, "emitted", 641);
  set_counter(sides.candidate_lossless, "accepted", 58000);
  Policy policy;
  policy.counters = CounterRule::kName;
  const GateVerdict verdict = judge(sides.input(), policy);
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.sentence;
  EXPECT_NE(testing::find_check(verdict, "counters.exact")->detail.find("emitted: 641"),
            std::string::npos);
  set_counter(sides.candidate_lossless, "accepted", 55000);  // a fall is no improvement
  EXPECT_EQ(judge(sides.input(), policy).outcome, Outcome::kFail);
}

TEST(Gate, AcrossVectorTargetsAcceptanceGoesByInterval) {
  Sides sides;
  set_entry(sides.candidate.environment, "vector_target", Value(std::string("AVX3")));
  set_counter(sides.candidate, "accepted", 3540);
  const GateVerdict close = judge(sides.input(), {});
  EXPECT_EQ(close.outcome, Outcome::kPass) << close.sentence;
  ASSERT_NE(testing::find_check(close, "counters.acceptance"), nullptr);
  set_counter(sides.candidate, "accepted", 2900);
  EXPECT_EQ(judge(sides.input(), {}).outcome, Outcome::kFail);
}

TEST(Gate, OptionsThatMayDifferDoNotMatter) {
  Sides sides;
  set_entry(sides.candidate.options, "processes", std::int64_t{20});
  sides.candidate.options.emplace_back("inject", 8.0);
  sides.candidate.options.emplace_back("a_new_option", true);
  const GateVerdict verdict = judge(sides.input(), {});
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.sentence;
  EXPECT_NE(testing::find_check(verdict, "validity.options")->detail.find("a_new_option"),
            std::string::npos);
}

TEST(Gate, ABaselineWithoutTimesLeavesTheRestToBeJudged) {
  Sides sides;
  sides.baseline.suite = "baseline";
  sides.baseline.environment = {{"vector_target", std::string("AVX2")}};
  sides.baseline.tables.clear();
  sides.baseline.checks.clear();
  sides.baseline.tests = sides.baseline_lossless.tests;
  GateInput input = sides.input();
  input.baseline_lossless = nullptr;
  const GateVerdict same = judge(input, {});
  EXPECT_EQ(same.outcome, Outcome::kPass) << same.sentence;
  EXPECT_NE(testing::find_check(same, "slowdown.cost")->detail.find("Not applicable"),
            std::string::npos);
  // The floor is the candidate's own matter.
  EXPECT_EQ(judge(input, {.speedup_floor = 1.4}).outcome, Outcome::kFail);
  EXPECT_EQ(judge(input, {.speedup_floor = 1.2}).outcome, Outcome::kPass);
  // A candidate that is void for its times still has its counts; a floor would need the times.
  sides.candidate.exit_code = 3;
  EXPECT_EQ(judge(input, {}).outcome, Outcome::kPass);
  EXPECT_EQ(judge(input, {.speedup_floor = 1.2}).outcome, Outcome::kVoid);
  sides.candidate.counters.clear();
  EXPECT_NE(judge(input, {}).outcome, Outcome::kPass);
  sides.candidate = testing::latency_record({.seed = 2});
  sides.candidate_lossless.tests.pop_back();
  EXPECT_EQ(judge(input, {}).outcome, Outcome::kVoid);
  set_counter(sides.candidate, "emitted", 641);
  EXPECT_EQ(judge(input, {}).outcome, Outcome::kFail);
}

TEST(Gate, LawsAloneAndTimesAlone) {
  Sides sides;
  GateInput laws = sides.input(), times = sides.input();
  laws.baseline = laws.candidate = nullptr;
  times.baseline_lossless = times.candidate_lossless = nullptr;
  const GateVerdict without_times = judge(laws, {});
  EXPECT_EQ(without_times.outcome, Outcome::kPass);
  EXPECT_NE(without_times.sentence.find("time was not judged"), std::string::npos);
  const GateVerdict without_laws = judge(times, {});
  EXPECT_EQ(without_laws.outcome, Outcome::kPass);
  EXPECT_NE(without_laws.sentence.find("laws were not judged"), std::string::npos);
  EXPECT_EQ(judge(times, {.require_lossless = true}).outcome, Outcome::kVoid);
  // Half of a pair is not enough.
  GateInput half = sides.input();
  half.candidate_lossless = nullptr;
  EXPECT_EQ(judge(half, {}).outcome, Outcome::kVoid);
  half = sides.input();
  half.candidate = nullptr;
  EXPECT_EQ(judge(half, {}).outcome, Outcome::kVoid);
  half = sides.input();
  half.baseline = nullptr;
  EXPECT_EQ(judge(half, {}).outcome, Outcome::kVoid);
}

TEST(Gate, ABentLawFailsBeforeTheBaselineWasMeasured) {
  Sides sides;
  GateInput alone;
  alone.candidate_lossless = &sides.candidate_lossless;
  EXPECT_EQ(judge(alone, {}).outcome, Outcome::kVoid);
  sides.candidate_lossless.exit_code = 1;
  EXPECT_EQ(judge(alone, {}).outcome, Outcome::kFail);
  EXPECT_EQ(judge({.candidate = &sides.candidate}, {}).outcome, Outcome::kVoid);
}

TEST(Gate, WrongUsageIsRefused) {
  Sides sides;
  EXPECT_THROW(judge({}, {}), std::invalid_argument);
  EXPECT_THROW(judge({.baseline = &sides.baseline}, {}), std::invalid_argument);
  sides.candidate.suite = "kv";
  EXPECT_THROW(judge(sides.input(), {}), std::invalid_argument);
  sides.candidate.suite = "baseline";  // a candidate must have been measured
  EXPECT_THROW(judge(sides.input(), {}), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::ci
