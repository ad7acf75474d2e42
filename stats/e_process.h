// A test that may be looked at after every observation, and carried on night after night: the
// evidence E against equal bins, which exceeds 1/alpha with probability at most alpha, ever. Must
// not see an observation before it has bet on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/contract.h"

namespace specbench::stats {

// What is saved between runs. Plain data.
struct EProcessState {
  double prior_per_bin = 0.0;        // a of the symmetric Dirichlet prior
  std::vector<std::int64_t> counts;  // [n_bins] observations so far
  std::int64_t n = 0;                // their sum
  double log_e = 0.0;                // log E_n
  double max_log_e = 0.0;            // max over m <= n of log E_m; E_0 = 1
};

// log E_n of these counts: the Dirichlet-multinomial probability of the sequence over its
// probability K^-n under equal bins,
//   n log K + lgamma(K a) - lgamma(K a + n) + sum lgamma(a + c_j) - lgamma(a).
// Does not depend on the order. Requires two bins or more, a > 0 finite, no negative count; throws
// std::invalid_argument otherwise.
double dirichlet_log_e(const std::vector<std::int64_t>& counts, double prior_per_bin);

class EProcess {
 public:
  static constexpr std::size_t kBins = 64;
  // Prior a = 8 a bin expects relative drifts of 1/sqrt(8) = .35; a larger a pays less for small
  // drifts (about (K - 1)/2 log(1 + n / (K a)) in log E) and finds large ones all the same.
  static constexpr double kPriorPerBin = 8.0;

  // Throws std::invalid_argument unless n_bins >= 2 and the prior is positive and finite.
  explicit EProcess(std::size_t n_bins = kBins, double prior_per_bin = kPriorPerBin);
  // Takes up a saved state. Throws std::invalid_argument if it is not one: a negative count, counts
  // that do not sum to n, log_e off dirichlet_log_e by more than 1e-6 max(1, |log_e|), max_log_e
  // below log_e or 0, above n log K, or not finite.
  explicit EProcess(EProcessState state);

  // Multiplies E by K (a + c_bin) / (K a + n): the bet made before this observation. Throws
  // std::invalid_argument if there is no such bin.
  void add(std::size_t bin);
  // The bin of a probability integral transform; 1 counts to the last. Throws
  // std::invalid_argument if u is outside [0, 1] or NaN.
  void add_pit(double u);

  double log_e() const { return state_.log_e; }
  double max_log_e() const { return state_.max_log_e; }
  std::int64_t n() const { return state_.n; }
  const EProcessState& state() const { return state_; }

 private:
  EProcessState state_;
};

// Total variation from equal bins that E_n alone (not its maximum, so on the safe side) catches
// with probability >= 1 - beta after n observations. Growth-rate approximation: with r = n / (K a +
// 1)
//   2 log E_n = chi-squared_{K-1}(lambda) r / (1 + r) - (K - 1) log(1 + r),
// the normal limit of the Dirichlet mixture, whose last term is the regret; lambda >= 4 n TV^2
// (that is n KL >= 2 n TV^2). At most 1. Throws std::invalid_argument for levels outside (0, 1), n
// < 1.
double e_process_min_detectable(double alpha, double beta, std::size_t n_bins, double prior_per_bin,
                                std::int64_t n);

// Tests that every observation falls into each bin with probability 1/K given the past: FAIL once
// max log E > log(1/alpha), valid at any time (Ville 1939). statistic: log E_n; p_value: min(1, 1 /
// max E). PASS says that a drift present all the time would have been caught by now. n = 0 is
// INCONCLUSIVE. alpha is for the whole life of the state.
TestResult e_process_test(const Contract& contract, const EProcess& process);

}  // namespace specbench::stats
