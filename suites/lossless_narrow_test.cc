#include "suites/lossless_narrow.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "suites/budget.h"
#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

using testing::steps_a1;
using testing::steps_n1;
using testing::steps_r1;

const NarrowCase& case_named(const std::vector<NarrowCase>& cases, const std::string& name) {
  for (const NarrowCase& narrow : cases)
    if (narrow.name == name) return narrow;
  throw std::logic_error("no case " + name);
}

std::set<std::string> failures(const std::string& name, const engine::Steps& steps,
                               std::int64_t n_rounds) {
  const auto cases = narrow_cases();
  std::set<std::string> failed;
  for (const stats::TestResult& result :
       test_narrow_case(case_named(cases, name), n_rounds, 11, steps, 2))
    if (result.verdict == stats::Verdict::kFail)
      failed.insert(result.id.substr(("narrow." + name + ".").size()));
  return failed;
}

TEST(Narrow, LawsAreLawsAndNamesAreUnique) {
  std::set<std::string> names;
  for (const NarrowCase& narrow : narrow_cases()) {
    EXPECT_TRUE(names.insert(narrow.name).second) << narrow.name;
    ASSERT_EQ(narrow.targets.size(), narrow.drafts.size() + 1);
    for (const auto* laws : {&narrow.targets, &narrow.drafts})
      for (const std::vector<double>& law : *laws)
        EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1.0, 1e-12) << narrow.name;
  }
}

// A fault is visible only where several ids gain and several lose.
TEST(Narrow, OpposedAndMildPairsHaveThreeIdsOnEachSide) {
  const auto cases = narrow_cases();
  for (const std::string name : {"opposed/V16/g3", "mild/V16/g3", "opposed/V64/g3", "mild/V64/g3",
                                 "opposed/V8/g3", "mild/V8/g3"}) {
    const NarrowCase& narrow = case_named(cases, name);
    int gain = 0, lose = 0;
    for (std::size_t y = 0; y < narrow.targets[0].size(); ++y) {
      gain += narrow.targets[0][y] > narrow.drafts[0][y] ? 1 : 0;
      lose += narrow.targets[0][y] < narrow.drafts[0][y] ? 1 : 0;
    }
    EXPECT_GE(gain, 3) << name;
    EXPECT_GE(lose, 3) << name;
  }
}

TEST(Narrow, SameResultForAnyNumberOfThreads) {
  const auto cases = narrow_cases();
  const NarrowCase& narrow = case_named(cases, "mild/V16/g3");
  const auto one = test_narrow_case(narrow, 20'000, 3, {}, 1);
  const auto three = test_narrow_case(narrow, 20'000, 3, {}, 3);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].id, three[i].id);
    EXPECT_EQ(one[i].n, three[i].n);
    EXPECT_NEAR(one[i].statistic, three[i].statistic, 1e-9 * (1 + std::abs(one[i].statistic)));
  }
}

TEST(NarrowStatistical, TheProductPassesEveryCaseWithItsPower) {
  int n_tests = 0;
  for (const NarrowCase& narrow : narrow_cases()) {
    for (const stats::TestResult& result : test_narrow_case(narrow, narrow_rounds(), 5, {}, 2)) {
      EXPECT_EQ(result.verdict, stats::Verdict::kPass) << result.id << ": " << result.reason;
      ++n_tests;
    }
  }
  EXPECT_LE(n_tests + 60, kMaxTests);  // and room for the tests of real generations
  EXPECT_GE(n_tests, 300);
}

// The numbers of rounds are those that MUTANTS predicts for a fault of this size, times a margin
// for the smaller alpha.
TEST(NarrowStatistical, R1ResidualWithoutSubtractionIsCaught) {
  const auto failed = failures("opposed/V16/g3", steps_r1(), 20'000);
  EXPECT_TRUE(failed.contains("rejected[0]"));
  EXPECT_TRUE(failed.contains("reached[0]"));
  EXPECT_FALSE(failed.contains("accept-bit[0]"));  // the fault is not in the test of acceptance
  EXPECT_TRUE(failures("mild/V16/g3", steps_r1(), 100'000).contains("reached[0]"));
}

TEST(NarrowStatistical, N1AcceptCoinReusedForTheResidualIsCaught) {
  EXPECT_TRUE(failures("mild/V16/g3", steps_n1(), 100'000).contains("rejected[0]"));
  EXPECT_TRUE(failures("opposed/V16/g3", steps_n1(), 100'000).contains("reached[0]"));
}

TEST(NarrowStatistical, A1AlwaysAcceptIsCaughtWithoutStatistics) {
  const auto failed = failures("disjoint/V16/g3", steps_a1(), 1'000);
  EXPECT_TRUE(failed.contains("accepted[0]"));  // the class has probability zero
}

TEST(NarrowStatistical, EqualLawsHideTheseFaults) {
  EXPECT_TRUE(failures("equal/V16/g3", steps_r1(), 20'000).empty());
}

}  // namespace
}  // namespace specbench::suites
