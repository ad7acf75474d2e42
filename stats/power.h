// How many samples a contract needs and what drift a sample can see. Knows no data.
#pragma once

#include <cstdint>

namespace specbench::stats {

// All functions require alpha and beta in (0, 1), tau in (0, 1], df >= 1, n >= 1;
// std::invalid_argument otherwise.

// P(N(0,1) > z), and the z with P(N(0,1) > z) = probability.
double normal_upper_tail(double z);
double normal_upper_quantile(double probability);

// P(chi2_df >= x) and P(chi2_df <= x), x >= 0, each as its own tail.
double chi_squared_sf(double x, double df);
double chi_squared_cdf(double x, double df);

// Non-centrality lambda with P(chi2_df(lambda) >= critical value at alpha) = 1 - beta.
double chi_squared_noncentrality(int df, double alpha, double beta);
// The same for a given critical value >= 0; 0 where the central law reaches it often enough.
double noncentrality_at_critical(int df, double critical, double beta);

// z_{alpha/2} + z_beta: the shift, in standard deviations, that a two-sided normal test catches
// with probability >= 1 - beta.
double normal_detectable_shift(double alpha, double beta);

// ceil(n) as a number of samples, at least 1; kNoSampleSuffices above 9e18. Requires n not NaN.
std::int64_t sample_count(double n);

// n = ceil(lambda / (4 tau^2)), tau a total variation over the pools: lambda = n sum (o - pi)^2 /
// pi >= 4 n TV^2.
std::int64_t pearson_required_n(int df, double alpha, double beta, double tau);
double pearson_min_detectable(int df, double alpha, double beta,
                              std::int64_t n);  // sqrt(lambda / (4 n))

// n = ceil((sqrt(ln(2/alpha)) + sqrt(ln(2/beta)))^2 / (2 d^2)), d a Kolmogorov distance
// (Dvoretzky-Kiefer-Wolfowitz with Massart's constant, used for the critical value and for the
// miss), and its inverse in n (capped at 1).
std::int64_t dkw_required_n(double alpha, double beta, double distance);
double dkw_min_detectable(double alpha, double beta, std::int64_t n);

// n for z_test: (z_{alpha/2} + z_beta)^2 v / tau^2, v the mean of a (1 - a).
std::int64_t z_required_n(double alpha, double beta, double mean_variance, double tau);

}  // namespace specbench::stats
