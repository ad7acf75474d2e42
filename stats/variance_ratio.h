// Do the rows of a batch share random numbers? Each row may accept as often as it should while all
// rows use one coin: then their number of accepts varies too much from step to step. Must not keep
// the rows.
#pragma once

#include <cstdint>

#include "stats/contract.h"
#include "stats/z_test.h"

namespace specbench::stats {

inline constexpr const char* kDriftPairCorrelation = "mean correlation of two rows";

// Sums over steps of T = (sum_r x_r)^2 - sum_r x_r^2 = sum_{r != s} x_r x_s, x a row's value less
// its mean, and of what the null says of T. With v = Var x and m = E x^3, rows independent given
// the past, over ordered tuples of distinct rows:
//   E T = 0;  Var T = 2 sum v_r v_s = 2 ((sum v)^2 - sum v^2);
//   E T^3 = 8 sum v_r v_s v_q + 4 sum m_r m_s.
// T equals (k - sum a)^2 - sum a (1 - a) - sum (1 - 2 a)(A - a) for k accepts: less spread than the
// usual excess variance and with no term of a single row, so a drift of one row's rate (z_test.h)
// does not add to it.
class RowCorrelation {
 public:
  // A row of the current step. add_bit: P(accepted) = a given the past, 0 <= a <= 1. add_uniform: u
  // uniform in [0, 1], used as (u - 1/2) sqrt(12). Throws std::invalid_argument if out of range.
  void add_bit(bool accepted, double a);
  void add_uniform(double u);
  // Ends the step. A step with fewer than two uncertain rows says nothing and is not counted.
  void end_step();
  // Throws std::invalid_argument if either has an open step.
  void merge(const RowCorrelation& other);

  std::int64_t n_steps() const { return n_steps_; }
  std::int64_t n_impossible() const { return n_impossible_; }  // accepted at 0, rejected at 1
  std::int64_t max_rows() const { return max_rows_; }          // uncertain rows of one step
  double statistic() const { return statistic_.value(); }
  double variance() const { return variance_.value(); }
  double skewness() const;
  // The same with |m|: rows with a near 0 and near 1 must not cancel in it.
  double skewness_bound() const;
  double weight() const { return weight_.value(); }  // sum of sqrt(v_r v_s), r != s
  double z() const;                                  // 0 where the variance is 0
  double mean_correlation() const;                   // statistic / weight; 0 without rows

 private:
  struct Step {
    std::int64_t n_rows = 0;
    double x = 0.0, x2 = 0.0;                      // sums of x, x^2
    double v = 0.0, v2 = 0.0, v3 = 0.0, sd = 0.0;  // sums of v, v^2, v^3, sqrt v
    double m = 0.0, m2 = 0.0, abs_m = 0.0;         // sums of m, m^2, |m|
  };
  void add_row(double x, double v, double m);

  Step step_;
  std::int64_t n_steps_ = 0;
  std::int64_t n_impossible_ = 0;
  std::int64_t max_rows_ = 0;
  CompensatedSum statistic_;
  CompensatedSum variance_;
  CompensatedSum third_;
  CompensatedSum third_bound_;
  CompensatedSum weight_;
};

// A sum of few skewed steps has no normal tail: T of one step of many rows is like chi-squared with
// df 1. Fewest steps, and largest skewness_bound(), with which the tail (with its skewness term) is
// trusted. Equal rows need 800 steps for it; two rows that accept with .95 need 29,000, with .999
// 1e8. At these limits a correct sampler exceeded 1e-2 to 1e-4 by .8 to 1.5 times the level and
// 1e-5 by at most 1.7 (1e6 runs where steps are few: 2 to 64 rows; 4e4 for .05 and .95 alike).
inline constexpr std::int64_t kMinCorrelationSteps = 1000;
inline constexpr double kMaxCorrelationSkewness = 0.1;

// Tests that rows are uncorrelated within their steps. Statistic z; two-sided, skewness term as in
// z_two_sided_p. Drift: mean correlation rho of two rows of a step, E T = rho weight; power by the
// normal law with the skewed critical value, the spread enlarged by 1 + (max_rows - 1) rho, what
// rows of equal correlation have. n counts steps of two uncertain rows or more. An impossible bit
// is FAIL; too few or too skewed steps are INCONCLUSIVE.
TestResult row_correlation_test(const Contract& contract, const RowCorrelation& rows);

}  // namespace specbench::stats
