#include "engine/accept.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;
using testing::OwnedLaw;
using testing::point_law;

constexpr double kLastCoin = 1.0 - 0x1p-53;

// One round of a rule, on laws of equal vocabulary.
Acceptance apply(AcceptRule rule, const std::vector<TokenId>& drafted,
                 const std::vector<Law>& drafts, const std::vector<Law>& targets,
                 const RoundCoins& coins) {
  OwnedLaw room(std::vector<double>(static_cast<std::size_t>(targets.front().n_ids)));
  return rule({drafted, drafts, targets}, coins, {room.weights.data(), room.sums.data()});
}

RoundCoins coins_of(double accept, double residual, double bonus) {
  RoundCoins coins;
  coins.accept.fill(accept);
  coins.residual.fill(residual);
  coins.target.fill(residual);
  coins.bonus = bonus;
  return coins;
}

TEST(AcceptToken, EqualLawsAcceptEverything) {
  Numbers numbers(1);
  const OwnedLaw law = testing::random_law(50, 3.0, numbers);
  for (const double u : {0.0, 0.5, kLastCoin}) {
    const Acceptance a = apply(accept_token, {7, 0, 49}, {law.law, law.law, law.law},
                               {law.law, law.law, law.law, law.law}, coins_of(u, 0.5, 0.0));
    EXPECT_EQ(a.n_accepted, 3);
    EXPECT_EQ(a.source, Source::kBonus);
    EXPECT_EQ(a.final_token, 0);  // bonus coin 0: the first possible id
    EXPECT_FALSE(a.residual_was_empty);
  }
}

TEST(AcceptToken, DisjointSupportsAlwaysRejectAndTheResidualIsTheTarget) {
  const OwnedLaw target({0.5, 0.5, 0, 0});
  const OwnedLaw draft({0, 0, 0.5, 0.5});
  for (const double u : {0.0, 0x1p-53, kLastCoin}) {
    for (const double v : {0.0, 0.49, 0.5, kLastCoin}) {
      const Acceptance a =
          apply(accept_token, {2}, {draft.law}, {target.law, target.law}, coins_of(u, v, 0));
      EXPECT_EQ(a.n_accepted, 0);  // p = 0 at u = 0 too: the comparison is strict
      EXPECT_EQ(a.source, Source::kResidual);
      EXPECT_EQ(a.final_token, draw(target.law, v));
      EXPECT_FALSE(a.residual_was_empty);
    }
  }
}

// Fault A2: <= in place of < lets an impossible token stand at u = 0.
TEST(AcceptToken, AnImpossibleTokenFailsAtCoinZeroWhereTheFaultyRuleLetsItStand) {
  const OwnedLaw target({0.0, 1.0});
  const OwnedLaw draft({0.5, 0.5});
  const Acceptance a =
      apply(accept_token, {0}, {draft.law}, {target.law, target.law}, coins_of(0, 0.3, 0.3));
  EXPECT_EQ(a.n_accepted, 0);
  EXPECT_EQ(a.final_token, 1);
  EXPECT_TRUE(0.0 * draft.law.prob(0) <= target.law.prob(0));
}

TEST(AcceptToken, TheLastCoinAcceptsExactlyWhereTheTargetIsLargeEnough) {
  const OwnedLaw draft({0.5, 0.5});
  const OwnedLaw likelier({0.75, 0.25});
  const auto accepted = [&](TokenId id) {
    return apply(accept_token, {id}, {draft.law}, {likelier.law, likelier.law},
                 coins_of(kLastCoin, 0, 0))
        .n_accepted;
  };
  EXPECT_EQ(accepted(0), 1);
  EXPECT_EQ(accepted(1), 0);
}

TEST(AcceptToken, OneHotTargetAndOneHotDraft) {
  const OwnedLaw soft({0.25, 0.75});
  const Law point = point_law(2, 0);
  // One-hot target: its token stands for every coin, any other never does.
  EXPECT_EQ(
      apply(accept_token, {0}, {soft.law}, {point, point}, coins_of(kLastCoin, 0, 0)).n_accepted,
      1);
  const Acceptance other =
      apply(accept_token, {1}, {soft.law}, {point, point}, coins_of(0.0, kLastCoin, 0));
  EXPECT_EQ(other.n_accepted, 0);
  EXPECT_EQ(other.final_token, 0);
  // One-hot draft: stands with the target's probability, else any other token.
  EXPECT_EQ(
      apply(accept_token, {0}, {point}, {soft.law, soft.law}, coins_of(0.2499, 0, 0)).n_accepted,
      1);
  const Acceptance rejected =
      apply(accept_token, {0}, {point}, {soft.law, soft.law}, coins_of(0.25, 0, 0));
  EXPECT_EQ(rejected.n_accepted, 0);
  EXPECT_EQ(rejected.final_token, 1);
}

