// Are probability integral transforms independent along a sequence? Ljung-Box, lagged products of
// many short sequences, runs about the median. Must not pair values of different sequences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/contract.h"
#include "stats/z_test.h"

namespace specbench::stats {

inline constexpr const char* kDriftSerial = "serial correlation";

// Sums of products x_t x_{t+k}, x = sqrt(12) (u - 1/2), over all pairs within one sequence, for
// lags 1 .. n_lags, and changes of side (of 1/2) between neighbours. Constant memory; the mean 1/2
// and variance 1/12 are known, so nothing is estimated: each sum has mean 0 and variance its number
// of pairs, and all are uncorrelated, if each u is uniform given the ones before it (a sequence may
// therefore end for a reason that depends on its values).
class LaggedProducts {
 public:
  // Throws std::invalid_argument unless 1 <= n_lags <= 1024.
  explicit LaggedProducts(int n_lags);

  void begin_sequence();  // the next value has no predecessor
  // Throws std::invalid_argument if u is outside [0, 1] or NaN.
  void add(double u);
  // Adds the sums of other, whose own sequences stay apart from this one's. Throws
  // std::invalid_argument if the numbers of lags differ.
  void merge(const LaggedProducts& other);

  int n_lags() const { return static_cast<int>(sums_.size()); }
  std::int64_t n() const { return n_; }                  // values
  std::int64_t n_pairs(int lag) const;                   // lag in 1 .. n_lags
  std::int64_t n_changes() const { return n_changes_; }  // of n_pairs(1)
  double z(int lag) const;                               // 0 where there is no pair

 private:
  std::vector<CompensatedSum> sums_;   // [n_lags]
  std::vector<std::int64_t> n_pairs_;  // [n_lags]
  std::vector<double> recent_;         // [n_lags] last x of this sequence, a ring
  std::int64_t length_ = 0;            // of this sequence
  std::int64_t n_ = 0;
  std::int64_t n_changes_ = 0;
};

// Fewest pairs with which a lag is used. The lags of one sequence share values: E z_1^2 z_2 is
// about 2 / sqrt(pairs), which thickens the tail of their sum of squares. One sequence and 8 lags
// exceed 1e-3, 1e-4 and 1e-5 with 1,000 values 1.4, 1.9 and 2.6 times too often (1e6 runs); with
// 10,000 values 1.15, 1.0 and 1.25 times (4e5 runs, standard errors .05, .16 and .5).
inline constexpr std::int64_t kMinLagPairs = 10'000;

// Tests that all lags are uncorrelated: Q = sum z_k^2 over the lags with kMinLagPairs or more,
// upper tail of chi-squared with as many df. Drift: correlation at a single lag, the one with
// fewest pairs, lambda = sum m_k rho_k^2. n counts values; required_n keeps the share of pairs.
// Without such a lag INCONCLUSIVE.
TestResult serial_correlation_test(const Contract& contract, const LaggedProducts& products);

// Ljung and Box (1978): n (n + 2) sum r_k^2 / (n - k), k <= n_lags, with the mean of the values
// taken off (the usual autocorrelations). 0 <= result. Throws std::invalid_argument unless 1 <=
// n_lags < n, the values are finite and not all the same.
double ljung_box_statistic(std::span<const double> values, int n_lags);

// Tests one long sequence by it, df = n_lags, upper tail. Drift: correlation at a single lag,
// lambda >= (n - n_lags) rho^2. Values that are all the same are FAIL; fewer than kMinLagPairs +
// n_lags are INCONCLUSIVE. Throws std::invalid_argument if a value is outside [0, 1], n_lags < 1.
TestResult ljung_box_test(const Contract& contract, std::span<const double> pit, int n_lags);

// Tests that neighbours fall on the same side of 1/2 as often as not. The median is known, so the
// changes (runs less one a sequence) are exactly Binomial(pairs, 1/2), for every n and however many
// sequences: no conditioning on the sides (Wald and Wolfowitz 1940) nor normal law is needed.
// Two-sided. Drift: correlation of the sides of neighbours, 1 - 2 P(change). n counts pairs. No
// pair is INCONCLUSIVE.
TestResult runs_test(const Contract& contract, const LaggedProducts& products);
TestResult runs_test(const Contract& contract, std::span<const double> pit);

}  // namespace specbench::stats
