#include "suites/coin_ledger.h"

#include <gtest/gtest.h>

#include <map>

#include "suites/coin_test_support.h"

namespace specbench::suites {
namespace {

using results::Check;
using results::CheckStatus;
using testing::SmallRun;
using Coins = engine::RoundCoins (*)(const engine::RoundKey&);

CoinLedger ledger_of(const SmallRun& run) {
  CoinLedger ledger(engine::find_verifier(run.verifier, {}),
                    [&](std::uint32_t) { return run.seed; });
  testing::decode_small(run, ledger);
  return ledger;
}

std::map<std::string, Check> checks_of(const SmallRun& run) {
  std::map<std::string, Check> checks;
  for (const Check& check : ledger_of(run).checks()) checks.emplace(check.id, check);
  return checks;
}

std::map<std::string, Check> checks_with(Coins coins, const std::string& verifier = "token") {
  SmallRun run;
  run.verifier = verifier;
  run.n_requests = 40;
  run.steps.coins = coins;
  return checks_of(run);
}

::testing::AssertionResult fails(const std::map<std::string, Check>& checks, const char* id,
                                 const std::string& part) {
  const Check& check = checks.at(id);
  if (check.status == CheckStatus::kFailed && check.detail.find(part) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << id << ": " << check.detail;
}

TEST(CoinLedger, CorrectCoinsPassWithEveryRule) {
  for (const std::string verifier : {"token", "block", "one-hot"}) {
    SmallRun run;
    run.verifier = verifier;
    const auto checks = checks_of(run);
    EXPECT_EQ(checks.size(), 5U);
    for (const auto& [id, check] : checks)
      EXPECT_EQ(check.status, CheckStatus::kPassed) << verifier << " " << id << check.detail;
  }
}

TEST(CoinLedger, RulesWithoutCoinsHaveNoChecks) {
  SmallRun run;
  run.verifier = "coupled";
  run.n_requests = 20;
  EXPECT_TRUE(checks_of(run).empty());
}

// One round by hand: two drafts, the first accepted, the second refused.
TEST(CoinLedger, HoldsTheCoinsThatTheRuleLookedAt) {
  const auto purposes = [](const char* verifier, int n_verdict) {
    CoinLedger ledger(engine::find_verifier(verifier, {}), [](std::uint32_t) { return 1; });
    const engine::TokenId drafted[] = {1, 2, 3};
    const engine::RoundCoins coins = engine::round_coins(1, 4, 10, 3);
    engine::Round round;
    round.request = 4;
    round.first_pos = 10;
    round.proposal.drafted = drafted;
    round.coins = &coins;
    round.n_verdict = n_verdict;
    ledger.note(round);
    std::string found;
    for (const CoinUse& coin : ledger.coins())
      found += " darbt"[static_cast<int>(coin.purpose)] + std::to_string(coin.pos - 10) + " ";
    EXPECT_EQ(ledger.checks()[1].status, CheckStatus::kPassed);
    return found;
  };
  EXPECT_EQ(purposes("token", 1), "d0 d1 d2 a0 a1 r1 ");
  EXPECT_EQ(purposes("token", 3), "d0 d1 d2 a0 a1 a2 b3 ");
  EXPECT_EQ(purposes("block", 0), "d0 d1 d2 a0 a1 a2 r0 ");
  EXPECT_EQ(purposes("block", 2), "d0 d1 d2 a1 a2 r2 ");
  EXPECT_EQ(purposes("block", 3), "d0 d1 d2 a2 b3 ");
  EXPECT_EQ(purposes("one-hot", 1), "t0 t1 ");
}

TEST(CoinLedger, NamesBothPlacesOfARepeat) {
  const auto n1 = checks_with(testing::coins_n1);
  EXPECT_TRUE(fails(n1, "coins.ledger", "the accept coin of request"));
  EXPECT_TRUE(fails(n1, "coins.ledger", " and the residual coin of request"));
  EXPECT_TRUE(fails(n1, "coins.keys", "the residual coin of request"));
  EXPECT_TRUE(fails(checks_with(testing::coins_n2), "coins.ledger", "the draft coin of request"));
  EXPECT_TRUE(fails(checks_with(testing::coins_n3), "coins.ledger", "the accept coin of request"));
  EXPECT_TRUE(fails(checks_with(testing::coins_n4), "coins.ledger", "are the same"));
  EXPECT_TRUE(fails(checks_with(testing::coins_restarted), "coins.ledger", "are the same"));
  EXPECT_TRUE(fails(checks_with(testing::coins_n6, "block"), "coins.ledger", "the accept coin of"));
}

TEST(CoinLedger, FindsCoinsMadeFromOthers) {
  const auto checks = checks_with(testing::coins_complement);
  EXPECT_EQ(checks.at("coins.ledger").status, CheckStatus::kPassed);
  EXPECT_TRUE(fails(checks, "coins.derived", "is one minus"));
  const auto same_high_bits = checks_with([](const engine::RoundKey& key) {
    engine::RoundCoins coins = engine::coins_of_round(key);
    for (std::size_t i = 0; i < coins.residual.size(); ++i)
      coins.residual[i] =
          std::floor(coins.accept[i] * 0x1p32) * 0x1p-32 + coins.residual[i] * 0x1p-32;
    return coins;
  });
  EXPECT_EQ(same_high_bits.at("coins.ledger").status, CheckStatus::kPassed);
  EXPECT_TRUE(fails(same_high_bits, "coins.derived", "share their first 32 bits"));
}

TEST(CoinLedger, FindsForeignSeedsLevelsAndRange) {
  EXPECT_TRUE(fails(checks_with(testing::coins_n5), "coins.keys", "its key gives"));
  EXPECT_TRUE(fails(checks_with(testing::coins_a5), "coins.levels", "multiples of 1/256"));
  EXPECT_TRUE(fails(checks_with(testing::coins_a7), "coins.range", "the accept coin of request"));
  const auto singles = checks_with([](const engine::RoundKey& key) {
    engine::RoundCoins coins = engine::coins_of_round(key);
    for (double& u : coins.accept) u = std::floor(u * 0x1p24) * 0x1p-24;
    return coins;
  });
  EXPECT_TRUE(fails(singles, "coins.levels", "multiples of 1/16777216"));
}

TEST(CoinLedger, AKeyUsedTwiceIsFoundWhateverItsValue) {
  SmallRun run;
  run.n_requests = 10;
  CoinLedger ledger(engine::find_verifier("token", {}), [](std::uint32_t) { return 1; });
  testing::decode_small(run, ledger);
  testing::decode_small(run, ledger);  // the same requests again
  EXPECT_EQ(ledger.checks()[2].status, CheckStatus::kFailed);
  EXPECT_EQ(ledger.checks()[2].detail.rfind("A key was used twice", 0), 0U)
      << ledger.checks()[2].detail;
}

// The rule lets the draw of a position come again; at another position it is a repeat.
TEST(CoinLedger, OnlyTargetDrawsMayComeAgain) {
  CoinLedger ledger(engine::find_verifier("one-hot", {}), [](std::uint32_t) { return 1; });
  const engine::TokenId drafted[] = {1, 2, 3};
  for (const int first_pos : {10, 11, 12}) {
    const engine::RoundCoins coins = engine::round_coins(1, 0, first_pos, 3);
    engine::Round round;
    round.first_pos = first_pos;
    round.proposal.drafted = drafted;
    round.coins = &coins;
    round.n_verdict = 3;
    ledger.note(round);
  }
  for (const Check& check : ledger.checks())
    EXPECT_EQ(check.status, CheckStatus::kPassed) << check.detail;
}

}  // namespace
}  // namespace specbench::suites