// Fault R6: a residual that rounding left empty must not be divided by.
TEST(AcceptToken, AnEmptyResidualIsDrawnFromTheTargetAndCounted) {
  // Two sums of one law that differ in their last bit: u q rounds to p, and no id has p > q.
  const OwnedLaw target({0.25, 0.75});
  OwnedLaw draft({0.25, 0.75});
  draft.law.total = 1.0 - 0x1p-53;
  const Acceptance b =
      apply(accept_token, {1}, {draft.law}, {target.law, target.law}, coins_of(kLastCoin, 0.9, 0));
  EXPECT_EQ(b.n_accepted, 0);
  EXPECT_TRUE(b.residual_was_empty);
  EXPECT_EQ(b.final_token, 1);
  EXPECT_EQ(b.source, Source::kResidual);
}

TEST(AcceptToken, StopsAtTheFirstRejectionAndUsesThatPositionsLaws) {
  const OwnedLaw even({0.5, 0.5, 0, 0});
  const OwnedLaw second({0, 0.5, 0.5, 0});
  const OwnedLaw bonus({0, 0, 0, 1.0});
  // Position 0 equal, position 1: id 0 impossible under the target.
  const Acceptance a = apply(accept_token, {1, 0, 1}, {even.law, even.law, even.law},
                             {even.law, second.law, even.law, bonus.law}, coins_of(0.9, 0.0, 0.0));
  EXPECT_EQ(a.n_accepted, 1);
  EXPECT_EQ(a.final_token, 2);  // max(0, second - even) holds id 2 alone
}

TEST(AcceptToken, NoDraftIsAPlainStep) {
  const OwnedLaw law({0.5, 0.5});
  const Acceptance a = apply(accept_token, {}, {}, {law.law}, coins_of(0, 0, 0.6));
  EXPECT_EQ(a.n_accepted, 0);
  EXPECT_EQ(a.final_token, 1);
  EXPECT_EQ(a.source, Source::kBonus);
}

TEST(AcceptGreedy, AcceptsWhileTheDraftIsTheArgmax) {
  const std::vector<Law> targets{point_law(9, 4), point_law(9, 2), point_law(9, 7)};
  const std::vector<Law> drafts{point_law(9, 4), point_law(9, 3)};
  const Acceptance full = apply(accept_greedy, {4, 2}, drafts, targets, {});
  EXPECT_EQ(full.n_accepted, 2);
  EXPECT_EQ(full.final_token, 7);
  const Acceptance one = apply(accept_greedy, {4, 3}, drafts, targets, {});
  EXPECT_EQ(one.n_accepted, 1);
  EXPECT_EQ(one.final_token, 2);
  const Acceptance none =
      apply(accept_greedy, {3, 2}, drafts, targets, {});  // behind a mismatch nothing counts
  EXPECT_EQ(none.n_accepted, 0);
  EXPECT_EQ(none.final_token, 4);
  EXPECT_EQ(none.source, Source::kArgmax);
}

TEST(AcceptOneHot, StandsIffTheTargetDrawsTheSameToken) {
  const OwnedLaw law({0.25, 0.5, 0.25});
  for (const TokenId drafted : {0, 1, 2}) {
    for (const double u : {0.0, 0.2499, 0.25, 0.74, 0.75, kLastCoin}) {
      const Acceptance a = apply(accept_one_hot, {drafted}, {point_law(3, drafted)},
                                 {law.law, law.law}, coins_of(0, u, 0));
      const TokenId drawn = draw(law.law, u);
      EXPECT_EQ(a.n_accepted, drawn == drafted ? 1 : 0);
      EXPECT_EQ(a.final_token, drawn);  // every position has the same coin here
      EXPECT_EQ(a.source, Source::kTargetDraw);
    }
  }
}

TEST(AcceptCoupled, StandsIffTheCoupledDrawIsTheSameToken) {
  Numbers numbers(3);
  const OwnedLaw first = testing::random_law(12, 1.0, numbers);
  const OwnedLaw second = testing::random_law(12, 1.0, numbers);
  for (std::uint32_t pos = 0; pos < 200; ++pos) {
    const RoundCoins coins = round_coins(5, 6, static_cast<int>(pos), 1);
    const TokenId want = coupled_draw(first.law, 5, 6, pos);
    const TokenId next = coupled_draw(second.law, 5, 6, pos + 1);
    const TokenId wrong = (want + 1) % 12;
    const Acceptance yes =
        apply(accept_coupled, {want}, {first.law}, {first.law, second.law}, coins);
    const Acceptance no =
        apply(accept_coupled, {wrong}, {first.law}, {first.law, second.law}, coins);
    EXPECT_EQ(yes.n_accepted, 1);
    EXPECT_EQ(yes.final_token, next);
    EXPECT_EQ(no.n_accepted, 0);
    EXPECT_EQ(no.final_token, want);
    EXPECT_EQ(no.source, Source::kCoupled);
  }
}

}  // namespace
}  // namespace specbench::engine
