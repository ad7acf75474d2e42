#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/binomial.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

std::vector<double> sorted_copy(std::span<const double> values, const char* where) {
  require_finite_values(values, where);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double middle_of(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] + 0.5 * (sorted[half] - sorted[half - 1]);
}

double order_statistic(const std::vector<double>& sorted, double q) {
  const double n = static_cast<double>(sorted.size());
  const double rank = std::ceil(q * n * (1.0 - 1e-12));
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, n)) - 1];
}

// x_(r) lies above the q-quantile with probability P(Bin(n, q) < r): the largest r where that is <=
// miss, 0 if none.
std::int64_t lower_rank(std::int64_t n, double q, double miss) {
  std::int64_t rank = 0;
  std::int64_t too_high = n + 1;
  while (too_high - rank > 1) {
    const std::int64_t middle = rank + (too_high - rank) / 2;
    (binomial_lower_tail(middle - 1, n, q) <= miss ? rank : too_high) = middle;
  }
  return rank;
}

// x_(s) lies below the q-quantile with probability P(Bin(n, q) >= s): the smallest s where that is
// <= miss, n + 1 if none.
std::int64_t upper_rank(std::int64_t n, double q, double miss) {
  std::int64_t too_low = 0;
  std::int64_t rank = n + 1;
  while (rank - too_low > 1) {
    const std::int64_t middle = too_low + (rank - too_low) / 2;
    (binomial_upper_tail(middle, n, q) <= miss ? rank : too_low) = middle;
  }
  return rank;
}

void require_level(double level, const char* where) {
  require(is_open_unit(level), where, "the level must lie inside (0, 1)", level);
}

std::optional<Interval> rank_interval(const std::vector<double>& sorted, double q, double level,
                                      double estimate) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  // The tolerance absorbs the rounding of 1 - level where a coverage meets it exactly.
  const double miss = 0.5 * (1.0 - level) * (1.0 + 1e-9);
  const std::int64_t lower = lower_rank(n, q, miss);
  const std::int64_t upper = upper_rank(n, q, miss);
  if (lower < 1 || upper > n) return std::nullopt;
  const double coverage =
      1.0 - binomial_lower_tail(lower - 1, n, q) - binomial_upper_tail(upper, n, q);
  return Interval{estimate, sorted[static_cast<std::size_t>(lower) - 1],
                  sorted[static_cast<std::size_t>(upper) - 1], coverage};
}

}  // namespace

double median(std::span<const double> values) { return middle_of(sorted_copy(values, "median")); }

double quantile(std::span<const double> values, double q) {
  require(q > 0.0 && q <= 1.0, "quantile", "q must lie in (0, 1]", q);
  return order_statistic(sorted_copy(values, "quantile"), q);
}

void RunningMoments::add(double x) {
  require(std::isfinite(x), "RunningMoments", "a value is not finite", x);
  ++n_;
  const double delta = x - mean_;
  mean_ += delta / static_cast<double>(n_);
  sum_of_squares_ += delta * (x - mean_);
}

void RunningMoments::merge(const RunningMoments& other) {
  if (other.n_ == 0) return;
  const double n_this = static_cast<double>(n_);
  const double n_other = static_cast<double>(other.n_);
  const double delta = other.mean_ - mean_;
  sum_of_squares_ += other.sum_of_squares_ + delta * delta * n_this * n_other / (n_this + n_other);
  mean_ += delta * n_other / (n_this + n_other);
  n_ += other.n_;
}

double RunningMoments::mean() const {
  require(n_ >= 1, "RunningMoments", "the mean needs a value");
  return mean_;
}

double RunningMoments::variance() const {
  require(n_ >= 2, "RunningMoments", "the variance needs two values");
  return sum_of_squares_ / static_cast<double>(n_ - 1);
}

double mean(std::span<const double> values) {
  RunningMoments moments;
  for (double x : values) moments.add(x);
  return moments.mean();
}

double variance(std::span<const double> values) {
  RunningMoments moments;
  for (double x : values) moments.add(x);
  return moments.variance();
}

std::optional<Interval> median_interval(std::span<const double> values, double level) {
  require_level(level, "median_interval");
  const std::vector<double> sorted = sorted_copy(values, "median_interval");
  return rank_interval(sorted, 0.5, level, middle_of(sorted));
}

std::optional<Interval> quantile_interval(std::span<const double> values, double q, double level) {
  require(is_open_unit(q), "quantile_interval", "q must lie inside (0, 1)", q);
  require_level(level, "quantile_interval");
  const std::vector<double> sorted = sorted_copy(values, "quantile_interval");
  return rank_interval(sorted, q, level, order_statistic(sorted, q));
}

std::optional<double> quantile_upper_bound(std::span<const double> values, double q, double level) {
  require(is_open_unit(q), "quantile_upper_bound", "q must lie inside (0, 1)", q);
  require_level(level, "quantile_upper_bound");
  const std::vector<double> sorted = sorted_copy(values, "quantile_upper_bound");
  const auto n = static_cast<std::int64_t>(sorted.size());
  const std::int64_t rank = upper_rank(n, q, (1.0 - level) * (1.0 + 1e-9));
  if (rank > n) return std::nullopt;
  return sorted[static_cast<std::size_t>(rank) - 1];
}

std::int64_t quantile_required_n(double q, double level) {
  require(is_open_unit(q), "quantile_required_n", "q must lie inside (0, 1)", q);
  require_level(level, "quantile_required_n");
  const double n = std::log1p(-level) / std::log(q);
  require(n < 9e18, "quantile_required_n", "q is too close to 1", q);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(n * (1.0 - 1e-12))));
}

}  // namespace specbench::stats
