// Exact statements about a rate from k events in n trials: bounds, p-values, tests. No normal
// approximation.
#pragma once

#include <cstdint>

#include "stats/contract.h"

namespace specbench::stats {

// All functions here require 0 <= k <= n, n >= 1 and alpha in (0, 1); they throw
// std::invalid_argument otherwise.

// One-sided Clopper-Pearson bounds at confidence 1 - alpha: quantiles of the beta law (0 at k = 0,
// 1 at k = n). For a two-sided interval give alpha / 2 to each. 0 of 1e6 at alpha = 1e-6 is
// below 1.38155e-5.
double clopper_pearson_lower(std::int64_t k, std::int64_t n, double alpha);
double clopper_pearson_upper(std::int64_t k, std::int64_t n, double alpha);

// P(X <= k) and P(X >= k) for X ~ Binomial(n, p), p in [0, 1]; each computed as its own tail.
double binomial_lower_tail(std::int64_t k, std::int64_t n, double p);
double binomial_upper_tail(std::int64_t k, std::int64_t n, double p);

// min(1, 2 min(lower tail, upper tail)): valid for every n and p, never smaller than its level.
double binomial_two_sided_p(std::int64_t k, std::int64_t n, double p);

// Smallest drift d such that a rate p + d and a rate p - d are each rejected at two-sided alpha
// with probability
// >= 1 - beta; a side on which no such rate exists counts its whole room (p or 1 - p). Exact.
double binomial_min_detectable(std::int64_t n, double p, double alpha, double beta);

// An n whose min_detectable is at most tau; just below it the need is a saw-tooth, so a few smaller
// n may do too. kNoSampleSuffices beyond 2^50. tau in (0, 1].
std::int64_t binomial_required_n(double p, double alpha, double beta, double tau);

// Tests rate = p, two-sided. Drift: absolute difference of rates, which is total variation for a
// bit. p = 0 is the test of a forbidden outcome: one event fails it, and it passes once n shows a
// rate of tau.
TestResult binomial_test(const Contract& contract, std::int64_t k, std::int64_t n, double p);

// Tests rate <= tau, and certifies it: FAIL if the lower bound at 1 - alpha exceeds tau, PASS if
// the upper bound at 1 - alpha is at most tau (min_detectable holds that bound), else INCONCLUSIVE.
// For mismatches of a coupled replay the upper bound is the certified total variation. required_n
// assumes the observed rate goes on. beta is not used.
TestResult rate_bound_test(const Contract& contract, std::int64_t k, std::int64_t n);

}  // namespace specbench::stats
