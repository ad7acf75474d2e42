#include "suites/replay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine_test_support.h"
#include "suites/coin_test_support.h"
#include "suites/fault_test_support.h"
#include "suites/replay_check.h"

namespace specbench::suites {
namespace {

using testing::SmallRun;

/// Replays every round of a run on a small model.
struct Replayed {
  const engine::Verifier& verifier;
  std::uint64_t seed;
  OracleFault fault = OracleFault::kNone;
  ReplayCounts counts{};
  void note(const engine::Prefill& prefill) { note(round_of(prefill)); }
  void note(const engine::Round& round) { replay_round(round, verifier, seed, counts, fault); }
};

ReplayCounts replay(const std::string& verifier, const engine::Steps& steps,
                    std::uint64_t seed_of_replay = 1, OracleFault fault = OracleFault::kNone) {
  SmallRun run;
  run.verifier = verifier;
  run.steps = steps;
  run.n_requests = 100;
  Replayed replayed{engine::find_verifier(verifier, {}), seed_of_replay, fault};
  testing::decode_small(run, replayed);
  return replayed.counts;
}

/// The rounds of the embedded model, whose vocabulary has many chunks.
class Observed final : public engine::Observer {
 public:
  explicit Observed(const engine::Verifier& verifier) : replayed{verifier, 1} {}
  void prefill(const engine::Prefill& prefill) override { replayed.note(prefill); }
  void round(const engine::Round& round) override { replayed.note(round); }
  Replayed replayed;
};

TEST(Replay, AgreesWithEveryVerifier) {
  Options embedded = testing::embedded_options("lossless");
  embedded.threads = 1;  // small steps: two threads wait for each other
  testing::Bench bench(embedded);
  for (const std::string verifier : {"token", "block", "one-hot", "coupled"}) {
    const engine::DecodeOptions options = decode_options(bench.context, verifier);
    const auto backend =
        open_backend(bench.context, 8, longest_sequence(bench.context, 24), options.draft_tokens);
    const auto drafter = open_drafter(bench.context);
    std::vector<engine::Request> requests;
    for (std::uint32_t i = 0; i < 12; ++i)
      requests.push_back({i, bench.context.prompts[i].ids, 24});
    Observed observer(*options.verifier);
    engine::decode_speculative(*backend, *drafter, requests, options, observer);
    const ReplayCounts& counts = observer.replayed.counts;
    EXPECT_GT(counts.n_rounds, 80) << verifier;
    EXPECT_EQ(counts.n_draft_mismatches, 0) << verifier << ": " << counts.first_mismatch;
    EXPECT_EQ(counts.n_round_mismatches, 0) << verifier << ": " << counts.first_mismatch;
    EXPECT_TRUE(counts.are_all_ties());
    EXPECT_TRUE(mismatch_table(counts).rows.empty());
  }
}

TEST(Replay, AgreesOnASmallModelToo) {
  for (const std::string verifier : {"token", "block", "one-hot", "coupled"}) {
    const ReplayCounts counts = replay(verifier, {});
    EXPECT_GT(counts.n_rounds, 1000) << verifier;
    EXPECT_TRUE(counts.mismatches.empty()) << verifier << ": " << counts.first_mismatch;
  }
}

TEST(Replay, NamesPlantedFaults) {
  EXPECT_GT(replay("token", testing::steps_r1()).n_round_mismatches, 0);
  EXPECT_GT(replay("token", testing::steps_n1()).n_round_mismatches, 0);
  const ReplayCounts a1 = replay("token", testing::steps_a1());
  EXPECT_GT(a1.n_round_mismatches, 0);
  EXPECT_EQ(a1.n_draft_mismatches, 0);
  EXPECT_NE(a1.first_mismatch.find("accepted drafts"), std::string::npos) << a1.first_mismatch;
  EXPECT_GT(replay("block", testing::steps_of_coins(testing::coins_n6)).n_round_mismatches, 0);
}

// R9: the block rule with the token rule's residual; no sampling of a sensible size sees it.
TEST(Replay, SeesTheTokenResidualInTheBlockRule) {
  engine::Steps steps;
  steps.accept = [](const engine::Proposal& proposal, const engine::RoundCoins& coins,
                    const engine::LawRoom& room) {
    engine::Acceptance acceptance = engine::accept_block(proposal, coins, room);
    const auto tau = static_cast<std::size_t>(acceptance.n_accepted);
    if (acceptance.source != engine::Source::kResidual) return acceptance;
    const engine::Law residual =
        engine::residual_law(proposal.target_laws[tau], proposal.draft_laws[tau], room);
    acceptance.final_token = engine::draw(residual, coins.residual[tau]);
    return acceptance;
  };
  EXPECT_GT(replay("block", steps).n_round_mismatches, 0);
}

TEST(Replay, AnotherSeedDoesNotAgree) {
  for (const std::string verifier : {"token", "block", "coupled"}) {
    const ReplayCounts counts = replay(verifier, {}, 2);
    EXPECT_GT(counts.n_draft_mismatches, 0);
    EXPECT_GT(counts.n_round_mismatches, 0);
  }
}

// What the round says of its own seed and coins is not looked at.
TEST(Replay, DoesNotTrustTheLoggedSeed) {
  const ReplayCounts counts = replay("token", testing::steps_of_coins(testing::coins_n5));
  EXPECT_GT(counts.n_round_mismatches, 0);
  EXPECT_EQ(counts.n_draft_mismatches, 0);
}

TEST(Replay, KeepsTheFirstMismatchesWithTheirMargins) {
  const ReplayCounts counts = replay("token", testing::steps_a1());
  ASSERT_EQ(counts.mismatches.size(), ReplayCounts::kKept);
  EXPECT_EQ(counts.first_mismatch, describe(counts.mismatches.front()));
  EXPECT_EQ(mismatch_table(counts).rows.size(), ReplayCounts::kKept);
  for (const ReplayMismatch& mismatch : counts.mismatches) {
    EXPECT_GT(mismatch.margin, kTieMargin);
    EXPECT_LT(mismatch.margin, 1.0);
    EXPECT_GE(mismatch.coin, 0.0);
  }
  EXPECT_FALSE(counts.are_all_ties());
}

/// A round of four ids with one draft, whose coins come from seed 1, request 0, position 10.
struct HandRound {
  std::vector<engine::TokenId> emitted;
  int n_verdict = 0;
  engine::testing::OwnedLaw draft{{1, 1, 1, 1}}, target{{1, 2, 3, 2}}, next{{1, 1, 1, 1}};
  engine::TokenId drafted = 2;  // the draft coin is .635

