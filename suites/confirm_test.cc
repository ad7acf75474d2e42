#include "suites/confirm.h"

#include <gtest/gtest.h>

#include <set>

#include "suites/budget.h"

namespace specbench::suites {
namespace {

stats::TestResult with_p(const std::string& id, double p, std::int64_t n) {
  stats::Evidence evidence = count_of(n);
  evidence.p_value = p;
  evidence.min_detectable = 0.001;
  return stats::decide(contract(id, "a law", kNarrowTau), evidence);
}

/// A group whose first stage and second stage have these p-values.
struct Scripted {
  double first, second;
  std::vector<std::uint64_t> seeds;
  std::vector<int> factors;
  std::vector<stats::TestResult> operator()(std::uint64_t seed, int factor) {
    seeds.push_back(seed);
    factors.push_back(factor);
    const double p = seeds.size() == 1 ? first : second;
    return {with_p("quiet", 0.5, 100), with_p("loud", p, 100 * factor)};
  }
};

std::vector<stats::TestResult> run(Scripted& script, Second second = Second::kMake) {
  return run_confirmed([&](std::uint64_t s, int f) { return script(s, f); }, 7, 3, kConfirmFactor,
                       [=] { return second; });
}

TEST(Confirm, LooksOnceWhereNothingHits) {
  Scripted script{0.2, 0.0, {}, {}};
  EXPECT_EQ(run(script)[1].verdict, stats::Verdict::kPass);
  EXPECT_EQ(script.factors, std::vector<int>{1});
}

TEST(Confirm, FailsOnlyWhatFreshCoinsConfirm) {
  Scripted script{1e-9, 1e-8, {}, {}};
  const auto tests = run(script);
  EXPECT_EQ(tests[1].verdict, stats::Verdict::kFail);
  EXPECT_EQ(tests[1].p_value, 1e-9);  // the first stage's numbers
  EXPECT_NE(tests[1].reason.find("confirmed by fresh coins: p = 1.0e-08 over 800"),
            std::string::npos)
      << tests[1].reason;
  EXPECT_EQ(script.factors, (std::vector<int>{1, kConfirmFactor}));
  EXPECT_NE(script.seeds[0], script.seeds[1]);
}

TEST(Confirm, AChanceHitIsJudgedByTheSecondStage) {
  Scripted script{1e-9, 0.3, {}, {}};
  const auto tests = run(script);
  EXPECT_EQ(tests[1].verdict, stats::Verdict::kPass);
  EXPECT_EQ(tests[1].n, 800);
  EXPECT_NE(tests[1].reason.find("which fresh coins did not confirm"), std::string::npos);
}

TEST(Confirm, AHitJustAboveTheLevelOfAStageIsNone) {
  Scripted script{kTestAlpha * 1.01, 0.0, {}, {}};
  EXPECT_EQ(run(script)[1].verdict, stats::Verdict::kPass);
  EXPECT_EQ(script.factors.size(), 1U);
}

TEST(Confirm, WithoutConfirmationAHitStandsAndSaysSo) {
  Scripted script{1e-9, 0.3, {}, {}};
  const auto tests = run(script, Second::kNotNeeded);
  EXPECT_EQ(tests[1].verdict, stats::Verdict::kFail);
  EXPECT_NE(tests[1].reason.find("not made again"), std::string::npos);
}

TEST(Confirm, InterruptedAHitIsNoVerdict) {
  Scripted script{1e-8, 0.3, {}, {}};
  EXPECT_EQ(run(script, Second::kImpossible)[1].verdict, stats::Verdict::kInconclusive);
  Scripted clear{1e-12, 0.3, {}, {}};
  EXPECT_EQ(run(clear, Second::kImpossible)[1].verdict, stats::Verdict::kFail);
  EXPECT_EQ(clear.factors.size(), 1U);
}

TEST(Confirm, AForbiddenOutcomeNeedsNone) {
  int n_calls = 0;
  const auto tests = run_confirmed(
      [&](std::uint64_t, int) {
        ++n_calls;
        return std::vector{stats::fail_forbidden(contract("x", "y", kNarrowTau), count_of(1), "z")};
      },
      1, 1, kConfirmFactor, [] { return Second::kMake; });
  EXPECT_EQ(n_calls, 1);
  EXPECT_EQ(tests[0].verdict, stats::Verdict::kFail);
}

TEST(Confirm, AClassThatFreshCoinsNeverShowCannotClearItself) {
  int n_calls = 0;
  const auto tests = run_confirmed(
      [&](std::uint64_t, int) {
        std::vector<stats::TestResult> found;
        if (n_calls++ > 0) return found;
        found.push_back(with_p("gone", 1e-9, 10));
        found.push_back(with_p("clear", 1e-12, 10));
        return found;
      },
      1, 1, kConfirmFactor, [] { return Second::kMake; });
  EXPECT_EQ(tests[0].verdict, stats::Verdict::kInconclusive);
  EXPECT_EQ(tests[1].verdict, stats::Verdict::kFail);
}

TEST(Confirm, SeedsOfGroupsAndStagesDiffer) {
  std::set<std::uint64_t> seeds;
  for (std::uint32_t group = 0; group < 100; ++group)
    for (int stage = 0; stage < 2; ++stage) seeds.insert(stage_seed(1, group, stage));
  EXPECT_EQ(seeds.size(), 200U);
  EXPECT_EQ(stage_seed(1, 5, 1), stage_seed(1, 5, 1));
  EXPECT_NE(stage_seed(1, 5, 1), stage_seed(2, 5, 1));
}

}  // namespace
}  // namespace specbench::suites
