// The Kolmogorov-Smirnov test of uniformity: the law of D_n and the tests built on it. Boost 1.74
// has no such law. Must not keep the values of a stream: see pit_accumulator.h.
#pragma once

#include <cstdint>
#include <span>

#include "stats/contract.h"
#include "stats/pit_accumulator.h"

namespace specbench::stats {

// Up to this n the law of D_n is exact.
inline constexpr std::int64_t kExactKolmogorovN = 100;

// Asymptotic P(sqrt(n) D_n >= lambda) and its complement, from whichever theta series converges
// fast, so that both tails keep their relative accuracy. Requires lambda >= 0; throws
// std::invalid_argument if negative or NaN.
double kolmogorov_limit_sf(double lambda);
double kolmogorov_limit_cdf(double lambda);

// P(D_n >= d) and P(D_n < d) for n iid uniforms. Exact for n <= 100: the matrix of Marsaglia, Tsang
// and Wang (2003), and in the upper tail (n d^2 > 4.5) twice the one-sided law of Birnbaum and
// Tingey (1951), off by a relative exp(-6 n d^2). Above: the limit at x + 1/(6 sqrt n) + s/n, x =
// sqrt(n) d, with s = (x - 1)/4 below x = 1 (Vrbik 2018) and s = (x^3 - x)/9 above (the 1/n term of
// the one-sided tail, checked against SciPy's exact law): within 1 % (3 % below n = 200) of the
// exact law down to 1e-8. Stephens' x (1 + .12/sqrt n + .11/n) is up to 5 % too small there at n =
// 1,000. Requires n >= 1 and d not NaN; d <= 0 gives 1, d >= 1 gives 0. Throws
// std::invalid_argument otherwise.
double kolmogorov_sf(double d, std::int64_t n);
double kolmogorov_cdf(double d, std::int64_t n);

// D_n of values in [0, 1] against the uniform law; the values need not be sorted (a copy is).
// Throws std::invalid_argument if empty or if a value is outside [0, 1] or NaN.
double ks_statistic(std::span<const double> pit);

// Tests that the values are iid uniform. Drift: Kolmogorov distance in the tested order; power by
// DKW (power.h). p_lower is filled. Throws like ks_statistic.
TestResult ks_uniform_test(const Contract& contract, std::span<const double> pit);

// The same from a stream. D at the cell edges lies in [D_n - 1/cells, D_n]: p_value uses the lower
// end, p_lower D + 1/cells, and min_detectable is raised by 1/cells, so all three stay valid. Needs
// tau > 1/65536 to pass. Throws std::invalid_argument if the stream is empty.
TestResult ks_uniform_test(const Contract& contract, const PitAccumulator& pit);

}  // namespace specbench::stats
