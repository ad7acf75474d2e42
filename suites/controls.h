// Controls: rules that are lossless though they look odd. The battery must let each live over many
// seeds, and each must accept at its own rule's rate.
#pragma once

#include <vector>

#include "engine/accept.h"
#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

inline constexpr int kControlSeeds = 200;

/// One seed of all may hit by chance; two may not.
///
/// Sampler-match (accept iff the target's own draw equals a draft drawn from its law), one-hot with
/// any draft, never accept, siblings without replacement (two candidates a node, recursive
/// rejection), and laws with true ties at every edge: kControlSeeds seeds each, one check each,
/// which names the rate it accepted at and the rate its rule has.
///
/// `instead`, if any, is a rule played in place of each control's own: for the test that sees them
/// die.
std::vector<results::Check> check_controls(const Context& context,
                                           engine::AcceptRule instead = nullptr);

}  // namespace specbench::suites
