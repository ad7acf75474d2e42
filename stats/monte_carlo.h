// p-values of statistics whose law is known only by simulating it. Exactly valid for every number
// of simulations, never 0. Must not own a source of randomness.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stats/contract.h"

namespace specbench::stats {

// (1 + #{T_b >= T}) / (1 + B), B = simulated.size(): P(p <= x) <= x if the T_b and T are
// exchangeable under the null (Barnard 1963; Phipson and Smyth 2010). B = 0 gives 1. Throws
// std::invalid_argument if a value is NaN.
double monte_carlo_p(double observed, std::span<const double> simulated);

// Tests that `observed` is drawn like the null statistics; large values speak against it. Power is
// measured, not computed: `drifted` are simulated statistics at a drift of tau, and min_detectable
// is tau where the lower Clopper-Pearson bound (at confidence 1 - alpha) on their share with p <
// alpha is at least 1 - beta, else 1. drift_kind says what tau measures. n is the number of
// observations behind `observed`, required_n is n where the power was shown and
// kNoSampleSuffices (unknown) where not. B too small to reach alpha is INCONCLUSIVE; about 10 /
// alpha null statistics lose little power. Throws std::invalid_argument for NaN, n < 0 or an empty
// drift_kind.
TestResult monte_carlo_test(const Contract& contract, double observed,
                            std::span<const double> null_statistics,
                            std::span<const double> drifted_statistics, std::int64_t n,
                            const std::string& drift_kind);

// Uniform in [0, 1), a fresh value each call; the caller's, so that a run can be replayed.
using UniformSource = std::function<double()>;

inline constexpr const char* kDriftStandardMean = "difference of means in standard deviations";

// Permutation test that two samples have one law, by |mean a - mean b| over n_permutations random
// relabelings. Ties within 1e-12 of the spread count as larger. Drift: difference of means over the
// standard deviation of the pooled values; power by the normal law, (z_{alpha/2} + z_beta)
// sqrt(1/n_a + 1/n_b). n counts both samples; required_n keeps their shares. INCONCLUSIVE if
// 1 / (1 + n_permutations) >= alpha or all values are the same. Throws std::invalid_argument for an
// empty sample, values that are not finite, n_permutations < 1, or a source outside [0, 1).
TestResult permutation_test(const Contract& contract, std::span<const double> a,
                            std::span<const double> b, std::int64_t n_permutations,
                            const UniformSource& uniform);

}  // namespace specbench::stats
