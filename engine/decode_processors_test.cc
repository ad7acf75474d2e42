// Decoding with every processor on: what must be equal token for token still is, also for requests
// that each bring their own sampling and seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "engine/error.h"
#include "engine/processors_test_support.h"

namespace specbench::engine {
namespace {

using testing::Case;
using testing::decode;
using testing::Decoded;
using testing::ending;
using testing::endless;
using testing::everything;
using testing::plain;
using testing::requests;
using testing::Texts;
using testing::with_everything;

std::vector<StopReason> stops_of(const Decoded& r) {
  std::vector<StopReason> stops;
  for (const Completion& c : r.completions) stops.push_back(c.stop);
  return stops;
}

TEST(DecodeProcessors, SpeculativeEqualsPlainWithEverythingOn) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    const Decoded want = decode(ending(), requests(), with_everything(verifier, ""));
    for (const char* drafter : {"layer-skip", "uniform", "null", "oracle"})
      for (const auto& [n_lanes, n_threads] : {std::pair(1, 1), std::pair(5, 1), std::pair(5, 2)}) {
        Case s = with_everything(verifier, drafter);
        s.n_lanes = n_lanes;
        s.n_threads = n_threads;
        const Decoded got = decode(ending(), requests(), s);
        EXPECT_EQ(got.tokens(), want.tokens()) << verifier << " " << drafter << " " << n_lanes;
        EXPECT_EQ(stops_of(got), stops_of(want)) << verifier << " " << drafter << " " << n_lanes;
      }
  }
}

// The setting above is no empty one: every way to stop is seen, and every processor is felt.
TEST(DecodeProcessors, EveryProcessorIsFelt) {
  int n_by[4] = {};
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    const Decoded r = decode(ending(), requests(), with_everything(verifier, "layer-skip"));
    for (const Completion& c : r.completions) {
      ++n_by[static_cast<int>(c.stop)];
      const std::size_t n = c.tokens.size();
      EXPECT_GE(n, c.stop == StopReason::kEos ? 7U : 6U);
      for (const TokenId id : c.tokens) EXPECT_TRUE(id != 3 && id != 11 && id != 12);
    }
    for (int part = 0; part < 4; ++part) {
      Case without = with_everything(verifier, "");
      if (part == 0) without.sampling.logit_bias.clear();
      if (part == 1) without.sampling.min_tokens = 0;
      if (part == 2) without.sampling.repetition_penalty = 1.0;
      if (part == 3) without.sampling.presence_penalty = without.sampling.frequency_penalty = 0.0;
      EXPECT_NE(decode(ending(), requests(), without).tokens(), r.tokens()) << verifier << part;
    }
  }
  EXPECT_GT(n_by[static_cast<int>(StopReason::kEos)], 0);
  EXPECT_GT(n_by[static_cast<int>(StopReason::kStopText)], 0);
  EXPECT_GT(n_by[static_cast<int>(StopReason::kMaxTokens)], 0);
}

TEST(DecodeProcessors, NoDraftIsThePlainStepUnderTheTokenAndBlockRules) {
  for (const char* verifier : {"token", "block"}) {
    const Texts want = decode(ending(), requests(), with_everything(verifier, "")).tokens();
    Case s = with_everything(verifier, "null");
    s.n_lanes = 4;
    EXPECT_EQ(decode(ending(), requests(), s).tokens(), want) << verifier;
  }
}

/// Requests that each want something else; every second has a seed of its own.
std::vector<Request> mixed_requests() {
  std::vector<Request> mixed = requests(12);
  SamplingParams cold, narrow;
  cold.temperature = 0.0;
  narrow.temperature = 0.7;
  narrow.top_k = 8;
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    if (i % 4 == 1) mixed[i].sampling = cold;
    if (i % 4 == 2) mixed[i].sampling = narrow;
    if (i % 4 == 3) mixed[i].sampling = everything(1.0);
    if (i / 2 % 2 == 1) mixed[i].seed = 5000 + i;
    if (i % 3 == 0)
      mixed[i].prompt = testing::random_tokens(40 + static_cast<int>(i), endless().config, 50 + i);
  }
  return mixed;
}

Case mixed_setup(const std::string& verifier) {
  Case s;
  s.verifier = verifier;
  s.drafter = "layer-skip";
  s.stops = {"ab", "hca"};
  return s;
}

