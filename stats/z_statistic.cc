// Implements z_test.h. Not named z_test.cc, because the build takes *_test.cc for a test program.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "stats/binomial.h"
#include "stats/power.h"
#include "stats/require.h"
#include "stats/z_test.h"

namespace specbench::stats {
namespace {

// Each sum of Bernoulli(a_i) is less spread than the binomial at their mean, so that law's tails
// bound it from k >= mean + 1 and k <= mean - 1 on (Hoeffding 1956); nearer the mean nothing is
// rejected.
double hoeffding_two_sided_p(std::int64_t k, std::int64_t n, double expected) {
  if (std::fabs(static_cast<double>(k) - expected) < 1.0) return 1.0;
  return binomial_two_sided_p(k, n, std::clamp(expected / static_cast<double>(n), 0.0, 1.0));
}

void fill_power(const Contract& contract, const AcceptBits& bits, Evidence& evidence) {
  const double n = static_cast<double>(bits.n());
  const double alpha = contract.alpha();
  const double beta = contract.beta();
  if (bits.variance() >= kMinNormalVariance) {
    const double mean_variance = std::min(bits.variance() / n, 0.25);
    evidence.required_n = z_required_n(alpha, beta, mean_variance, contract.tau());
    evidence.min_detectable = z_min_detectable(alpha, beta, bits.variance(), bits.n());
  } else {
    const double rate = std::clamp(bits.expected() / n, 0.0, 1.0);
    evidence.required_n = binomial_required_n(rate, alpha, beta, contract.tau());
    evidence.min_detectable = binomial_min_detectable(bits.n(), rate, alpha, beta);
  }
}

}  // namespace

void CompensatedSum::add(double x) {
  const double next = sum_ + x;
  error_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
  sum_ = next;
}

void CompensatedSum::merge(const CompensatedSum& other) {
  add(other.sum_);
  error_ += other.error_;
}

void AcceptBits::add(bool accepted, double a) {
  require(is_probability(a), "AcceptBits", "an accept probability must lie in [0, 1]", a);
  ++n_;
  if (accepted) ++n_accepted_;
  if ((accepted && a == 0.0) || (!accepted && a == 1.0)) ++n_impossible_;
  const double spread = a * (1.0 - a);
  excess_.add((accepted ? 1.0 : 0.0) - a);
  expected_.add(a);
  variance_.add(spread);
  third_cumulant_.add(spread * (1.0 - 2.0 * a));
}

void AcceptBits::merge(const AcceptBits& other) {
  n_ += other.n_;
  n_accepted_ += other.n_accepted_;
  n_impossible_ += other.n_impossible_;
  excess_.merge(other.excess_);
  expected_.merge(other.expected_);
  variance_.merge(other.variance_);
  third_cumulant_.merge(other.third_cumulant_);
}

double AcceptBits::z() const { return variance() > 0.0 ? excess() / std::sqrt(variance()) : 0.0; }

double z_two_sided_p(double z, double skewness) {
  require(!std::isnan(z), "z_two_sided_p", "z is not a number");
  require(std::isfinite(skewness), "z_two_sided_p", "the skewness is not finite", skewness);
  // z - s (z^2 - 1) / 6 has slope 1/2 at z = 1.5 / s; from there on that tangent, lest a huge z
  // look harmless.
  const double bend = skewness == 0.0 ? 0.0 : 1.5 / skewness;
  const bool is_beyond = skewness != 0.0 && (skewness > 0.0 ? z > bend : z < bend);
  const double at = is_beyond ? bend : z;
  const double corrected =
      at - skewness * (at * at - 1.0) / 6.0 + (is_beyond ? 0.5 * (z - bend) : 0.0);
  return std::min(1.0, 2.0 * normal_upper_tail(std::fabs(corrected)));
}

double z_min_detectable(double alpha, double beta, double variance, std::int64_t n) {
  require(n >= 1, "z_min_detectable", "n must be at least 1", static_cast<double>(n));
  require(variance >= 0.0, "z_min_detectable", "the variance must not be negative", variance);
  const double quantiles = normal_upper_quantile(alpha / 2.0) + normal_upper_quantile(beta);
  return std::max(0.0, quantiles * std::sqrt(variance) / static_cast<double>(n));
}

TestResult z_test(const Contract& contract, const AcceptBits& bits) {
  require(bits.n() >= 1, "z_test", "no bit was added");
  Evidence evidence;
  evidence.statistic_name = "Z";
  evidence.drift_kind = kDriftMean;
  evidence.n = bits.n();
  evidence.statistic = bits.z();
  fill_power(contract, bits, evidence);
  if (bits.n_impossible() > 0) {
    return fail_forbidden(
        contract, std::move(evidence),
        "forbidden outcome: " + std::to_string(bits.n_impossible()) + " bits had probability 0");
  }
  if (bits.variance() <= 0.0) {
    return not_testable(contract, std::move(evidence),
                        "every accept probability was 0 or 1, so no bit was uncertain");
  }
  const double variance = bits.variance();
  evidence.p_value =
      variance >= kMinNormalVariance
          ? z_two_sided_p(bits.z(), bits.third_cumulant() / (variance * std::sqrt(variance)))
          : hoeffding_two_sided_p(bits.n_accepted(), bits.n(), bits.expected());
  return decide(contract, evidence);
}

std::vector<double> poisson_binomial_pmf(std::span<const double> probs) {
  require(static_cast<std::int64_t>(probs.size()) <= kExactPoissonBinomialN, "poisson_binomial_pmf",
          "the exact law takes at most 2000 probabilities", static_cast<double>(probs.size()));
  std::vector<double> pmf(probs.size() + 1, 0.0);
  pmf[0] = 1.0;
  std::size_t n_added = 0;
  for (double a : probs) {
    require(is_probability(a), "poisson_binomial_pmf", "a probability must lie in [0, 1]", a);
    ++n_added;
    for (std::size_t i = n_added; i > 0; --i) pmf[i] = pmf[i] * (1.0 - a) + pmf[i - 1] * a;
    pmf[0] *= 1.0 - a;
  }
  return pmf;
}

TestResult poisson_binomial_test(const Contract& contract, std::int64_t k,
                                 std::span<const double> probs) {
  const auto n = static_cast<std::int64_t>(probs.size());
  require(n >= 1, "poisson_binomial_test", "there are no probabilities");
  require(k >= 0 && k <= n, "poisson_binomial_test", "k must lie in [0, n]",
          static_cast<double>(k));
  // Which bits were set does not matter to the sums: the first k stand for them.
  AcceptBits bits;
  double n_certain = 0.0;
  double n_possible = 0.0;
  for (double a : probs) {
    bits.add(false, a);
    if (a == 1.0) ++n_certain;
    if (a > 0.0) ++n_possible;
  }
  Evidence evidence;
  evidence.statistic_name = "Poisson-binomial count";
  evidence.drift_kind = kDriftMean;
  evidence.n = n;
  evidence.statistic = static_cast<double>(k);
  fill_power(contract, bits, evidence);
  if (static_cast<double>(k) < n_certain || static_cast<double>(k) > n_possible) {
    return fail_forbidden(contract, std::move(evidence),
                          "forbidden outcome: this count has probability 0");
  }
  if (bits.variance() <= 0.0) {
    return not_testable(contract, std::move(evidence),
                        "every probability was 0 or 1, so the count was certain");
  }
  if (n <= kExactPoissonBinomialN) {
    const std::vector<double> pmf = poisson_binomial_pmf(probs);
    double lower = 0.0;
    double upper = 0.0;
    for (std::int64_t i = 0; i <= n; ++i) {
      if (i <= k) lower += pmf[static_cast<std::size_t>(i)];
      if (i >= k) upper += pmf[static_cast<std::size_t>(i)];
    }
    evidence.p_value = std::min(1.0, 2.0 * std::min(lower, upper));
  } else if (const double variance = bits.variance(); variance >= kMinNormalVariance) {
    const double z = (static_cast<double>(k) - bits.expected()) / std::sqrt(variance);
    evidence.p_value = z_two_sided_p(z, bits.third_cumulant() / (variance * std::sqrt(variance)));
  } else {
    evidence.p_value = hoeffding_two_sided_p(k, n, bits.expected());
  }
  return decide(contract, evidence);
}

}  // namespace specbench::stats
