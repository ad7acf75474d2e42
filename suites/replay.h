// A second opinion on every round: the same laws and the same coins through plain arithmetic of its
// own (one running sum in long double, no chunks, no guard), which shares nothing with the engine
// but the coin generator. A correct engine differs from it only where a coin falls on a rounding
// edge.
#pragma once

#include <cstdint>
#include <string>

#include "engine/decode.h"
#include "engine/round.h"

namespace specbench::suites {

/// Tokens replayed and mismatches found, by kind.
struct ReplayCounts {
  std::int64_t n_drafted = 0;  ///< drafted ids redrawn from the law they are said to come from
  std::int64_t n_draft_mismatches = 0;
  std::int64_t n_rounds = 0;  ///< decisions and final tokens recomputed
  std::int64_t n_tokens = 0;  ///< tokens those rounds emitted
  std::int64_t n_round_mismatches = 0;
  std::string first_mismatch;  ///< sentence that names request, round, position and both ids
};

/// The first token of a request as a round with no draft, which is what its coins say it is. Valid
/// while the prefill's law is.
engine::Round round_of(const engine::Prefill& prefill);

/// Replays one round of the token, greedy, one-hot or coupled rule. `seed` and the round's own key
/// give every coin afresh.
void replay_round(const engine::Round& round, const engine::Verifier& verifier, std::uint64_t seed,
                  ReplayCounts& counts);

}  // namespace specbench::suites
