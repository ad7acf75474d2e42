// Two-stage confirmation, in place of running again until it is green: a hit of the first stage is
// made again with fresh coins and more data, and fails only if it hits both times. Each stage has
// the level 1e-3 / m, so that m tests raise a false alarm with probability 1e-6 / m at most.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stats/contract.h"

namespace specbench::suites {

/// Makes the tests of a group, the same ones every time: with coins of `seed` and `factor` times
/// the group's usual data.
using TestGroup = std::function<std::vector<stats::TestResult>(std::uint64_t seed, int factor)>;

/// Data of the second stage, as a multiple of the first.
inline constexpr int kConfirmFactor = 8;

/// Seed of a stage (0 or 1) of a group; groups and stages share no coins.
std::uint64_t stage_seed(std::uint64_t seed, std::uint32_t group, int stage);

/// The group's tests after both stages. A hit that fresh coins confirm fails with the numbers of
/// the first stage; one that they do not is judged by the second stage alone. A forbidden outcome
/// (p = 0) needs no confirmation. Where may_confirm(), asked after the first stage, is false, hits
/// stand unconfirmed and say so; for runs whose verdict is known already.
std::vector<stats::TestResult> run_confirmed(const TestGroup& group, std::uint64_t seed,
                                             std::uint32_t n_group, int factor,
                                             const std::function<bool()>& may_confirm);

}  // namespace specbench::suites
