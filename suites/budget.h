// The error budget of a lossless verdict: every stochastic test of a run shares one false-alarm
// probability.
#pragma once

#include <cstdint>
#include <string>

#include "stats/contract.h"

namespace specbench::suites {

inline constexpr double kFamilyAlpha = 1e-6;  ///< false alarm of a whole run, at most
/// Ways to fail of a run at most, fixed before any data are seen. A test has two: a statistic too
/// large, and one too small to be true.
inline constexpr int kMaxTests = 4000;
/// Level of each of the two stages a failure needs (confirm.h): together 1e-6 / kMaxTests^2 a side,
/// far inside the family's budget.
inline constexpr double kTestAlpha = 1e-3 / kMaxTests;
/// A drift of tau is missed with this probability at most, by each of the two stages.
inline constexpr double kBeta = 0.005;
inline constexpr double kPower = 1.0 - 2.0 * kBeta;  ///< of both together

inline constexpr double kNarrowTau =
    0.01;  ///< narrow laws: drift of the emitted law, total variation
inline constexpr double kDistanceTau =
    0.02;  ///< end to end: Kolmogorov distance in the tested order
inline constexpr double kBinsTau =
    0.03;  ///< end to end: total variation over 64 bins of the transform
inline constexpr double kRateTau = 0.01;       ///< acceptance: mean of the accept bits
inline constexpr double kCertifiedTau = 5e-3;  ///< replay: certified drift of one token

/// A contract at the level of one stage. `share` is the share of emitted tokens the tested class
/// makes up: a drift d of the class moves the emitted law by share x d, so the class needs to be
/// known to tau / share only (at most .999).
inline stats::Contract contract(std::string id, std::string hypothesis, double tau,
                                double share = 1.0) {
  const double scaled = share > 0.0 && tau / share < 0.999 ? tau / share : 0.999;
  return {std::move(id), std::move(hypothesis), kTestAlpha, scaled, kBeta, kTestAlpha};
}

/// Evidence that is a mere count: for outcomes that need no statistics.
inline stats::Evidence count_of(std::int64_t n) {
  stats::Evidence evidence;
  evidence.statistic_name = "count";
  evidence.n = n;
  return evidence;
}

}  // namespace specbench::suites
