// Narrow laws: many rounds of small, nasty (target, draft) pairs through the production draws,
// coins and rule, each conditional law its own test. Finds faults of the arithmetic that real text
// is too mild to show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/steps.h"
#include "stats/contract.h"
#include "suites/narrow_cases.h"

namespace specbench::suites {

/// Tests of all narrow cases under one verifier, at most.
inline constexpr int kMaxNarrowTests = 900;

/// Rounds a case needs for its contracts.
std::int64_t narrow_rounds();

/// Plays n_rounds rounds of the case (a few more, so that all rows have equally many) under
/// "token", "block", "one-hot" or "coupled" and tests, with ids "narrow.<case>.<what>":
/// - token: the token at each position that was reached against p, accepted ones against
///   min(p, q)/A, the one at a rejection against the residual, the bonus, the number accepted,
///   tokens 0 and 1 of a round. With laws that differ by row: by row instead of by position.
/// - the others: all emitted tokens against p; block also its bonus.
/// - all: accept bits against the rule's own probabilities, their correlation between rows; with
///   one law for all and up to 8 ids: pairs of emitted tokens, and last token of a round with the
///   first of the next.
/// Same seed, same result, whatever the number of threads. Throws InputError for another verifier.
std::vector<stats::TestResult> test_narrow_case(const NarrowCase& narrow, std::string_view verifier,
                                                std::int64_t n_rounds, std::uint64_t seed,
                                                const engine::Steps& steps, int n_threads);

/// How clearly one test shows a planted fault. By the chi-squared law: a test that has to pool, of
/// a rare class or a rare bit, takes a few times more.
struct NarrowEffect {
  std::string test_id;
  /// (statistic - df) / rounds of a chi-squared or squared z; for an outcome that must not happen
  /// how often it does.
  double effect_per_round = 0.0;
  /// For 99 % power at 1e-6 (an impossible outcome: to see it at all); stats::kNoSampleSuffices
  /// where no effect shows above the noise.
  std::int64_t required_rounds = 0;
};

/// The effect of the faults in `steps` on each test, from n_rounds rounds. The tests' ids are those
/// of test_narrow_case.
std::vector<NarrowEffect> narrow_effects(const NarrowCase& narrow, std::string_view verifier,
                                         std::int64_t n_rounds, std::uint64_t seed,
                                         const engine::Steps& steps, int n_threads);

}  // namespace specbench::suites
