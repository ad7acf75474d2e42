// What must be equal token for token: speculative and plain output under the rules that promise it,
// alone and in any batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/decode_test_support.h"

namespace specbench::engine {
namespace {

using testing::Decoded;
using testing::plain;
using testing::Plan;
using testing::run;

const Model& small() {
  static const std::unique_ptr<Model> model = testing::random_model(testing::small_shape(), 17);
  return *model;
}

std::vector<Request> requests(int n = 5) { return testing::some_requests(n, small().config, 40); }

Plan plan(const std::string& verifier, const std::string& drafter, int k, int g) {
  Plan s;
  s.verifier = verifier;
  s.temperature = verifier == "greedy" ? 0.0 : 1.0;
  s.drafter = drafter;
  s.draft_layers = k;
  s.draft_tokens = g;
  return s;
}

TEST(DecodeEquality, SpeculativeEqualsPlainForEveryDepthAndLength) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    const auto want = run(small(), requests(), plain(plan(verifier, "", 0, 0))).tokens();
    for (const int k : {1, 3, 6, 12})
      for (const int g : {1, 2, 4, 8})
        EXPECT_EQ(run(small(), requests(), plan(verifier, "layer-skip", k, g)).tokens(), want)
            << verifier << " k " << k << " g " << g;
    for (const char* drafter : {"null", "oracle", "uniform"})
      EXPECT_EQ(run(small(), requests(), plan(verifier, drafter, 1, 3)).tokens(), want)
          << verifier << " " << drafter;
  }
}

TEST(DecodeEquality, SpeculativeEqualsPlainInBatches) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    const auto want = run(small(), requests(11), plain(plan(verifier, "", 0, 0))).tokens();
    for (const int n_lanes : {3, 8, 16}) {
      Plan s = plan(verifier, "layer-skip", 2, 3);
      s.n_lanes = n_lanes;
      EXPECT_EQ(run(small(), requests(11), s).tokens(), want) << verifier << " " << n_lanes;
      EXPECT_EQ(run(small(), requests(11), plain(s)).tokens(), want) << verifier << " " << n_lanes;
    }
  }
}

TEST(DecodeEquality, TheReferenceBackendPromisesTheSame) {
  for (const char* verifier : {"greedy", "coupled"}) {
    Plan s = plan(verifier, "layer-skip", 2, 3);
    s.backend = "reference";
    s.n_lanes = 2;
    EXPECT_EQ(run(small(), requests(3), s).tokens(), run(small(), requests(3), plain(s)).tokens());
  }
}

TEST(DecodeEquality, NoDraftIsThePlainStepUnderTheTokenRuleToo) {
  const Plan s = plan("token", "null", 0, 4);
  EXPECT_EQ(run(small(), requests(), s).tokens(), run(small(), requests(), plain(s)).tokens());
}

TEST(DecodeEquality, ARequestIsTheSameAloneAndInAnyBatchUnderTheTokenRule) {
  Plan s = plan("token", "layer-skip", 3, 4);
  const auto want = run(small(), requests(11), s).tokens();
  for (std::size_t i = 0; i < 11; ++i)
    EXPECT_EQ(run(small(), {requests(11)[i]}, s).tokens().front(), want[i]);
  for (const int n_lanes : {3, 8, 16}) {
    s.n_lanes = n_lanes;
    EXPECT_EQ(run(small(), requests(11), s).tokens(), want) << n_lanes;
  }
  for (const int n_threads : {2, 3}) {
    s.n_threads = n_threads;
    EXPECT_EQ(run(small(), requests(11), s).tokens(), want) << n_threads << " threads";
  }
  auto backwards = requests(11);
  std::reverse(backwards.begin(), backwards.end());
  auto got = run(small(), backwards, s).tokens();
  std::reverse(got.begin(), got.end());
  EXPECT_EQ(got, want);
}

