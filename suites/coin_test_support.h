// Faults of the coins, and real decoding of a small random model to plant them in. Never part of
// the product.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "engine/engine_test_support.h"

namespace specbench::suites::testing {

using engine::RoundCoins;
using engine::RoundKey;

// N1: the coin that refused a token draws its replacement too.
inline RoundCoins coins_n1(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  coins.residual = coins.accept;
  return coins;
}

// N2: the draft's coin draws the replacement too.
inline RoundCoins coins_n2(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  const auto first = static_cast<std::uint32_t>(key.first_pos);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(key.n_drafted); ++i)
    coins.residual[i] =
        engine::uniform({key.seed, key.request, first, first + i, engine::Purpose::kDraft, 0});
  return coins;
}

// N3: one coin for all positions of a round.
inline RoundCoins coins_n3(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  coins.accept.fill(coins.accept[0]);
  return coins;
}

// N4: one stream for all rows: the request is not in the key.
inline RoundCoins coins_n4(const RoundKey& key) {
  return engine::round_coins(key.seed, 0, key.first_pos, key.n_drafted);
}

// N4 as a stream of the step: every row takes the same next numbers. The step is counted by Feed.
inline std::uint32_t step_counter = 0;
inline RoundCoins coins_of_step(const RoundKey& key) {
  return engine::round_coins(key.seed, 0, static_cast<int>(step_counter * 64), key.n_drafted);
}

// N5: the seed of the request is not in the key.
inline RoundCoins coins_n5(const RoundKey& key) {
  return engine::round_coins(77, key.request, key.first_pos, key.n_drafted);
}

// N6: the round is not in the key.
inline RoundCoins coins_n6(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(key.n_drafted); ++i)
    coins.accept[i] =
        engine::uniform({key.seed, key.request, 0, static_cast<std::uint32_t>(key.first_pos) + i,
                         engine::Purpose::kAccept, 0});
  return coins;
}

// The residual's coin is made from the accept coin.
inline RoundCoins coins_complement(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (std::size_t i = 0; i < coins.residual.size(); ++i) coins.residual[i] = 1.0 - coins.accept[i];
  return coins;
}

// A stream of each lane that starts anew in every round.
inline RoundCoins coins_restarted(const RoundKey& key) {
  return engine::round_coins(key.seed, static_cast<std::uint32_t>(key.lane), 0, key.n_drafted);
}

// A5: accept coins of 256 levels. A7: a coin may be exactly 1.
inline RoundCoins coins_a5(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (double& u : coins.accept) u = std::floor(u * 256.0) / 256.0;
  return coins;
}
inline RoundCoins coins_a7(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (double& u : coins.accept) u = u > 0.99 ? 1.0 : u;
  return coins;
}

inline engine::Steps steps_of_coins(RoundCoins (*coins)(const RoundKey&)) {
  engine::Steps steps;
  steps.coins = coins;
  return steps;
}

inline constexpr int kSmallVocabulary = 96;
inline constexpr int kSmallTokens = 48;  ///< a request emits

/// Hands rounds on to whatever has note().
template <typename Sink>
class Feed final : public engine::Observer {
 public:
  explicit Feed(Sink& sink) : sink_(sink) {}
  void phase(engine::Phase phase) override {
    if (phase == engine::Phase::kAccept) ++step_counter;
  }
  void prefill(const engine::Prefill& prefill) override { sink_.note(prefill); }
  void round(const engine::Round& round) override { sink_.note(round); }

 private:
  Sink& sink_;
};

struct SmallRun {
  std::string verifier = "token";
  engine::Steps steps{};
  int n_requests = 600;
  std::uint64_t seed = 1;
  int n_lanes = 32;
  int draft_tokens = 3;
};

/// Speculative decoding of random prompts of 2 to 9 tokens on a random model of two layers.
template <typename Sink>
void decode_small(const SmallRun& run, Sink& sink) {
  const auto model = engine::testing::random_model(
      engine::testing::make_shape(kSmallVocabulary, 16, 2, 2, 1, 8, 24), 5);
  engine::BackendOptions backend_options = engine::testing::backend_options(run.n_lanes, 1);
  backend_options.max_length = 10 + kSmallTokens;
  const auto backend = engine::make_backend("cpu", *model, backend_options);
  const auto drafter = engine::make_drafter("layer-skip", 1, model->config);
  std::vector<engine::Request> requests;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(run.n_requests); ++i)
    requests.push_back(
        {i, engine::testing::random_tokens(2 + static_cast<int>(i * 5 % 8), model->config, 100 + i),
         kSmallTokens});
  engine::DecodeOptions options;
  options.verifier = &engine::find_verifier(run.verifier, options.sampling);
  options.draft_tokens = run.draft_tokens;
  options.seed = run.seed;
  options.steps = run.steps;
  Feed<Sink> feed(sink);
  engine::decode_speculative(*backend, *drafter, requests, options, feed);
}

}  // namespace specbench::suites::testing
