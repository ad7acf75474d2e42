#include "stats/serial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "stats/binomial.h"
#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

double standardised(double u) { return std::sqrt(12.0) * (u - 0.5); }

}  // namespace

LaggedProducts::LaggedProducts(int n_lags) {
  require(n_lags >= 1 && n_lags <= 1024, "LaggedProducts", "n_lags must lie in [1, 1024]", n_lags);
  sums_.resize(static_cast<std::size_t>(n_lags));
  n_pairs_.assign(sums_.size(), 0);
  recent_.assign(sums_.size(), 0.0);
}

void LaggedProducts::begin_sequence() { length_ = 0; }

void LaggedProducts::add(double u) {
  require(is_probability(u), "LaggedProducts", "u must lie in [0, 1]", u);
  const double x = standardised(u);
  const auto lags = static_cast<std::int64_t>(sums_.size());
  for (std::int64_t lag = 1; lag <= std::min(lags, length_); ++lag) {
    const auto i = static_cast<std::size_t>(lag - 1);
    const double before = recent_[static_cast<std::size_t>((length_ - lag) % lags)];
    sums_[i].add(before * x);
    ++n_pairs_[i];
    if (lag == 1 && (before < 0.0) != (x < 0.0)) ++n_changes_;
  }
  recent_[static_cast<std::size_t>(length_ % lags)] = x;
  ++length_;
  ++n_;
}

void LaggedProducts::merge(const LaggedProducts& other) {
  require(n_lags() == other.n_lags(), "LaggedProducts", "both must have the same number of lags",
          other.n_lags());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].merge(other.sums_[i]);
    n_pairs_[i] += other.n_pairs_[i];
  }
  n_ += other.n_;
  n_changes_ += other.n_changes_;
}

std::int64_t LaggedProducts::n_pairs(int lag) const {
  require(lag >= 1 && lag <= n_lags(), "LaggedProducts", "no such lag", lag);
  return n_pairs_[static_cast<std::size_t>(lag - 1)];
}

double LaggedProducts::z(int lag) const {
  const std::int64_t pairs = n_pairs(lag);
  if (pairs == 0) return 0.0;
  return sums_[static_cast<std::size_t>(lag - 1)].value() / std::sqrt(static_cast<double>(pairs));
}

TestResult serial_correlation_test(const Contract& contract, const LaggedProducts& products) {
  Evidence evidence;
  evidence.statistic_name = "sum of squared lag z";
  evidence.drift_kind = kDriftSerial;
  evidence.n = products.n();
  evidence.required_n = kNoSampleSuffices;
  int df = 0;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (int lag = 1; lag <= products.n_lags(); ++lag) {
    const std::int64_t pairs = products.n_pairs(lag);
    if (pairs < kMinLagPairs) continue;
    ++df;
    fewest = std::min(fewest, pairs);
    evidence.statistic += products.z(lag) * products.z(lag);
  }
  if (df == 0) {
    const auto pairs = static_cast<double>(products.n_pairs(1));
    const bool has_pairs = pairs > 0.0;
    if (has_pairs) {
      evidence.required_n = sample_count(static_cast<double>(kMinLagPairs * products.n()) / pairs);
    }
    return not_testable(
        contract, std::move(evidence),
        "no lag has " + std::to_string(kMinLagPairs) + " pairs of values of one sequence");
  }
  const double lambda = chi_squared_noncentrality(df, contract.alpha(), contract.beta());
  const auto pairs = static_cast<double>(fewest);
  evidence.p_value = chi_squared_sf(evidence.statistic, df);
  evidence.min_detectable = std::sqrt(lambda / pairs);
  evidence.required_n = sample_count(lambda / (contract.tau() * contract.tau()) *
                                     static_cast<double>(products.n()) / pairs);
  return decide(contract, evidence);
}

double ljung_box_statistic(std::span<const double> values, int n_lags) {
  require_finite_values(values, "ljung_box_statistic");
  require(n_lags >= 1 && static_cast<std::size_t>(n_lags) < values.size(), "ljung_box_statistic",
          "n_lags must lie in [1, n)", n_lags);
  const auto n = static_cast<double>(values.size());
  CompensatedSum total;
  for (double x : values) total.add(x);
  const double mean = total.value() / n;
  CompensatedSum squares;
  for (double x : values) squares.add((x - mean) * (x - mean));
  require(squares.value() > 0.0, "ljung_box_statistic", "all values are the same", values[0]);
  double statistic = 0.0;
  for (int lag = 1; lag <= n_lags; ++lag) {
    CompensatedSum products;
    for (std::size_t t = static_cast<std::size_t>(lag); t < values.size(); ++t)
      products.add((values[t - static_cast<std::size_t>(lag)] - mean) * (values[t] - mean));
    const double correlation = products.value() / squares.value();
    statistic += correlation * correlation / (n - lag);
  }
  return n * (n + 2.0) * statistic;
}

TestResult ljung_box_test(const Contract& contract, std::span<const double> pit, int n_lags) {
  require(n_lags >= 1, "ljung_box_test", "n_lags must be at least 1", n_lags);
  for (double u : pit) require(is_probability(u), "ljung_box_test", "u must lie in [0, 1]", u);
  Evidence evidence;
  evidence.statistic_name = "Ljung-Box Q";
  evidence.drift_kind = kDriftSerial;
  evidence.n = static_cast<std::int64_t>(pit.size());
  const double lambda = chi_squared_noncentrality(n_lags, contract.alpha(), contract.beta());
  evidence.required_n =
      n_lags + std::max(kMinLagPairs, sample_count(lambda / (contract.tau() * contract.tau())));
  const std::int64_t pairs = evidence.n - n_lags;
  if (pairs < kMinLagPairs) {
    return not_testable(contract, std::move(evidence),
                        "the sequence has fewer than " + std::to_string(kMinLagPairs) +
                            " pairs at the largest lag");
  }
  if (std::all_of(pit.begin(), pit.end(), [&](double u) { return u == pit[0]; })) {
    return fail_forbidden(contract, std::move(evidence), "frozen: all values are the same");
  }
  evidence.statistic = ljung_box_statistic(pit, n_lags);
  evidence.p_value = chi_squared_sf(evidence.statistic, n_lags);
  evidence.min_detectable = std::sqrt(lambda / static_cast<double>(pairs));
  return decide(contract, evidence);
}

TestResult runs_test(const Contract& contract, const LaggedProducts& products) {
  Evidence evidence;
  evidence.statistic_name = "changes of side";
  evidence.drift_kind = kDriftSerial;
  evidence.n = products.n_pairs(1);
  evidence.statistic = static_cast<double>(products.n_changes());
  // The correlation of two fair signs is 1 - 2 P(change).
  evidence.required_n =
      binomial_required_n(0.5, contract.alpha(), contract.beta(), 0.5 * contract.tau());
  if (evidence.n == 0) {
    return not_testable(contract, std::move(evidence), "no sequence has two values");
  }
  evidence.p_value = binomial_two_sided_p(products.n_changes(), evidence.n, 0.5);
  evidence.min_detectable =
      2.0 * binomial_min_detectable(evidence.n, 0.5, contract.alpha(), contract.beta());
  return decide(contract, evidence);
}

TestResult runs_test(const Contract& contract, std::span<const double> pit) {
  LaggedProducts products(1);
  for (double u : pit) products.add(u);
  return runs_test(contract, products);
}

}  // namespace specbench::stats
