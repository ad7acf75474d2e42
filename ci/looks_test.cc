#include "ci/looks.h"

#include <gtest/gtest.h>

#include <vector>

#include "ci/gate_test_support.h"

namespace specbench::ci {
namespace {

using testing::Script;
using testing::Sides;

// Both programs at once: measures by making records up.
class Fake {
 public:
  Fake(Script baseline, Script candidate) : baseline_(baseline), candidate_(candidate) {}

  GateVerdict run(const Policy& policy = {}) {
    return run_looks(
        policy, [this](int n) { return measure_until(n); }, [this] { return sides_.input(false); });
  }
  const std::vector<int>& asked() const { return asked_; }
  Sides& sides() { return sides_; }
  int interrupted_at = 0;  // asked for that many: stops half-way

 private:
  bool measure_until(int n) {
    asked_.push_back(n);
    const bool is_whole = n != interrupted_at;
    baseline_.n_processes = candidate_.n_processes = is_whole ? n : n - 3;
    sides_.baseline.tables = {testing::process_table(baseline_)};
    sides_.candidate.tables = {testing::process_table(candidate_)};
    return is_whole;
  }
  Script baseline_, candidate_;
  Sides sides_;
  std::vector<int> asked_;
};

TEST(Looks, AClearAnswerNeedsOneLook) {
  Fake same({.seed = 1}, {.seed = 2});
  EXPECT_EQ(same.run().outcome, Outcome::kPass);
  EXPECT_EQ(same.asked(), (std::vector<int>{10}));
  Fake slow({.seed = 1}, {.seed = 2, .slowdown = 0.08});
  EXPECT_EQ(slow.run().outcome, Outcome::kFail);
  EXPECT_EQ(slow.asked(), (std::vector<int>{10}));
}

TEST(Looks, DoubtTakesEveryLookAndIsThenCalledDoubt) {
  Fake between({.seed = 1, .noise = 0.01}, {.seed = 2, .noise = 0.01, .slowdown = 0.035});
  Policy strict;  // nothing is ever certain between thresholds so close
  strict.fail_above = 0.034;
  strict.pass_below = 0.036;
  const GateVerdict verdict = between.run(strict);
  EXPECT_EQ(verdict.outcome, Outcome::kInconclusive) << verdict.sentence;
  EXPECT_EQ(between.asked(), (std::vector<int>{10, 20, 40}));
  EXPECT_EQ(verdict.n_wanted, 0);
  EXPECT_NE(verdict.sentence.find("40 processes"), std::string::npos) << verdict.sentence;
}

TEST(Looks, AnInstrumentTooBluntAtTenMayDoAtForty) {
  // A/A values spread by 4.5 %: ten extremes lie wider apart than 10 %, the inner ones of 40 do
  // not.
  Fake noisy({.seed = 1, .noise = 0.045}, {.seed = 2, .noise = 0.045});
  const GateVerdict verdict = noisy.run();
  ASSERT_GE(noisy.asked().size(), 2U);
  EXPECT_EQ(testing::find_check(verdict, "validity.aa.candidate")->outcome, Outcome::kPass)
      << verdict.sentence;
}

TEST(Looks, WhatMoreProcessesCannotMendEndsTheGate) {
  Fake broken({.seed = 1}, {.seed = 2});
  broken.sides().candidate.counters[2].second = 1;
  EXPECT_EQ(broken.run().outcome, Outcome::kFail);
  EXPECT_EQ(broken.asked(), (std::vector<int>{10}));
  Fake biased({.seed = 1}, {.seed = 2, .bias = 0.03});
  EXPECT_EQ(biased.run().outcome, Outcome::kVoid);
  EXPECT_EQ(biased.asked(), (std::vector<int>{10}));
  Fake brief({.seed = 1}, {.seed = 2});  // the laws' doubt is not one of times
  brief.sides().candidate_lossless.exit_code = 2;
  EXPECT_EQ(brief.run().outcome, Outcome::kInconclusive);
  EXPECT_EQ(brief.asked(), (std::vector<int>{10}));
}

TEST(Looks, AnInterruptedRunIsVoidUnlessAPropertyIsBroken) {
  Fake stopped({.seed = 1}, {.seed = 2});
  stopped.interrupted_at = 10;
  const GateVerdict verdict = stopped.run();
  EXPECT_EQ(verdict.outcome, Outcome::kVoid);
  EXPECT_TRUE(verdict.was_interrupted);
  EXPECT_NE(verdict.sentence.find("interrupted"), std::string::npos);
  Fake broken({.seed = 1}, {.seed = 2});
  broken.interrupted_at = 10;
  broken.sides().candidate_lossless.tests[0].verdict = "FAIL";
  const GateVerdict failed = broken.run();
  EXPECT_EQ(failed.outcome, Outcome::kFail);
  EXPECT_EQ(failed.sentence.rfind("INTERRUPTED", 0), 0U);
  // Seventeen processes are no planned look: a slowdown seen there does not count.
  Fake slow({.seed = 4, .noise = 0.016}, {.seed = 5, .noise = 0.016, .slowdown = 0.05});
  slow.interrupted_at = 20;
  const GateVerdict unplanned = slow.run();
  ASSERT_EQ(slow.asked().size(), 2U);
  EXPECT_EQ(testing::find_check(unplanned, "slowdown.cost")->outcome, Outcome::kFail);
  EXPECT_EQ(unplanned.outcome, Outcome::kVoid);
}

TEST(Looks, NothingMeasuredIsVoidToo) {
  const GateVerdict verdict = run_looks(
      {}, [](int) { return false; }, [] { return GateInput{}; });
  EXPECT_EQ(verdict.outcome, Outcome::kVoid);
  EXPECT_TRUE(verdict.was_interrupted);
}

// TIMING.md: with 2.3 % spread between builds. Each side's noise is that over root 2.
struct Shares {
  int n_pass = 0, n_fail = 0, n_fail_at_first = 0, n_other = 0;
};

Shares simulate(int n_gates, double slowdown) {
  Shares shares;
  const double noise = 0.023 / std::sqrt(2.0);
  for (int gate = 0; gate < n_gates; ++gate) {
    const auto seed = static_cast<std::uint64_t>(gate);
    Fake fake({.seed = 2 * seed, .noise = noise},
              {.seed = 2 * seed + 1, .noise = noise, .slowdown = slowdown});
    const Outcome outcome = fake.run().outcome;
    shares.n_pass += outcome == Outcome::kPass;
    shares.n_fail += outcome == Outcome::kFail;
    shares.n_fail_at_first += outcome == Outcome::kFail && fake.asked().size() == 1;
    shares.n_other += outcome != Outcome::kPass && outcome != Outcome::kFail;
  }
  return shares;
}

TEST(GateStatistical, UnchangedCodeStaysGreen) {
  const Shares shares = simulate(1000, 0.0);
  EXPECT_LE(shares.n_fail, 10);
  EXPECT_GE(shares.n_pass, 990) << shares.n_other << " neither";
}

TEST(GateStatistical, AtTheFailureThresholdItselfTheGateKeepsItsLevel) {
  // Exactly 2 % slower: FAIL would be wrong, and may happen in 1 % (sum of the looks' levels); 4.5
  // deviations of chance on top.
  EXPECT_LE(simulate(1000, 0.02).n_fail, 10 + 14);
}

TEST(GateStatistical, SlowdownsAreCaught) {
  const Shares large = simulate(400, 0.08);
  EXPECT_GE(large.n_fail, 380);
  EXPECT_GE(large.n_fail_at_first, 340);  // .90 measured over 2,000 gates, less 3.3 deviations
  EXPECT_EQ(large.n_pass, 0);
  const Shares small = simulate(400, 0.05);
  EXPECT_GE(small.n_fail, 380);
}

}  // namespace
}  // namespace specbench::ci
