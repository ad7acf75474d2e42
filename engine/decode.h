// Decoding: autoregressive and speculative, for a batch of sequences that draft, accept and stop
// each on its own. The output of a request is the same alone and in any batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/accept.h"
#include "engine/backend.h"
#include "engine/drafter.h"
#include "engine/round.h"
#include "engine/sampling.h"
#include "engine/steps.h"
#include "engine/types.h"

namespace specbench::engine {

/// A rule with the drafts it is exact for and the draw that autoregressive decoding makes in its
/// place.
struct Verifier {
  std::string_view name;
  DraftDraw draft_draw;
  AcceptRule accept;
  TokenId (*plain)(const Law&, const RoundCoins&);
};

/// "greedy", "token", "block", "one-hot" or "coupled". At temperature 0 the token and block rules
/// are the greedy rule.
/// Throws InputError on another name, or greedy at a temperature above 0.
const Verifier& find_verifier(std::string_view name, const SamplingParams& sampling);

struct Request {
  std::uint32_t id = 0;  ///< part of every coin's key
  std::vector<TokenId> prompt;
  int max_tokens = 0;                        ///< emitted at most
  std::optional<SamplingParams> sampling{};  ///< its own; else the run's
  std::optional<std::uint64_t> seed{};       ///< its own; else the run's
};

struct DecodeOptions {
  SamplingParams sampling;
  const Verifier* verifier = nullptr;
  int draft_tokens = 0;  ///< g: drafted tokens of a round at most
  std::uint64_t seed = 0;
  bool stop_at_eos = true;  ///< false: a fixed budget, the text goes on as a new document
  std::vector<std::string> stop_texts;   ///< a text ends with the token that completes one
  const Tokenizer* tokenizer = nullptr;  ///< needed where there are stop_texts
  Steps steps;
};

struct Completion {
  std::uint32_t request = 0;
  std::vector<TokenId> tokens;          ///< emitted, EOS included
  StopReason stop = StopReason::kNone;  ///< kNone: cancelled
};

/// One token a step. Completions in the order of the requests. Throws InputError for a request that
/// does not fit the backend, and StateViolation where an invariant of RULES (cache lengths, counts,
/// supports) breaks.
std::vector<Completion> decode_autoregressive(Backend& backend, std::span<const Request> requests,
                                              const DecodeOptions& options, Observer& observer);

/// Rounds of draft, verify, accept, trim. Same law of the output as decode_autoregressive.
std::vector<Completion> decode_speculative(Backend& backend, Drafter& drafter,
                                           std::span<const Request> requests,
                                           const DecodeOptions& options, Observer& observer);

}  // namespace specbench::engine
