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

/// What may become of a hit of the first stage.
enum class Second {
  kMake,        ///< it is made again
  kNotNeeded,   ///< the verdict is known already: it stands unconfirmed, and says so
  kImpossible,  ///< the run was interrupted: it is no verdict
};

/// The group's tests after both stages. A hit that fresh coins confirm fails with the numbers of
/// the first stage; one that they do not is judged by the second stage alone. A forbidden outcome
/// (p = 0) needs no confirmation. second() is asked after the first stage, if that hit at all. A
/// hit that no second stage could judge fails at the level of both together only, else it is
/// INCONCLUSIVE.
std::vector<stats::TestResult> run_confirmed(const TestGroup& group, std::uint64_t seed,
                                             std::uint32_t n_group, int factor,
                                             const std::function<Second()>& second);

}  // namespace specbench::suites
