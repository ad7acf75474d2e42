#include "stats/binomial.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "stats/require.h"

namespace specbench::stats {
namespace {

void require_trials(std::int64_t k, std::int64_t n, const char* where) {
  require(n >= 1, where, "n must be at least 1", static_cast<double>(n));
  require(k >= 0 && k <= n, where, "k must lie in [0, n]", static_cast<double>(k));
}

void require_level(double alpha, const char* where) {
  require(is_open_unit(alpha), where, "alpha must lie inside (0, 1)", alpha);
}

// Smallest k in [0, n + 1] with P(X >= k) <= level, by bisection (n + 1: none rejects).
std::int64_t upper_critical_count(std::int64_t n, double p, double level) {
  std::int64_t rejected = n + 1;
  std::int64_t kept = 0;  // P(X >= 0) = 1
  while (rejected - kept > 1) {
    const std::int64_t middle = kept + (rejected - kept) / 2;
    (binomial_upper_tail(middle, n, p) < level ? rejected : kept) = middle;
  }
  return rejected;
}

// Smallest upward drift from p that two-sided alpha catches with probability 1 - beta, at most 1 -
// p.
double upward_drift(std::int64_t n, double p, double alpha, double beta) {
  const std::int64_t critical = upper_critical_count(n, p, alpha / 2.0);
  if (critical > n) return 1.0 - p;
  // P(X >= k | rate) = I_rate(k, n - k + 1), inverted in the rate.
  const double rate = boost::math::ibetac_inv(static_cast<double>(critical),
                                              static_cast<double>(n - critical + 1), beta);
  return std::clamp(rate - p, 0.0, 1.0 - p);
}

// Trials after which the observed rate k / n, going on, has its upper bound at tau.
std::int64_t required_for_bound(const Contract& contract, std::int64_t k, std::int64_t n) {
  const double rate = static_cast<double>(k) / static_cast<double>(n);
  if (rate >= contract.tau()) return kNoSampleSuffices;
  const auto is_enough = [&](double trials) {
    // The beta quantile is continuous in both counts, so a fractional k needs no rounding.
    const double count = rate * trials;
    return boost::math::ibetac_inv(count + 1.0, trials - count, contract.alpha()) <= contract.tau();
  };
  double enough = 1.0;
  while (!is_enough(enough)) {
    if (enough > 1e15) return kNoSampleSuffices;
    enough *= 2.0;
  }
  double few = enough / 2.0;
  while (enough - few > 1.0) {
    const double middle = std::floor((few + enough) / 2.0);
    (is_enough(middle) ? enough : few) = middle;
  }
  return static_cast<std::int64_t>(enough);
}

}  // namespace

double clopper_pearson_lower(std::int64_t k, std::int64_t n, double alpha) {
  require_trials(k, n, "clopper_pearson_lower");
  require_level(alpha, "clopper_pearson_lower");
  if (k == 0) return 0.0;
  return boost::math::ibeta_inv(static_cast<double>(k), static_cast<double>(n - k + 1), alpha);
}

double clopper_pearson_upper(std::int64_t k, std::int64_t n, double alpha) {
  require_trials(k, n, "clopper_pearson_upper");
  require_level(alpha, "clopper_pearson_upper");
  if (k == n) return 1.0;
  // The complement keeps the digits of a small alpha.
  return boost::math::ibetac_inv(static_cast<double>(k + 1), static_cast<double>(n - k), alpha);
}

double binomial_lower_tail(std::int64_t k, std::int64_t n, double p) {
  require_trials(k, n, "binomial_lower_tail");
  require(is_probability(p), "binomial_lower_tail", "p must lie in [0, 1]", p);
  if (k == n) return 1.0;
  return boost::math::ibetac(static_cast<double>(k + 1), static_cast<double>(n - k), p);
}

double binomial_upper_tail(std::int64_t k, std::int64_t n, double p) {
  require_trials(k, n, "binomial_upper_tail");
  require(is_probability(p), "binomial_upper_tail", "p must lie in [0, 1]", p);
  if (k == 0) return 1.0;
  return boost::math::ibeta(static_cast<double>(k), static_cast<double>(n - k + 1), p);
}

double binomial_two_sided_p(std::int64_t k, std::int64_t n, double p) {
  const double tail = std::min(binomial_lower_tail(k, n, p), binomial_upper_tail(k, n, p));
  return std::min(1.0, 2.0 * tail);
}

double binomial_min_detectable(std::int64_t n, double p, double alpha, double beta) {
  require(n >= 1, "binomial_min_detectable", "n must be at least 1", static_cast<double>(n));
  require(is_probability(p), "binomial_min_detectable", "p must lie in [0, 1]", p);
  require_level(alpha, "binomial_min_detectable");
  require(is_open_unit(beta), "binomial_min_detectable", "beta must lie inside (0, 1)", beta);
  // A downward drift is an upward drift of the complementary event.
  return std::max(upward_drift(n, p, alpha, beta), upward_drift(n, 1.0 - p, alpha, beta));
}

std::int64_t binomial_required_n(double p, double alpha, double beta, double tau) {
  require(tau > 0.0 && tau <= 1.0, "binomial_required_n", "the drift must lie in (0, 1]", tau);
  const auto is_enough = [&](std::int64_t n) {
    return binomial_min_detectable(n, p, alpha, beta) <= tau;
  };
  std::int64_t enough = 1;
  while (!is_enough(enough)) {
    if (enough > (std::int64_t{1} << 50)) return kNoSampleSuffices;
    enough *= 2;
  }
  // Bisection finds one crossing of the saw-tooth, which is what a planner wants.
  std::int64_t few = enough / 2;
  while (enough - few > 1) {
    const std::int64_t middle = few + (enough - few) / 2;
    (is_enough(middle) ? enough : few) = middle;
  }
  return enough;
}

TestResult binomial_test(const Contract& contract, std::int64_t k, std::int64_t n, double p) {
  Evidence evidence;
  evidence.statistic_name = "binomial count";
  evidence.drift_kind = kDriftRate;
  evidence.p_value = binomial_two_sided_p(k, n, p);
  evidence.n = n;
  evidence.statistic = static_cast<double>(k);
  evidence.min_detectable = binomial_min_detectable(n, p, contract.alpha(), contract.beta());
  evidence.required_n = binomial_required_n(p, contract.alpha(), contract.beta(), contract.tau());
  return decide(contract, evidence);
}

TestResult rate_bound_test(const Contract& contract, std::int64_t k, std::int64_t n) {
  Evidence evidence;
  evidence.statistic_name = "Clopper-Pearson upper bound";
  evidence.drift_kind = kDriftRate;
  evidence.n = n;
  evidence.min_detectable = clopper_pearson_upper(k, n, contract.alpha());
  evidence.statistic = evidence.min_detectable;
  // P(X >= k | tau) < alpha is the same event as lower bound > tau.
  evidence.p_value = binomial_upper_tail(k, n, contract.tau());
  evidence.required_n = required_for_bound(contract, k, n);
  TestResult result = decide(contract, evidence);
  if (result.verdict == Verdict::kPass) {
    result.reason = std::to_string(k) + " of " + std::to_string(n) +
                    ": the rate is certified below the bound at 1 - alpha";
  }
  return result;
}

}  // namespace specbench::stats
