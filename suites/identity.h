// T0 identity on rows as they come from a model: does a rule, given these two laws, emit the
// target's? Cheap enough for every row of a run.
#pragma once

#include <string_view>

#include "engine/accept.h"

namespace specbench::suites {

inline constexpr double kMaxIdentityError = 2e-6;

/// Sum over x of |q(x) a(x) + (1 - A) r(x) - p(x)|: q the draft's law, p the target's, a(x) the
/// measure of the accept coins for which the rule lets x stand, A its mean, r the residual law. The
/// rule confirms a(x) on both sides of p(x)/q(x) (where it makes its residual anew at every call,
/// the upper side for 128 ids only; of ids where it differs 64 are measured), and r and p by its
/// draws at eight coins each: at least 1 where these differ. Rules that name the target's own token
/// (one-hot, coupled, greedy): 0 where they name it at eight coins, else 1. `room` is overwritten.
/// Requires laws over the same ids.
double identity_error(std::string_view verifier, engine::AcceptRule rule, const engine::Law& target,
                      const engine::Law& draft, const engine::LawRoom& room);

}  // namespace specbench::suites
