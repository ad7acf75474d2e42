#include "stats/variance_ratio.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

// Sum over ordered pairs of distinct rows of f_r f_s, from sum f and sum f^2. Rounding must not
// leave less than nothing.
double distinct_pairs(double sum, double sum_of_squares) {
  return std::max(0.0, sum * sum - sum_of_squares);
}

double third_root_scale(double third, double variance) {
  return variance > 0.0 ? third / (variance * std::sqrt(variance)) : 0.0;
}

// Critical value of a two-sided test of a skewed standardised sum, upper side.
double skewed_critical_value(double alpha, double skewness) {
  const double z = normal_upper_quantile(alpha / 2.0);
  return z + std::max(0.0, skewness) * (z * z - 1.0) / 6.0;
}

void fill_power(const Contract& contract, const RowCorrelation& rows, Evidence& evidence) {
  const auto n = static_cast<double>(rows.n_steps());
  const double sd = std::sqrt(rows.variance());
  const double z_beta = std::max(0.0, normal_upper_quantile(contract.beta()));
  const double shift = skewed_critical_value(contract.alpha(), rows.skewness()) + z_beta;
  const double growth = sd * z_beta * static_cast<double>(rows.max_rows() - 1);
  // rho weight = sd (critical + z_beta (1 + (max_rows - 1) rho)).
  evidence.min_detectable =
      rows.weight() > growth ? std::min(1.0, sd * shift / (rows.weight() - growth)) : 1.0;
  const double root_n = (sd * shift / contract.tau() + growth) / rows.weight() * std::sqrt(n);
  const double skew = rows.skewness_bound() / kMaxCorrelationSkewness;
  evidence.required_n = std::max(
      {sample_count(root_n * root_n), sample_count(skew * skew * n), kMinCorrelationSteps});
}

}  // namespace

void RowCorrelation::add_row(double x, double v, double m) {
  ++step_.n_rows;
  step_.x += x;
  step_.x2 += x * x;
  step_.v += v;
  step_.v2 += v * v;
  step_.v3 += v * v * v;
  step_.sd += std::sqrt(v);
  step_.m += m;
  step_.m2 += m * m;
  step_.abs_m += std::fabs(m);
}

void RowCorrelation::add_bit(bool accepted, double a) {
  require(is_probability(a), "RowCorrelation", "an accept probability must lie in [0, 1]", a);
  if ((accepted && a == 0.0) || (!accepted && a == 1.0)) ++n_impossible_;
  if (a == 0.0 || a == 1.0) return;
  const double v = a * (1.0 - a);
  add_row((accepted ? 1.0 : 0.0) - a, v, v * (1.0 - 2.0 * a));
}

void RowCorrelation::add_uniform(double u) {
  require(is_probability(u), "RowCorrelation", "u must lie in [0, 1]", u);
  add_row(std::sqrt(12.0) * (u - 0.5), 1.0, 0.0);
}

void RowCorrelation::end_step() {
  const Step step = std::exchange(step_, Step{});
  if (step.n_rows < 2) return;
  ++n_steps_;
  max_rows_ = std::max(max_rows_, step.n_rows);
  statistic_.add(step.x * step.x - step.x2);
  variance_.add(2.0 * distinct_pairs(step.v, step.v2));
  const double triples =
      std::max(0.0, step.v * step.v * step.v - 3.0 * step.v * step.v2 + 2.0 * step.v3);
  third_.add(8.0 * triples + 4.0 * (step.m * step.m - step.m2));
  third_bound_.add(8.0 * triples + 4.0 * distinct_pairs(step.abs_m, step.m2));
  weight_.add(distinct_pairs(step.sd, step.v));
}

void RowCorrelation::merge(const RowCorrelation& other) {
  require(step_.n_rows == 0 && other.step_.n_rows == 0, "RowCorrelation",
          "end the open step before a merge");
  n_steps_ += other.n_steps_;
  n_impossible_ += other.n_impossible_;
  max_rows_ = std::max(max_rows_, other.max_rows_);
  statistic_.merge(other.statistic_);
  variance_.merge(other.variance_);
  third_.merge(other.third_);
  third_bound_.merge(other.third_bound_);
  weight_.merge(other.weight_);
}

double RowCorrelation::skewness() const { return third_root_scale(third_.value(), variance()); }

double RowCorrelation::skewness_bound() const {
  return third_root_scale(third_bound_.value(), variance());
}

double RowCorrelation::z() const {
  return variance() > 0.0 ? statistic() / std::sqrt(variance()) : 0.0;
}

double RowCorrelation::mean_correlation() const {
  return weight() > 0.0 ? statistic() / weight() : 0.0;
}

TestResult row_correlation_test(const Contract& contract, const RowCorrelation& rows) {
  Evidence evidence;
  evidence.statistic_name = "z of row pairs";
  evidence.drift_kind = kDriftPairCorrelation;
  evidence.n = rows.n_steps();
  evidence.statistic = rows.z();
  evidence.required_n = kNoSampleSuffices;
  const bool has_pairs = rows.variance() > 0.0;
  if (has_pairs) fill_power(contract, rows, evidence);
  if (rows.n_impossible() > 0) {
    return fail_forbidden(
        contract, std::move(evidence),
        "forbidden outcome: " + std::to_string(rows.n_impossible()) + " bits had probability 0");
  }
  if (!has_pairs) {
    return not_testable(contract, std::move(evidence), "no step had two uncertain rows");
  }
  if (rows.n_steps() < kMinCorrelationSteps || rows.skewness_bound() > kMaxCorrelationSkewness) {
    const std::string needed = std::to_string(evidence.required_n);
    return not_testable(contract, std::move(evidence),
                        "too few or too skewed steps for a normal tail; needs n = " + needed);
  }
  evidence.p_value = z_two_sided_p(rows.z(), rows.skewness());
  return decide(contract, evidence);
}

}  // namespace specbench::stats