TEST(DecodeProcessors, AMixedRequestIsTheSameAloneInABatchAndInAnyOrder) {
  const std::vector<Request> mixed = mixed_requests();
  for (const char* verifier : {"token", "block", "coupled", "one-hot"}) {
    Case s = mixed_setup(verifier);
    Texts alone;
    for (const Request& request : mixed)
      alone.push_back(decode(ending(), {request}, s).tokens().front());
    for (const auto& [n_lanes, n_threads, n_slots] :
         {std::tuple(5, 1, 512), std::tuple(5, 2, 25), std::tuple(12, 2, 60),
          std::tuple(2, 1, 13)}) {
      s.n_lanes = n_lanes;
      s.n_threads = n_threads;
      s.n_slots = n_slots;  // prompts of several chunks that share a step
      EXPECT_EQ(decode(ending(), mixed, s).tokens(), alone) << verifier << " " << n_lanes;
      std::vector<Request> shuffled;
      for (std::size_t i = 0; i < mixed.size(); ++i) shuffled.push_back(mixed[i * 5 % 12]);
      const Texts got = decode(ending(), shuffled, s).tokens();
      for (std::size_t i = 0; i < mixed.size(); ++i)
        EXPECT_EQ(got[i], alone[i * 5 % 12]) << verifier << " " << n_lanes << " " << i;
    }
  }
}

TEST(DecodeProcessors, MixedBatchesEqualPlainDecodingUnderTheEqualityRules) {
  for (const char* verifier : {"coupled", "one-hot"}) {
    Case s = mixed_setup(verifier);
    s.n_lanes = 5;
    EXPECT_EQ(decode(ending(), mixed_requests(), s).tokens(),
              decode(ending(), mixed_requests(), plain(s)).tokens())
        << verifier;
  }
}

TEST(DecodeProcessors, ColdRequestsAmongWarmOnesGetTheGreedyText) {
  for (const char* verifier : {"token", "block", "coupled", "one-hot"}) {
    Case s = mixed_setup(verifier);
    s.n_lanes = 5;
    const Texts got = decode(ending(), mixed_requests(), s).tokens();
    Case greedy = plain(mixed_setup("greedy"));
    greedy.sampling.temperature = 0.0;
    for (std::size_t i = 1; i < 12; i += 4)
      EXPECT_EQ(got[i], decode(ending(), {mixed_requests()[i]}, greedy).tokens().front())
          << verifier << " " << i;
  }
}

/// Texts where request i has seed 100 + i, in a run with another, against runs with that seed.
bool own_seed_is_the_runs(const std::string& verifier, const Steps& steps) {
  std::vector<Request> seeded = requests(4);
  Case s = mixed_setup(verifier);
  Texts want;
  for (std::size_t i = 0; i < seeded.size(); ++i) {
    s.seed = 100 + i;
    want.push_back(decode(ending(), {seeded[i]}, s).tokens().front());
    seeded[i].seed = s.seed;
  }
  s.seed = 1;
  s.steps = steps;
  s.n_lanes = 3;
  return decode(ending(), seeded, s).tokens() == want;
}

TEST(DecodeProcessors, ASeedOfItsOwnIsWorthARunsSeed) {
  Steps ignored;  // N5: the coins of the run for everybody
  ignored.coins = [](const RoundKey& key) {
    return round_coins(1, key.request, key.first_pos, key.n_drafted);
  };
  for (const char* verifier : {"token", "block", "coupled", "one-hot"}) {
    EXPECT_TRUE(own_seed_is_the_runs(verifier, {})) << verifier;
    EXPECT_FALSE(own_seed_is_the_runs(verifier, ignored)) << verifier;
  }
}

// Planted faults: the equality must break, or an assertion be quicker.
void expect_seen(const Steps& steps, const char* fault) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    Case s = with_everything(verifier, "layer-skip");
    s.k = 8;
    const Texts want = decode(ending(), requests(), plain(s)).tokens();
    s.steps = steps;
    try {
      EXPECT_NE(decode(ending(), requests(), s).tokens(), want) << fault << " " << verifier;
    } catch (const StateViolation& caught) {
      EXPECT_NE(std::string(caught.what()).find("Round "), std::string::npos) << caught.what();
    }
  }
}

