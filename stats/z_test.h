// Are bits that each had their own probability consistent with those probabilities? Accept bits
// against the accept probabilities of their rows; counts of residual and bonus tokens. Must not
// keep the bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/contract.h"

namespace specbench::stats {

// A sum that carries its rounding error (Neumaier 1974).
class CompensatedSum {
 public:
  void add(double x);
  void merge(const CompensatedSum& other);
  double value() const { return sum_ + error_; }

 private:
  double sum_ = 0.0;
  double error_ = 0.0;
};

// Sums over bits A with P(A = 1) = a given the past. Mergeable in any order, up to rounding.
class AcceptBits {
 public:
  // Throws std::invalid_argument unless 0 <= a <= 1.
  void add(bool accepted, double a);
  void merge(const AcceptBits& other);

  std::int64_t n() const { return n_; }
  std::int64_t n_accepted() const { return n_accepted_; }
  // Bits that could not happen: accepted at a = 0 or rejected at a = 1.
  std::int64_t n_impossible() const { return n_impossible_; }
  double excess() const { return excess_.value(); }                  // sum (A - a)
  double expected() const { return expected_.value(); }              // sum a
  double variance() const { return variance_.value(); }              // sum a (1 - a)
  double third_cumulant() const { return third_cumulant_.value(); }  // sum a (1 - a) (1 - 2 a)
  // excess / sqrt(variance); 0 where the variance is 0.
  double z() const;

 private:
  std::int64_t n_ = 0;
  std::int64_t n_accepted_ = 0;
  std::int64_t n_impossible_ = 0;
  CompensatedSum excess_;
  CompensatedSum expected_;
  CompensatedSum variance_;
  CompensatedSum third_cumulant_;
};

// From this sum of a (1 - a) the normal tail (with its skewness term) is trusted.
inline constexpr double kMinNormalVariance = 100.0;

// Two-sided p of a standardised sum: normal tails by complement at z - skewness (z^2 - 1) / 6 (the
// first Cornish-Fisher term; followed by its tangent beyond z = 1.5 / |skewness|, where the
// parabola would turn). In [0, 1].
double z_two_sided_p(double z, double skewness = 0.0);

// (z_{alpha/2} + z_beta) sqrt(variance) / n: drift of the mean acceptance caught with probability
// >= 1 - beta. Throws std::invalid_argument for n < 1 or variance < 0.
double z_min_detectable(double alpha, double beta, double variance, std::int64_t n);

// Tests that every bit has its stated probability, given the past. Statistic Z; drift: mean
// acceptance. Below a variance of 100 the p-value is the binomial one at the mean of a, which
// bounds the true tail (Hoeffding 1956) so a rare bit raises no false alarm. An impossible bit is
// FAIL with p = 0; no uncertain bit at all is INCONCLUSIVE. Throws std::invalid_argument if nothing
// was added.
TestResult z_test(const Contract& contract, const AcceptBits& bits);

// Up to this many probabilities the Poisson-binomial law is computed exactly.
inline constexpr std::int64_t kExactPoissonBinomialN = 2000;

// [probs.size() + 1]: P(sum of independent bits = i). O(n^2). Throws std::invalid_argument if a
// probability is outside [0, 1] or there are more than kExactPoissonBinomialN.
std::vector<double> poisson_binomial_pmf(std::span<const double> probs);

// Tests that k events came from independent bits with these probabilities: exact two-sided p (twice
// the smaller tail) up to kExactPoissonBinomialN, above it z_test's. Power as in z_test. Throws
// std::invalid_argument if probs is empty, a probability is outside [0, 1], or k is outside [0, n].
TestResult poisson_binomial_test(const Contract& contract, std::int64_t k,
                                 std::span<const double> probs);

}  // namespace specbench::stats
