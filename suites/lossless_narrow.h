// Narrow laws: many draws of small, nasty (target, draft) pairs through the production draws, coins
// and rule, each conditional law its own test. Finds faults of the arithmetic that real text is too
// mild to show.
#pragma once

#include <string>
#include <vector>

#include "engine/decode.h"
#include "stats/contract.h"

namespace specbench::suites {

/// Laws of one round: position i has targets[i] and drafts[i]; targets has one more for the bonus.
struct NarrowCase {
  std::string name;
  std::vector<std::vector<double>> targets;  ///< [g + 1][n_ids], each sums to 1
  std::vector<std::vector<double>> drafts;   ///< [g][n_ids]
};

/// Opposed, mild, tiny-ratio, near-equal, equal, disjoint, one-hot target, one-hot draft, top-k
/// draft and position-distinct pairs over 2, 3, 8, 16 and 64 ids with g = 3, and over 16 ids with g
/// = 1 and 5.
std::vector<NarrowCase> narrow_cases();

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
