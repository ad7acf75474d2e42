// A second opinion on every round: the same laws and the same coins through plain arithmetic of its
// own (one running sum in long double, no chunks, no guard), which shares nothing with the engine
// but the coin generator. A correct engine differs from it only where a coin falls on a rounding
// edge: every mismatch says how far its coin was from the edge.
#pragma once

#include <cstdint>

#include "engine/decode.h"
#include "engine/round.h"
#include "suites/faults.h"
#include "suites/replay_counts.h"

namespace specbench::suites {

/// The first token of a request as a round with no draft, which is what its coins say it is. Valid
/// while the prefill's law is.
engine::Round round_of(const engine::Prefill& prefill);

/// Replays one round of any rule. `seed` is the round's request's and gives, with the round's own
/// key, every coin afresh: what the round says of its coins is not looked at. `fault` makes the
/// replay wrong on purpose.
void replay_round(const engine::Round& round, const engine::Verifier& verifier, std::uint64_t seed,
                  ReplayCounts& counts, OracleFault fault = OracleFault::kNone);

}  // namespace specbench::suites