TEST(DecodeProcessors, SeesAHistoryWithoutTheDraftedTokens) {  // Q8
  Steps steps;
  steps.law = [](float* logits, int n_ids, const SamplingParams& p, const RowPast& past,
                 const RowPlace& place, const LawRoom& room) {
    RowPast stale = past;
    if (!place.is_draft) stale.drafted = {};
    return law_of_row(logits, n_ids, p, stale, place, room);
  };
  expect_seen(steps, "Q8");
}

TEST(DecodeProcessors, SeesMinTokensOnTheBonusRowOnly) {  // S3
  Steps steps;
  steps.law = [](float* logits, int n_ids, const SamplingParams& p, const RowPast& past,
                 const RowPlace& place, const LawRoom& room) {
    SamplingParams faulty = p;
    if (!place.is_draft && !place.is_bonus()) faulty.min_tokens = 0;
    return law_of_row(logits, n_ids, faulty, past, place, room);
  };
  expect_seen(steps, "S3");
}

TEST(DecodeProcessors, SeesPenaltiesOnTheBonusRowOnly) {  // Q7
  Steps steps;
  steps.law = [](float* logits, int n_ids, const SamplingParams& p, const RowPast& past,
                 const RowPlace& place, const LawRoom& room) {
    SamplingParams faulty = p;
    if (!place.is_draft && !place.is_bonus()) {
      faulty.repetition_penalty = 1.0;
      faulty.presence_penalty = faulty.frequency_penalty = 0.0;
    }
    return law_of_row(logits, n_ids, faulty, past, place, room);
  };
  expect_seen(steps, "Q7");
}

// The draft of the one-hot rule: the argmax of what the processors leave, with its own drafts as
// history; no seed, request or position changes it.
TEST(DecodeProcessors, AGreedyDraftSeesProcessedLogitsAndNoCoin) {
  SamplingParams p;
  p.temperature = 1.3;
  p.banned = {1};
  p.presence_penalty = 2.0;
  const Steps steps;
  for (const std::uint64_t seed : {1ULL, 2ULL, 99ULL}) {
    DraftSampler sampler(1, 3, 4, DraftDraw::kArgmax, {}, 1, steps);
    LaneDraft lane;
    lane.request = static_cast<std::uint32_t>(seed * 7);
    lane.newest_pos = static_cast<int>(seed);
    lane.seed = seed;
    lane.sampling = &p;
    LaneDraft* const one[] = {&lane};
    for (int i = 0; i < 3; ++i) {
      std::vector<float> logits{3, 9, 4, 0};
      sampler.draw_next(one, logits.data());
      EXPECT_TRUE(lane.laws.back().is_point());
      EXPECT_EQ(lane.laws.back().point, lane.drafted.back());
    }
    // 1 is banned; then 4 - 2 is below 3; then 4 - 2 is above 3 - 2.
    EXPECT_EQ(lane.drafted, (std::vector<TokenId>{2, 0, 2}));
  }
}

std::string refusal(const Request& request, double temperature = 1.0) {
  Case s;
  s.drafter = "null";
  s.sampling.temperature = temperature;
  try {
    (void)decode(ending(), {request}, s);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DecodeProcessors, ARequestsOwnSamplingIsChecked) {
  Request request{7, {1}, 3};
  const auto refused = [&](auto change, double temperature = 1.0) {
    request.sampling = SamplingParams{};
    change(*request.sampling);
    return refusal(request, temperature);
  };
  EXPECT_EQ(refused([](SamplingParams& p) {
              p.logit_bias = {{0, std::nan("")}};
            }),
            "Request 7: --logit-bias is nan; it must be -1000 to 1000; --ban forbids.");
  EXPECT_EQ(refused([](SamplingParams& p) { p.temperature = -1; }),
            "Request 7: --temperature is -1; it must be 0 (greedy) to 100.");
  EXPECT_EQ(refused([](SamplingParams& p) { p.banned = {61}; }),
            "Request 7: --ban names token 61; the vocabulary has ids 0 to 60.");
  EXPECT_EQ(refused([](SamplingParams&) {}, 0.0),
            "Request 7: its temperature is above 0, but the run decodes greedily; give the run a "
            "temperature above 0 and --verifier token.");
  EXPECT_EQ(refused([](SamplingParams& p) { p.temperature = 0; }), "accepted");
}

}  // namespace
}  // namespace specbench::engine