  ReplayMismatch mismatch() const {
    const engine::Law draft_laws[] = {draft.law};
    const engine::Law target_laws[] = {target.law, next.law};
    engine::Round round;
    round.first_pos = 10;
    round.proposal = {{&drafted, 1}, draft_laws, target_laws};
    round.n_verdict = round.n_accepted = n_verdict;
    round.emitted = emitted;
    ReplayCounts counts;
    replay_round(round, engine::find_verifier("token", {}), 1, counts);
    return counts.mismatches.empty() ? ReplayMismatch{} : counts.mismatches.front();
  }
};

double coin(int pos, engine::Purpose purpose) {
  return engine::uniform({1, 0, 10, static_cast<std::uint32_t>(pos), purpose, 0});
}

TEST(ReplayMargin, IsTheDistanceToTheEdgeThatShouldHaveBeenCrossed) {
  const double bonus = coin(11, engine::Purpose::kBonus);
  HandRound round;
  round.n_verdict = 1;  // a = 1: it must stand
  const auto right = static_cast<engine::TokenId>(bonus * 4.0);
  round.emitted = {2, right};
  EXPECT_EQ(std::string(round.mismatch().what), "");
  round.emitted = {2, right + 1};
  EXPECT_EQ(round.mismatch().pos, 11);
  EXPECT_EQ(round.mismatch().coin, bonus);
  EXPECT_NEAR(round.mismatch().margin, (right + 1) / 4.0 - bonus, 1e-15);
  round.emitted = {2, 9};  // no coin gives it
  EXPECT_EQ(round.mismatch().margin, 1.0);
  round.n_verdict = 0;
  round.emitted = {1};
  EXPECT_EQ(std::string(round.mismatch().what), "accepted drafts:");
  EXPECT_NEAR(round.mismatch().margin, 1.0 - coin(10, engine::Purpose::kAccept), 1e-15);
}

TEST(ReplayMargin, TellsRoundingFromAFault) {
  const double accept = coin(10, engine::Purpose::kAccept);  // .679
  const auto margin_at = [&](double a) {
    const double p = a / 4.0;
    HandRound round{{2, 1},
                    1,
                    engine::testing::OwnedLaw({1, 1, 1, 1}),
                    engine::testing::OwnedLaw({1.0 - p, 0.0, p, 0.0})};
    return round.mismatch();
  };
  const ReplayMismatch fault = margin_at(accept - 1e-3);
  EXPECT_NEAR(fault.margin, 1e-3, 1e-12);
  EXPECT_FALSE(fault.is_tie());
  const ReplayMismatch tie = margin_at(accept - 1e-14);
  EXPECT_TRUE(tie.is_tie()) << tie.margin;
  EXPECT_NE(describe(tie).find("rounding"), std::string::npos);
}

TEST(ReplayMargin, CoupledNoiseHasNoCoin) {
  engine::Steps steps;
  steps.accept = testing::steps_a1().accept;
  const ReplayCounts counts = replay("coupled", steps);
  ASSERT_FALSE(counts.mismatches.empty());
  EXPECT_TRUE(std::isnan(counts.mismatches.front().coin));
  EXPECT_TRUE(results::Value() == mismatch_table(counts).rows.front()[6]);
}

TEST(Oracle, TypedRoundsAgree) {
  const results::Check check = check_oracle();
  EXPECT_EQ(check.status, results::CheckStatus::kPassed) << check.detail;
}

// A9.
TEST(Oracle, AWrongOracleIsNoticedByHandAndByTheEngine) {
  const results::Check check = check_oracle(OracleFault::kResidualIsTarget);
  EXPECT_EQ(check.status, results::CheckStatus::kFailed);
  EXPECT_NE(check.detail.find("token, first refused"), std::string::npos) << check.detail;
  EXPECT_GT(replay("token", {}, 1, OracleFault::kResidualIsTarget).n_round_mismatches, 0);
  // An engine that shares the mistake agrees with the oracle; only the typed rounds do not.
  const ReplayCounts shared =
      replay("token", testing::steps_r1(), 1, OracleFault::kResidualIsTarget);
  EXPECT_EQ(shared.n_round_mismatches, 0) << shared.first_mismatch;
}

}  // namespace
}  // namespace specbench::suites
