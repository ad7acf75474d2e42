// Describes a sample: order statistics, moments, and intervals that assume nothing about its shape.
// Must not average away tails, and must not use one-pass variance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/interval.h"

namespace specbench::stats {

// Functions taking values throw std::invalid_argument if they are empty or not finite. Copies are
// sorted, not inputs.

// Middle value; the mean of the two middle ones for an even count.
double median(std::span<const double> values);
// The order statistic of rank ceil(q n), no interpolation, q in (0, 1]; a relative 1e-12 absorbs
// rounding of q n.
double quantile(std::span<const double> values, double q);

// Mean and unbiased variance by Welford's recurrence; merge by Chan et al. (1979).
class RunningMoments {
 public:
  void add(double x);  // throws std::invalid_argument if x is not finite
  void merge(const RunningMoments& other);
  std::int64_t n() const { return n_; }
  double mean() const;      // throws std::invalid_argument if n = 0
  double variance() const;  // throws std::invalid_argument if n < 2

 private:
  std::int64_t n_ = 0;
  double mean_ = 0.0;
  double sum_of_squares_ = 0.0;  // about the mean
};

double mean(std::span<const double> values);
double variance(std::span<const double> values);  // unbiased; needs two values

// [x_(r), x_(n+1-r)] with the largest r whose exact coverage 1 - 2 P(Bin(n, 1/2) < r) is at least
// level; each end misses with at most (1 - level) / 2, so an end alone is a one-sided bound at that
// level. Interval::level is the exact coverage. Empty if n is too small (the extremes cover only 1
// - 2^(1-n)). level in (0, 1).
std::optional<Interval> median_interval(std::span<const double> values, double level);

// Interval for the q-quantile from two order statistics, each end missing with at most (1 - level)
// / 2; exact coverage in Interval::level. Empty if n is too small for either end.
std::optional<Interval> quantile_interval(std::span<const double> values, double q, double level);

// One-sided: the smallest order statistic that is >= the q-quantile with probability at least
// level.
std::optional<double> quantile_upper_bound(std::span<const double> values, double q, double level);

// Smallest n for which quantile_upper_bound exists: q^n <= 1 - level (459 for q = .99 at .99).
std::int64_t quantile_required_n(double q, double level);

}  // namespace specbench::stats
