#include "stats/effect.h"

#include <algorithm>
#include <cmath>

#include "stats/require.h"

namespace specbench::stats {
namespace {

// E|X - n p| for X ~ Binomial(n, p): 2 (m + 1) C(n, m + 1) p^(m+1) (1 - p)^(n-m), m = floor(n p)
// (De Moivre 1730).
double mean_absolute_deviation(double p, double n) {
  if (p <= 0.0 || p >= 1.0) return 0.0;
  const double m = std::min(std::floor(n * p), n - 1.0);
  const double log_deviation = std::log(2.0 * (m + 1.0)) + std::lgamma(n + 1.0) -
                               std::lgamma(m + 2.0) - std::lgamma(n - m) + (m + 1.0) * std::log(p) +
                               (n - m) * std::log1p(-p);
  return std::exp(log_deviation);
}

}  // namespace

double total_variation(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "total_variation", "the laws must have one support",
          static_cast<double>(b.size()));
  require_law(a, "total_variation");
  require_law(b, "total_variation");
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] - b[i]);
  return std::min(1.0, 0.5 * sum);
}

double expected_plug_in_tv(std::span<const double> probs, std::int64_t n) {
  require_law(probs, "expected_plug_in_tv");
  require(n >= 1, "expected_plug_in_tv", "n must be at least 1", static_cast<double>(n));
  double sum = 0.0;
  for (double p : probs) sum += mean_absolute_deviation(p, static_cast<double>(n));
  return 0.5 * sum / static_cast<double>(n);
}

TotalVariationEffect total_variation_effect(std::span<const std::int64_t> observed,
                                            std::span<const double> probs, double level) {
  require_law(probs, "total_variation_effect");
  require(is_open_unit(level), "total_variation_effect", "the level must lie inside (0, 1)", level);
  const std::int64_t n_draws = require_counts(observed, probs.size(), "total_variation_effect");
  const double n = static_cast<double>(n_draws);
  double sum = 0.0;
  for (std::size_t i = 0; i < probs.size(); ++i) {
    sum += std::fabs(static_cast<double>(observed[i]) / n - probs[i]);
  }
  TotalVariationEffect effect;
  effect.plug_in = std::min(1.0, 0.5 * sum);
  effect.null_mean = expected_plug_in_tv(probs, n_draws);
  const double half_width = std::sqrt(std::log(2.0 / (1.0 - level)) / (2.0 * n));
  effect.null_lower = std::max(0.0, effect.null_mean - half_width);
  effect.null_upper = std::min(1.0, effect.null_mean + half_width);
  effect.level = level;
  return effect;
}

}  // namespace specbench::stats
