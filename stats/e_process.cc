#include "stats/e_process.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <string>
#include <utility>

#include "stats/power.h"
#include "stats/require.h"
#include "stats/z_test.h"

namespace specbench::stats {
namespace {

constexpr double kLoadTolerance = 1e-6;  // a sum of 1e12 rounded terms stays far below

void require_prior(std::size_t n_bins, double prior_per_bin, const char* where) {
  require(n_bins >= 2, where, "needs at least two bins", static_cast<double>(n_bins));
  require(prior_per_bin > 0.0 && std::isfinite(prior_per_bin), where,
          "the prior must be positive and finite", prior_per_bin);
}

std::int64_t required_n(const Contract& contract, std::size_t n_bins, double prior_per_bin) {
  const auto is_enough = [&](std::int64_t n) {
    return e_process_min_detectable(contract.alpha(), contract.beta(), n_bins, prior_per_bin, n) <=
           contract.tau();
  };
  std::int64_t enough = 1;
  while (!is_enough(enough)) {
    if (enough > (std::int64_t{1} << 60)) return kNoSampleSuffices;
    enough *= 2;
  }
  std::int64_t few = enough / 2;
  while (enough - few > 1) {
    const std::int64_t middle = few + (enough - few) / 2;
    (is_enough(middle) ? enough : few) = middle;
  }
  return enough;
}

}  // namespace

double dirichlet_log_e(const std::vector<std::int64_t>& counts, double prior_per_bin) {
  require_prior(counts.size(), prior_per_bin, "dirichlet_log_e");
  const auto n_bins = static_cast<double>(counts.size());
  CompensatedSum log_e;
  double n = 0.0;
  for (std::int64_t count : counts) {
    require(count >= 0, "dirichlet_log_e", "a count is negative", static_cast<double>(count));
    n += static_cast<double>(count);
    log_e.add(boost::math::lgamma(prior_per_bin + static_cast<double>(count)) -
              boost::math::lgamma(prior_per_bin));
  }
  log_e.add(n * std::log(n_bins));
  log_e.add(boost::math::lgamma(n_bins * prior_per_bin));
  log_e.add(-boost::math::lgamma(n_bins * prior_per_bin + n));
  return log_e.value();
}

EProcess::EProcess(std::size_t n_bins, double prior_per_bin) {
  require_prior(n_bins, prior_per_bin, "EProcess");
  state_.prior_per_bin = prior_per_bin;
  state_.counts.assign(n_bins, 0);
}

EProcess::EProcess(EProcessState state) : state_(std::move(state)) {
  const double log_e = dirichlet_log_e(state_.counts, state_.prior_per_bin);
  std::int64_t n = 0;
  for (std::int64_t count : state_.counts) n += count;
  require(state_.n == n, "EProcess", "the saved n is not the sum of the counts",
          static_cast<double>(state_.n));
  const double difference = std::fabs(state_.log_e - log_e);
  require(difference <= kLoadTolerance * std::max(1.0, std::fabs(log_e)), "EProcess",
          "the saved log_e is not what the counts give", state_.log_e);
  const double largest =
      static_cast<double>(n) * std::log(static_cast<double>(state_.counts.size()));
  require(state_.max_log_e >= std::max(0.0, state_.log_e) &&
              state_.max_log_e <= largest * (1.0 + kLoadTolerance),
          "EProcess", "the saved max_log_e is not possible", state_.max_log_e);
}

void EProcess::add(std::size_t bin) {
  require(bin < state_.counts.size(), "EProcess", "there is no such bin", static_cast<double>(bin));
  const auto n_bins = static_cast<double>(state_.counts.size());
  const double a = state_.prior_per_bin;
  state_.log_e += std::log(n_bins * (a + static_cast<double>(state_.counts[bin])) /
                           (n_bins * a + static_cast<double>(state_.n)));
  state_.max_log_e = std::max(state_.max_log_e, state_.log_e);
  ++state_.counts[bin];
  ++state_.n;
}

void EProcess::add_pit(double u) {
  require(is_probability(u), "EProcess", "u must lie in [0, 1]", u);
  const std::size_t n_bins = state_.counts.size();
  add(std::min(n_bins - 1, static_cast<std::size_t>(u * static_cast<double>(n_bins))));
}

double e_process_min_detectable(double alpha, double beta, std::size_t n_bins, double prior_per_bin,
                                std::int64_t n) {
  require_prior(n_bins, prior_per_bin, "e_process_min_detectable");
  require(is_open_unit(alpha), "e_process_min_detectable", "alpha must lie inside (0, 1)", alpha);
  require(n >= 1, "e_process_min_detectable", "n must be at least 1", static_cast<double>(n));
  const auto df = static_cast<int>(n_bins - 1);
  const double r = static_cast<double>(n) / (static_cast<double>(n_bins) * prior_per_bin + 1.0);
  const double critical = (2.0 * std::log(1.0 / alpha) + df * std::log1p(r)) * (1.0 + r) / r;
  // Far more than n observations can give: lambda is at most n chi^2 <= n (K - 1).
  if (critical > 1e3 * static_cast<double>(n) * df + 1e6) return 1.0;
  const double lambda = noncentrality_at_critical(df, critical, beta);
  return std::min(1.0, std::sqrt(lambda / (4.0 * static_cast<double>(n))));
}

TestResult e_process_test(const Contract& contract, const EProcess& process) {
  const std::size_t n_bins = process.state().counts.size();
  const double prior = process.state().prior_per_bin;
  Evidence evidence;
  evidence.statistic_name = "log E";
  evidence.drift_kind = kDriftTotalVariation;
  evidence.n = process.n();
  evidence.statistic = process.log_e();
  evidence.required_n = required_n(contract, n_bins, prior);
  if (process.n() == 0) {
    std::string needed = "nothing was observed; needs n = " + std::to_string(evidence.required_n);
    return not_testable(contract, std::move(evidence), std::move(needed));
  }
  evidence.p_value = std::min(1.0, std::exp(-process.max_log_e()));
  evidence.min_detectable =
      e_process_min_detectable(contract.alpha(), contract.beta(), n_bins, prior, process.n());
  return decide(contract, evidence);
}

}  // namespace specbench::stats
