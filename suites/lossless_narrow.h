// Narrow laws: many draws of small, nasty (target, draft) pairs through the production draws, coins
// and rule, each conditional law its own test. Finds faults of the arithmetic that real text is too
// mild to show.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/decode.h"
#include "stats/contract.h"
#include "suites/narrow_cases.h"

namespace specbench::suites {

/// Rounds a case needs for its contracts.
std::int64_t narrow_rounds();

/// Plays n_rounds rounds of the case by the token rule (or steps.accept) and tests: the token at
/// each position that was reached against p; accepted ones against min(p, q)/A; the one at a
/// rejection against the residual; the bonus; accept bits; the number accepted; token pairs. Same
/// seed, same result, whatever the number of threads.
std::vector<stats::TestResult> test_narrow_case(const NarrowCase& narrow, std::int64_t n_rounds,
                                                std::uint64_t seed, const engine::Steps& steps,
                                                int n_threads);

}  // namespace specbench::suites
