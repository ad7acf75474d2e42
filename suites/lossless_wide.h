// Large vocabularies: rounds on synthetic laws through the production draws, coins and rule. Every
// token becomes a probability integral transform under each law it must have, in three orders: a
// chi-squared over single ids is blind here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/steps.h"
#include "stats/contract.h"

namespace specbench::suites {

/// Plays rounds (g = 3) of one fixed pair of laws until n_tokens are emitted (a few more) under
/// "token", "block", "one-hot" or "coupled", and tests with ids "wide.V<n_ids>.<class>.<what>":
/// class all, and for the token rule accepted, rejected and bonus, each against its own law;
/// <order>.ks for each order (pit.h), p.bins and p/q.bins (16 equal bins), all.tail (how often the
/// rarest ids come), all.collisions (how often they coincide);
/// <class>.support only where an impossible id came; accept-bit for the token rule. Same seed, same
/// result, whatever the number of threads. Throws InputError for another verifier.
std::vector<stats::TestResult> test_wide_case(int n_ids, std::string_view verifier,
                                              std::int64_t n_tokens, std::uint64_t seed,
                                              const engine::Steps& steps, int n_threads);

/// The same by the token rule with new laws at every position (g = 1), made from logits: what real
/// text costs. Ids "wide.V<n_ids>.varying.<class>.<what>"; no tail, no collisions.
std::vector<stats::TestResult> test_varying_laws(int n_ids, std::int64_t n_tokens,
                                                 std::uint64_t seed, const engine::Steps& steps,
                                                 int n_threads);

}  // namespace specbench::suites
