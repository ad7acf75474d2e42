#include "engine/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/decode_test_support.h"
#include "engine/error.h"

namespace specbench::engine {
namespace {

using testing::Decoded;
using testing::plain;
using testing::Plan;
using testing::run;

std::unique_ptr<Model> small(std::vector<TokenId> eos = {}) {
  auto model = testing::random_model(testing::small_shape(), 17);
  model->config.eos = std::move(eos);
  return model;
}

Plan plan(const std::string& verifier, const std::string& drafter, int k, int g) {
  Plan s;
  s.verifier = verifier;
  s.temperature = verifier == "greedy" ? 0.0 : 1.0;
  s.drafter = drafter;
  s.draft_layers = k;
  s.draft_tokens = g;
  return s;
}

// The identities of METRICS that one decoding must satisfy, from the log against what was returned.
void expect_identities(const Decoded& r, const std::vector<Request>& requests, int g,
                       int n_layers) {
  std::map<std::uint32_t, std::vector<TokenId>> emitted;
  std::map<std::uint32_t, int> n_rounds, n_prompt;
  for (const auto& p : r.log.prefills) {
    emitted[p.request].push_back(p.token);
    n_prompt[p.request] = p.n_prompt;
    EXPECT_GT(p.prob, 0.0);
  }
  EXPECT_EQ(r.log.prefills.size(), requests.size());
  for (const auto& round : r.log.rounds) {
    auto& tokens = emitted[round.request];
    EXPECT_EQ(round.index, n_rounds[round.request]++);
    EXPECT_EQ(round.first_pos, n_prompt[round.request] + static_cast<int>(tokens.size()));
    EXPECT_LE(static_cast<int>(round.drafted.size()), g);
    EXPECT_LE(round.n_accepted, round.n_verdict);
    EXPECT_LE(round.n_verdict, static_cast<int>(round.drafted.size()));
    EXPECT_EQ(round.emitted.size(),
              static_cast<std::size_t>(round.n_accepted + (round.is_cut ? 0 : 1)));
    EXPECT_TRUE(std::equal(round.emitted.begin(), round.emitted.begin() + round.n_accepted,
                           round.drafted.begin()));
    tokens.insert(tokens.end(), round.emitted.begin(), round.emitted.end());
    // Every layer holds all committed tokens but the newest, before and after.
    EXPECT_EQ(round.kv_before,
              std::vector<int>(static_cast<std::size_t>(n_layers), round.first_pos - 1));
    EXPECT_EQ(round.kv_after,
              std::vector<int>(static_cast<std::size_t>(n_layers),
                               round.first_pos - 1 + static_cast<int>(round.emitted.size())));
    if (round.is_cut) {
      EXPECT_EQ(round.stop, StopReason::kEos);  // max_tokens never falls inside a block
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(r.completions[i].request, requests[i].id);
    EXPECT_EQ(r.completions[i].tokens, emitted[requests[i].id]);
    EXPECT_NE(r.completions[i].stop, StopReason::kNone);
    if (r.completions[i].stop == StopReason::kMaxTokens) {
      EXPECT_EQ(static_cast<int>(r.completions[i].tokens.size()), requests[i].max_tokens);
    }
  }
}

TEST(Decode, KeepsTheIdentitiesOfTheLog) {
  const auto model = small({3, 17});
  const auto requests = testing::some_requests(9, model->config, 30);
  for (const char* verifier : {"greedy", "token", "one-hot", "coupled"})
    for (const char* drafter : {"layer-skip", "oracle", "uniform", "null", ""})
      for (const int n_lanes : {1, 4}) {
        Plan s = plan(verifier, drafter, 3, 3);
        s.n_lanes = n_lanes;
        expect_identities(run(*model, requests, s), requests, *drafter == 0 ? 0 : 3, 12);
      }
}

// Token-layers and head rows of RULES section 5, from the drafted counts alone.
void expect_work(const std::string& drafter, int k) {
  const auto model = small();
  const auto requests = testing::some_requests(5, model->config, 30);
  Plan s = plan("token", drafter, k, 3);
  s.n_lanes = 2;
  const Decoded r = run(*model, requests, s);
  std::int64_t token_layers = 0;
  std::int64_t head_rows = static_cast<std::int64_t>(requests.size());
  for (const Request& request : requests)
    token_layers += static_cast<std::int64_t>(request.prompt.size()) * 12;
  for (const auto& round : r.log.rounds) {
    const auto n = static_cast<std::int64_t>(round.drafted.size());
    const bool runs_layers = drafter == "layer-skip" || drafter == "oracle";
    token_layers += (n + 1) * 12 + (drafter == "oracle" ? n * 12 : 0);
    head_rows += n + 1 + (runs_layers ? n : 0);
    EXPECT_EQ(round.n_reused_rows, drafter == "layer-skip" ? n : 0);
  }
  EXPECT_EQ(r.work.token_layers, token_layers) << drafter;
  EXPECT_EQ(r.work.head_rows, head_rows) << drafter;
}

TEST(Decode, CountsTheWorkOfTheFormulas) {
  for (const int k : {1, 5, 12}) expect_work("layer-skip", k);
  for (const char* drafter : {"oracle", "uniform", "null", ""}) expect_work(drafter, 1);
}

// S2: every residue of max_tokens against the length of a block.
TEST(Decode, EmitsExactlyMaxTokens) {
  const auto model = small();
  for (const char* verifier : {"greedy", "one-hot", "coupled", "token"})
    for (const int g : {1, 2, 3, 5})
      for (int max_tokens = 1; max_tokens <= 13; ++max_tokens) {
        const std::vector<Request> one{{1, {5, 6, 7}, max_tokens}};
        for (const int k : {2, 12}) {
          const Decoded r = run(*model, one, plan(verifier, "layer-skip", k, g));
          EXPECT_EQ(static_cast<int>(r.completions[0].tokens.size()), max_tokens);
          EXPECT_EQ(r.completions[0].stop, StopReason::kMaxTokens);
          for (const auto& round : r.log.rounds) EXPECT_FALSE(round.is_cut);
        }
      }
}

// S1 and M2: an EOS at each index of a block ends the text there, and nothing behind it counts.
TEST(Decode, StopsAtTheFirstEosWhereverItFalls) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    const std::vector<Request> one{{1, {5, 6, 7}, 30}};
    auto model = small();
    const auto whole = run(*model, one, plain(plan(verifier, "", 0, 0))).tokens().front();
    int n_cut = 0;
    for (std::size_t j = 0; j < whole.size(); ++j) {
      model->config.eos = {whole[j]};
      const auto end = std::find(whole.begin(), whole.end(), whole[j]) + 1;
      for (const int k : {2, 12}) {
        const Plan s = plan(verifier, "layer-skip", k, 4);
        const Decoded r = run(*model, one, s);
        EXPECT_EQ(r.tokens().front(), std::vector<TokenId>(whole.begin(), end))
            << verifier << " " << j;
        EXPECT_EQ(r.completions[0].stop, StopReason::kEos);
        EXPECT_EQ(run(*model, one, plain(s)).tokens(), r.tokens());
        if (!r.log.rounds.empty()) n_cut += r.log.rounds.back().is_cut ? 1 : 0;
        Plan on = s;  // a fixed budget goes on behind it
        on.stop_at_eos = false;
        EXPECT_EQ(run(*model, one, on).tokens().front(), whole);
      }
    }
    EXPECT_GT(n_cut, 0)
        << verifier;  // drafted and accepted EOS: the final token behind it was dropped
  }
}

TEST(Decode, RequestsThatEndAtOnceLeaveTheirLaneToTheNext) {
  const auto model = small();
  std::vector<Request> many;
  for (std::uint32_t i = 0; i < 20000; ++i) many.push_back({i, {1}, 1});  // far deeper than a stack
  const Decoded r = run(*model, many, plan("token", "layer-skip", 1, 2));
  EXPECT_EQ(r.log.prefills.size(), many.size());
  EXPECT_TRUE(r.log.rounds.empty());
  EXPECT_TRUE(std::all_of(r.completions.begin(), r.completions.end(), [](const Completion& c) {
    return c.tokens.size() == 1 && c.stop == StopReason::kMaxTokens;
  }));
}

TEST(Decode, CancelledRequestsKeepWhatTheyHave) {
  const auto model = small();
  Plan s = plan("greedy", "layer-skip", 2, 2);
  s.n_lanes = 2;
  s.cancel_after = 4;
  const auto requests = testing::some_requests(3, model->config, 40);
  const Decoded r = run(*model, requests, s);
  ASSERT_EQ(r.completions.size(), 3U);
  EXPECT_FALSE(r.completions[0].tokens.empty());
  EXPECT_EQ(r.completions[0].stop, StopReason::kNone);
  EXPECT_TRUE(r.completions[2].tokens.empty());  // never begun
  EXPECT_EQ(r.completions[2].request, requests[2].id);
}

// State (LOSSLESS, T5): the cache that drafting, verifying and trimming leave is the one a fresh
// prefill gives.
TEST(Decode, LeavesTheCacheOfAFreshPrefill) {
  const auto model = small();
  const ModelConfig& c = model->config;
  for (const char* drafter : {"layer-skip", "oracle", "uniform"}) {
    const std::vector<Request> one{{1, {5, 6, 7}, 40}};
    const Decoded r = run(*model, one, plan("token", drafter, 3, 4));
    auto tokens = one[0].prompt;
    const std::vector<TokenId>& emitted = r.completions[0].tokens;
    tokens.insert(tokens.end(), emitted.begin(), emitted.end() - 1);  // the newest is not fed
    const auto fresh = make_backend("cpu", *model, testing::backend_options(1, 1));
    fresh->reset(0, 1);
    fresh->forward(testing::rows_of(0, 0, tokens, 0), 0, c.n_layers);
    const auto size = static_cast<std::size_t>(c.n_kv_heads * c.head_dim);
    std::vector<float> key(size), value(size), fresh_key(size), fresh_value(size);
    for (int layer = 0; layer < c.n_layers; ++layer) {
      ASSERT_EQ(r.backend->kv().at(0, layer), static_cast<int>(tokens.size()));
      for (int pos = 0; pos < static_cast<int>(tokens.size()); ++pos) {
        r.backend->read_kv(0, layer, pos, key, value);
        fresh->read_kv(0, layer, pos, fresh_key, fresh_value);
        EXPECT_EQ(key, fresh_key) << drafter << " " << layer << " " << pos;
        EXPECT_EQ(value, fresh_value) << drafter << " " << layer << " " << pos;
      }
    }
  }
}

TEST(Decode, AnnouncesItsPhasesInOrder) {
  const auto model = small();
  const std::vector<Request> one{{1, {5}, 2}};
  using enum Phase;
  EXPECT_EQ(run(*model, one, plan("token", "null", 1, 2)).log.phases,
            (std::vector<Phase>{kPrefill, kDraft, kVerify, kAccept, kTrim}));
  EXPECT_EQ(run(*model, one, plain(plan("token", "", 1, 2))).log.phases,
            (std::vector<Phase>{kPrefill, kVerify, kAccept, kTrim}));
}

}  // namespace
}  // namespace specbench::engine
