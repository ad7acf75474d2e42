#include "engine/decode.h"

#include <string>

#include "engine/batch.h"
#include "engine/error.h"

namespace specbench::engine {

namespace {

TokenId plain_argmax(const Law& law, const RoundCoins&) { return law.point; }
TokenId plain_bonus(const Law& law, const RoundCoins& coins) { return draw(law, coins.bonus); }
TokenId plain_target(const Law& law, const RoundCoins& coins) { return draw(law, coins.target[0]); }
TokenId plain_coupled(const Law& law, const RoundCoins& coins) {
  return coupled_draw(law, coins.seed, coins.request, coins.first_pos);
}

constexpr Verifier kVerifiers[] = {
    {"greedy", DraftDraw::kArgmax, accept_greedy, plain_argmax},
    {"token", DraftDraw::kCoin, accept_token, plain_bonus},
    {"block", DraftDraw::kCoin, accept_block, plain_bonus},
    {"one-hot", DraftDraw::kArgmax, accept_one_hot, plain_target},
    {"coupled", DraftDraw::kCoupled, accept_coupled, plain_coupled},
};

}  // namespace

const Verifier& find_verifier(std::string_view name, const SamplingParams& sampling) {
  if ((name == "token" || name == "block") && sampling.is_greedy()) name = "greedy";
  if (name == "greedy" && !sampling.is_greedy())
    throw InputError("--verifier greedy needs --temperature 0, not " +
                     std::to_string(sampling.temperature) +
                     "; for sampled output use --verifier token.");
  for (const Verifier& verifier : kVerifiers)
    if (verifier.name == name) return verifier;
  throw InputError("--verifier is '" + std::string(name) +
                   "'; this build has greedy, token, block, one-hot and coupled.");
}

std::vector<Completion> decode_autoregressive(Backend& backend, std::span<const Request> requests,
                                              const DecodeOptions& options, Observer& observer) {
  Batch batch(backend, requests, options, observer);
  while (batch.admit()) {
    batch.begin_round(0);
    observer.phase(Phase::kVerify);
    batch.verify(0);
    observer.phase(Phase::kAccept);
    batch.sample();
    observer.phase(Phase::kTrim);
    batch.commit();
  }
  return batch.take_completions();
}

std::vector<Completion> decode_speculative(Backend& backend, Drafter& drafter,
                                           std::span<const Request> requests,
                                           const DecodeOptions& options, Observer& observer) {
  Batch batch(backend, requests, options, observer);
  while (batch.admit()) {
    observer.phase(Phase::kDraft);
    drafter.propose(backend, batch.sampler(), batch.begin_round(options.draft_tokens));
    observer.phase(Phase::kVerify);
    batch.verify(drafter.reused_layers());
    observer.phase(Phase::kAccept);
    batch.accept();
    observer.phase(Phase::kTrim);
    batch.commit();
  }
  return batch.take_completions();
}

}  // namespace specbench::engine
