#include "suites/independence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "suites/budget.h"
#include "suites/coin_test_support.h"

namespace specbench::suites {
namespace {

using testing::SmallRun;
using Coins = engine::RoundCoins (*)(const engine::RoundKey&);

std::vector<stats::TestResult> tests_of(const SmallRun& run) {
  const engine::Verifier& verifier = engine::find_verifier(run.verifier, {});
  Independence independence(verifier, run.seed, testing::kSmallVocabulary, testing::kSmallTokens);
  testing::decode_small(run, independence);
  return independence.results();
}

std::set<std::string> ids_of(const std::vector<stats::TestResult>& tests) {
  std::set<std::string> ids;
  for (const stats::TestResult& test : tests) ids.insert(test.id);
  return ids;
}

// Ids of the tests that fail with the planted coins, without "independence.".
std::set<std::string> failures(Coins coins, int n_requests) {
  SmallRun run;
  run.steps.coins = coins;
  run.n_requests = n_requests;
  std::set<std::string> failed;
  for (const stats::TestResult& test : tests_of(run))
    if (test.verdict == stats::Verdict::kFail)
      failed.insert(test.id.substr(std::string("independence.").size()));
  return failed;
}

TEST(IndependenceStatistical, CorrectCoinsPassWithPowerAt1e5Tokens) {
  SmallRun run;
  run.n_requests = 2200;
  const auto tests = tests_of(run);
  EXPECT_EQ(tests.size(), 13U);
  for (const stats::TestResult& test : tests)
    EXPECT_EQ(test.verdict, stats::Verdict::kPass) << test.id << ": " << test.reason;
}

// 13 tests of each of 12 runs: the smallest of 156 p-values is below 1e-5 once in 640 times.
TEST(IndependenceStatistical, CorrectCoinsRaiseNoAlarm) {
  for (const std::string verifier : {"token", "block", "one-hot", "coupled"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SmallRun run;
      run.verifier = verifier;
      run.seed = seed;
      for (const stats::TestResult& test : tests_of(run))
        EXPECT_GT(test.p_value, 1e-5) << verifier << " " << seed << " " << test.id;
    }
  }
}

TEST(IndependenceStatistical, RulesHaveTheTestsThatMeanSomething) {
  SmallRun run;
  run.n_requests = 100;
  run.verifier = "one-hot";
  const auto one_hot = ids_of(tests_of(run));
  EXPECT_TRUE(one_hot.contains("independence.rows.accept"));
  EXPECT_FALSE(one_hot.contains("independence.accept-residual"));
  run.verifier = "block";
  const auto block = ids_of(tests_of(run));
  EXPECT_TRUE(block.contains("independence.neighbours"));
  EXPECT_FALSE(block.contains("independence.rows.accept"));
  run.verifier = "token";
  run.n_lanes = 1;
  const auto alone = ids_of(tests_of(run));
  EXPECT_FALSE(alone.contains("independence.rows.token"));
  EXPECT_TRUE(alone.contains("independence.position.token"));
}

TEST(IndependenceStatistical, TokensThatTakeNoChanceAreLeftOut) {
  const engine::Verifier& verifier = engine::find_verifier("greedy", {.temperature = 0.0});
  Independence independence(verifier, 1, 4, 10);
  const engine::Law point = engine::testing::point_law(4, 2);
  independence.note(engine::Prefill{0, 0, 5, 2, &point, engine::StopReason::kNone});
  EXPECT_TRUE(independence.results().empty());
}

// Tokens are 48 a request. Measured: each of these is first caught at about half of them.
TEST(IndependenceStatistical, CatchesN1TheAcceptCoinReused) {
  EXPECT_TRUE(failures(testing::coins_n1, 300).contains("accept-residual"));
}
TEST(IndependenceStatistical, CatchesN2TheDraftCoinReused) {
  EXPECT_TRUE(failures(testing::coins_n2, 300).contains("draft-residual"));
}
TEST(IndependenceStatistical, CatchesARescaledCoin) {
  EXPECT_TRUE(failures(testing::coins_complement, 300).contains("accept-residual"));
}
TEST(IndependenceStatistical, CatchesN3OneCoinForAllPositions) {
  EXPECT_TRUE(failures(testing::coins_n3, 200).contains("accept-accept"));
}
TEST(IndependenceStatistical, CatchesN4OneCoinForAllRequests) {
  const auto failed = failures(testing::coins_n4, 400);
  EXPECT_TRUE(failed.contains("position.accept"));
  EXPECT_TRUE(failed.contains("position.token"));
}
TEST(IndependenceStatistical, CatchesN4OneStreamForTheRowsOfAStep) {
  const auto failed = failures(testing::coins_of_step, 800);
  EXPECT_TRUE(failed.contains("rows.accept"));
  EXPECT_TRUE(failed.contains("rows.token"));
  EXPECT_TRUE(failed.contains("rows.coincidence"));
}
TEST(IndependenceStatistical, CatchesAStreamRestartedEachRound) {
  const auto failed = failures(testing::coins_restarted, 1000);
  EXPECT_TRUE(failed.contains("rounds"));
  EXPECT_TRUE(failed.contains("neighbours"));
  EXPECT_TRUE(failed.contains("lags"));
}

}  // namespace
}  // namespace specbench::suites
