#include "suites/lossless_wide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "suites/mutants.h"
#include "suites/wide_cases.h"

namespace specbench::suites {
namespace {

using stats::Verdict;

std::set<std::string> failures(const std::vector<stats::TestResult>& results) {
  std::set<std::string> failed;
  for (const stats::TestResult& result : results)
    if (result.verdict == Verdict::kFail) failed.insert(result.id);
  return failed;
}

std::set<std::string> failures_of(const char* mutant, std::int64_t n_tokens) {
  return failures(
      test_wide_case(4096, "token", n_tokens, 3, find_mutant(mutant)->plant().steps, 2));
}

// The tables against the transforms that walk the law each time.
TEST(Wide, TablesAgreeWithTheWalk) {
  const WideLaws wide(700);
  RowProbs row(700);
  row.load(wide.target, &wide.draft);
  EXPECT_NEAR(row.overlap(), wide.acceptance, 1e-12);
  for (const OutcomeLaw law : {OutcomeLaw::kTarget, OutcomeLaw::kAccepted, OutcomeLaw::kResidual})
    for (engine::TokenId id = 0; id < 700; ++id) {
      const Standing& at = wide.standing(law, id);
      const auto pit = row.pit(id, law, 0.25);
      if (std::isnan(pit[0])) {
        EXPECT_EQ(at.mass, 0.0) << id;
        continue;
      }
      for (std::size_t order = 0; order < kOrders; ++order)
        EXPECT_NEAR(pit[order], at.below[order] + 0.25 * at.mass, 1e-12)
            << id << " by " << kOrderNames[order];
    }
}

TEST(Wide, LawsAreFarApartAndEachForbidsABlock) {
  const WideLaws wide(4096);
  EXPECT_GT(wide.acceptance, 0.5);
  EXPECT_LT(wide.acceptance, 0.8);
  EXPECT_EQ(wide.target.prob(4096 / 3), 0.0);
  EXPECT_GT(wide.draft.prob(4096 / 3), 0.0);
  EXPECT_EQ(wide.draft.prob(4096 / 3 * 2), 0.0);
  EXPECT_GT(wide.target.prob(4096 / 3 * 2), 0.0);
}

TEST(Wide, SameResultForAnyNumberOfThreads) {
  const auto one = test_wide_case(4096, "token", 10'000, 3, {}, 1);
  const auto three = test_wide_case(4096, "token", 10'000, 3, {}, 3);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].id, three[i].id);
    EXPECT_EQ(one[i].n, three[i].n);
    EXPECT_EQ(one[i].statistic, three[i].statistic);
  }
}

TEST(WideStatistical, TheProductPassesWithItsPower) {
  for (const int n_ids : {4096, 50'257, 151'936}) {
    const auto results = test_wide_case(n_ids, "token", 100'000, 5, {}, 2);
    EXPECT_EQ(results.size(), 23U);
    for (const stats::TestResult& result : results)
      EXPECT_EQ(result.verdict, Verdict::kPass) << result.id << ": " << result.reason;
  }
}

TEST(WideStatistical, TheOtherVerifiersPass) {
  for (const char* verifier : {"block", "one-hot"})
    for (const stats::TestResult& result : test_wide_case(4096, verifier, 100'000, 5, {}, 2))
      EXPECT_EQ(result.verdict, Verdict::kPass) << verifier << " " << result.id;
  EXPECT_TRUE(failures(test_wide_case(4096, "coupled", 10'000, 5, {}, 2)).empty());
}

TEST(WideStatistical, LawsThatChangeAtEveryPositionPass) {
  for (const stats::TestResult& result : test_varying_laws(4096, 100'000, 5, {}, 2))
    EXPECT_EQ(result.verdict, Verdict::kPass) << result.id << ": " << result.reason;
}

TEST(WideStatistical, LawsThatChangeAtEveryPositionShowAFault) {
  const auto failed =
      failures(test_varying_laws(4096, 4'000, 5, find_mutant("R1")->plant().steps, 2));
  EXPECT_TRUE(failed.contains("wide.V4096.varying.rejected.p/q.ks"));
  EXPECT_TRUE(failed.contains("wide.V4096.varying.rejected.support"));
  EXPECT_TRUE(failed.contains("wide.V4096.varying.all.p/q.ks"));
}

// A reused noise that a chi-squared in the order of ids does not see at this size.
TEST(WideStatistical, N2ShowsByTheRatio) {
  const auto failed = failures_of("N2", 20'000);
  EXPECT_TRUE(failed.contains("wide.V4096.rejected.p/q.ks"));
  EXPECT_TRUE(failed.contains("wide.V4096.rejected.p/q.bins"));
  EXPECT_FALSE(failed.contains("wide.V4096.all.id.ks"));
  EXPECT_FALSE(failed.contains("wide.V4096.all.p.ks"));
  EXPECT_FALSE(failed.contains("wide.V4096.accepted.p/q.ks"));
}

TEST(WideStatistical, WrongResidualsShow) {
  for (const char* mutant : {"R1", "R2", "R3"}) {
    const auto failed = failures_of(mutant, 4'000);
    EXPECT_TRUE(failed.contains("wide.V4096.rejected.support")) << mutant;
    EXPECT_TRUE(failed.contains("wide.V4096.rejected.p/q.ks")) << mutant;
    EXPECT_TRUE(failed.contains("wide.V4096.all.p/q.ks")) << mutant;
    EXPECT_FALSE(failed.contains("wide.V4096.accept-bit")) << mutant;
  }
  EXPECT_TRUE(failures_of("R3", 4'000).contains("wide.V4096.all.tail"));
}

TEST(WideStatistical, OtherFaultsShowInTheirClass) {
  EXPECT_TRUE(failures_of("N1", 10'000).contains("wide.V4096.rejected.id.ks"));
  EXPECT_TRUE(failures_of("A1", 4'000).contains("wide.V4096.all.support"));
  EXPECT_TRUE(failures_of("A6", 10'000).contains("wide.V4096.accept-bit"));
  EXPECT_TRUE(failures_of("N4", 40'000).contains("wide.V4096.all.collisions"));
}

}  // namespace
}  // namespace specbench::suites
