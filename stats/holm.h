// Holm's step-down correction: many tests, one error budget. Must not be used to search for a nice
// p-value.
#pragma once

#include <span>
#include <vector>

namespace specbench::stats {

// Adjusted p-values in the order given: max over smaller p of (m - rank) p, capped at 1 (Holm
// 1979). Throws std::invalid_argument if a p-value is outside [0, 1] or NaN.
std::vector<double> holm_adjust(std::span<const double> p_values);

// true where the hypothesis is rejected with family-wise error <= alpha: adjusted p < alpha.
// Throws like holm_adjust, and unless alpha is in (0, 1).
std::vector<bool> holm_reject(std::span<const double> p_values, double alpha);

}  // namespace specbench::stats
