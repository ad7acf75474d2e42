#include "stats/power.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "stats/contract.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

using boost::math::complement;

void require_levels(double alpha, double beta, const char* where) {
  require(is_open_unit(alpha), where, "alpha must lie inside (0, 1)", alpha);
  require(is_open_unit(beta), where, "beta must lie inside (0, 1)", beta);
}

void require_drift(double tau, const char* where) {
  require(tau > 0.0 && tau <= 1.0, where, "the drift must lie in (0, 1]", tau);
}

double dkw_root_sum(double alpha, double beta) {
  return std::sqrt(std::log(2.0 / alpha)) + std::sqrt(std::log(2.0 / beta));
}

}  // namespace

double normal_upper_tail(double z) {
  require(!std::isnan(z), "normal_upper_tail", "z is not a number");
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

double normal_upper_quantile(double probability) {
  require(is_open_unit(probability), "normal_upper_quantile",
          "the probability must lie inside (0, 1)", probability);
  return boost::math::quantile(complement(boost::math::normal(), probability));
}

double chi_squared_sf(double x, double df) {
  require(df > 0.0 && std::isfinite(df), "chi_squared_sf", "df must be positive", df);
  require(x >= 0.0, "chi_squared_sf", "x must not be negative or NaN", x);
  if (std::isinf(x)) return 0.0;
  return boost::math::cdf(complement(boost::math::chi_squared(df), x));
}

double chi_squared_cdf(double x, double df) {
  require(df > 0.0 && std::isfinite(df), "chi_squared_cdf", "df must be positive", df);
  require(x >= 0.0, "chi_squared_cdf", "x must not be negative or NaN", x);
  if (std::isinf(x)) return 1.0;
  return boost::math::cdf(boost::math::chi_squared(df), x);
}

double chi_squared_noncentrality(int df, double alpha, double beta) {
  require(df >= 1, "chi_squared_noncentrality", "df must be at least 1", df);
  require_levels(alpha, beta, "chi_squared_noncentrality");
  require(alpha + beta < 1.0, "chi_squared_noncentrality",
          "alpha + beta must be below 1 (no drift needed)", alpha + beta);
  const double critical = boost::math::quantile(complement(boost::math::chi_squared(df), alpha));
  return boost::math::non_central_chi_squared::find_non_centrality(df, critical, beta);
}

double noncentrality_at_critical(int df, double critical, double beta) {
  require(df >= 1, "noncentrality_at_critical", "df must be at least 1", df);
  require(critical >= 0.0 && std::isfinite(critical), "noncentrality_at_critical",
          "the critical value must be finite and not negative", critical);
  require(is_open_unit(beta), "noncentrality_at_critical", "beta must lie inside (0, 1)", beta);
  if (chi_squared_cdf(critical, df) <= beta) return 0.0;
  return boost::math::non_central_chi_squared::find_non_centrality(df, critical, beta);
}

double normal_detectable_shift(double alpha, double beta) {
  require_levels(alpha, beta, "normal_detectable_shift");
  return normal_upper_quantile(alpha / 2.0) + normal_upper_quantile(beta);
}

std::int64_t sample_count(double n) {
  require(!std::isnan(n), "sample_count", "the number of samples is not a number");
  if (n >= 9e18) return kNoSampleSuffices;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(n)));
}

std::int64_t pearson_required_n(int df, double alpha, double beta, double tau) {
  require_drift(tau, "pearson_required_n");
  return sample_count(chi_squared_noncentrality(df, alpha, beta) / (4.0 * tau * tau));
}

double pearson_min_detectable(int df, double alpha, double beta, std::int64_t n) {
  require(n >= 1, "pearson_min_detectable", "n must be at least 1", static_cast<double>(n));
  const double drift =
      std::sqrt(chi_squared_noncentrality(df, alpha, beta) / (4.0 * static_cast<double>(n)));
  return std::min(drift, 1.0);
}

std::int64_t dkw_required_n(double alpha, double beta, double distance) {
  require_levels(alpha, beta, "dkw_required_n");
  require_drift(distance, "dkw_required_n");
  const double roots = dkw_root_sum(alpha, beta);
  return sample_count(roots * roots / (2.0 * distance * distance));
}

double dkw_min_detectable(double alpha, double beta, std::int64_t n) {
  require_levels(alpha, beta, "dkw_min_detectable");
  require(n >= 1, "dkw_min_detectable", "n must be at least 1", static_cast<double>(n));
  return std::min(dkw_root_sum(alpha, beta) / std::sqrt(2.0 * static_cast<double>(n)), 1.0);
}

std::int64_t z_required_n(double alpha, double beta, double mean_variance, double tau) {
  require_levels(alpha, beta, "z_required_n");
  require_drift(tau, "z_required_n");
  require(mean_variance >= 0.0 && mean_variance <= 0.25, "z_required_n",
          "the mean of a (1 - a) must lie in [0, 1/4]", mean_variance);
  const double quantiles = normal_upper_quantile(alpha / 2.0) + normal_upper_quantile(beta);
  return sample_count(quantiles * quantiles * mean_variance / (tau * tau));
}

}  // namespace specbench::stats