TEST(DecodeEquality, SeedsAndRequestsHaveTheirOwnCoins) {
  Plan s = plan("token", "layer-skip", 3, 4);
  const auto first = run(small(), requests(), s).tokens();
  s.seed = 2;
  EXPECT_NE(run(small(), requests(), s).tokens(), first);
  auto twins = std::vector<Request>(2, requests()[0]);
  twins[1].id = 7777;  // the same prompt under another id
  const auto both = run(small(), twins, s).tokens();
  EXPECT_NE(both[0], both[1]);
}

TEST(DecodeEquality, LongPromptsArePrefilledInPieces) {
  std::vector<Request> long_ones{{1, testing::random_tokens(100, small().config, 3), 20},
                                 {2, testing::random_tokens(37, small().config, 4), 20},
                                 {3, testing::random_tokens(8, small().config, 5), 20}};
  Plan s = plan("token", "layer-skip", 3, 3);
  s.n_lanes = 2;
  const auto want = run(small(), long_ones, s).tokens();
  for (const int n_slots : {8, 9, 37, 99, 100}) {
    s.n_slots = n_slots;
    EXPECT_EQ(run(small(), long_ones, s).tokens(), want) << n_slots;
  }
}

TEST(DecodeEquality, FullDraftsAreAlwaysAccepted) {
  for (const char* verifier : {"greedy", "token", "coupled"}) {
    for (const char* drafter : {"oracle", "layer-skip"}) {
      Plan s = plan(verifier, drafter, 12, 3);
      s.stop_at_eos = false;
      s.n_lanes = 2;
      for (const auto& round : run(small(), requests(), s).log.rounds) {
        EXPECT_EQ(round.n_accepted, static_cast<int>(round.drafted.size()))
            << verifier << " " << drafter;
        EXPECT_EQ(round.emitted.size(), round.drafted.size() + 1);
      }
    }
  }
}

TEST(DecodeEquality, UniformDraftsAreMostlyRejectedAndHarmless) {
  const Decoded r = run(small(), requests(), plan("token", "uniform", 1, 4));
  int n_drafted = 0;
  int n_accepted = 0;
  for (const auto& round : r.log.rounds) {
    n_drafted += static_cast<int>(round.drafted.size());
    n_accepted += round.n_accepted;
    for (const double p : round.draft_probs) EXPECT_NEAR(p, 1.0 / 61, 1e-15);
    for (const double p : round.target_probs) EXPECT_GT(p, 0.0);
  }
  EXPECT_GT(n_drafted, 100);
  EXPECT_GT(n_accepted, 0);
  EXPECT_LT(n_accepted, n_drafted);
}

// Planted faults: the equality must break.
TEST(DecodeEquality, SeesFaultyRules) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    Plan s = plan(verifier, "layer-skip", 1, 4);
    const auto want = run(small(), requests(), plain(s)).tokens();
    s.steps.accept = [](const Proposal& p, const RoundCoins& coins,
                        const LawRoom& room) {  // A6: first unverified
      if (p.drafted.empty()) return accept_coupled(p, coins, room);
      return Acceptance{1, draw(p.target_laws[1], coins.target[1]), Source::kBonus, false};
    };
    // Where the check of supports is quicker than the comparison, that is a catch as well.
    try {
      EXPECT_NE(run(small(), requests(), s).tokens(), want) << verifier;
    } catch (const std::logic_error& caught) {
      EXPECT_NE(std::string(caught.what()).find("probability zero"), std::string::npos)
          << caught.what();
    }
  }
}

TEST(DecodeEquality, SeesCoinsSharedByTheRequests) {
  Plan s = plan("one-hot", "layer-skip", 2, 3);
  const auto want = run(small(), requests(), plain(s)).tokens();
  s.steps.coins = [](const RoundKey& key) {
    return round_coins(key.seed, 0, key.first_pos, key.n_drafted);  // N4
  };
  EXPECT_NE(run(small(), requests(), s).tokens(), want);
}

}  // namespace
}  // namespace specbench::engine
