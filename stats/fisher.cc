#include "stats/fisher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

constexpr double kSmallestWeight = 1e-290;  // relative to the mode; the rest is not kept
constexpr double kTie = 1.0 + 1e-9;
constexpr double kLargestExactPlan = 1e7;

void require_rates(const TwoRates& rates, const char* where) {
  require(rates.k_first >= 0 && rates.k_first <= rates.n_first, where,
          "events of the first group must lie in [0, trials]", static_cast<double>(rates.k_first));
  require(rates.k_second >= 0 && rates.k_second <= rates.n_second, where,
          "events of the second group must lie in [0, trials]",
          static_cast<double>(rates.k_second));
}

bool has_empty_margin(const TwoRates& rates) {
  const std::int64_t k = rates.k_first + rates.k_second;
  return rates.n_first == 0 || rates.n_second == 0 || k == 0 || k == rates.n_first + rates.n_second;
}

// The law of the first group's events given both margins.
struct Hypergeometric {
  std::int64_t first_k = 0;     // value of weights[0]
  std::vector<double> weights;  // probability over that of the mode
  double total = 0.0;

  std::int64_t last_k() const { return first_k + static_cast<std::int64_t>(weights.size()) - 1; }
};

// By the ratios of neighbours, outwards from the mode: no large logarithm loses digits.
Hypergeometric hypergeometric(const TwoRates& rates) {
  const auto n1 = static_cast<double>(rates.n_first);
  const auto n2 = static_cast<double>(rates.n_second);
  const auto k = static_cast<double>(rates.k_first + rates.k_second);
  const double low = std::max(0.0, k - n2);
  const double high = std::min(n1, k);
  const double mode = std::clamp(std::floor((n1 + 1.0) * (k + 1.0) / (n1 + n2 + 2.0)), low, high);
  std::vector<double> below;
  double x = mode;
  for (double weight = 1.0; x > low; x -= 1.0) {
    weight *= x * (n2 - k + x) / ((n1 - x + 1.0) * (k - x + 1.0));
    if (weight < kSmallestWeight) break;
    below.push_back(weight);
  }
  Hypergeometric law;
  law.first_k = static_cast<std::int64_t>(mode) - static_cast<std::int64_t>(below.size());
  law.weights.assign(below.rbegin(), below.rend());
  law.weights.push_back(1.0);
  x = mode;
  for (double weight = 1.0; x < high; x += 1.0) {
    weight *= (n1 - x) * (k - x) / ((x + 1.0) * (n2 - k + x + 1.0));
    if (weight < kSmallestWeight) break;
    law.weights.push_back(weight);
  }
  for (double weight : law.weights) law.total += weight;
  return law;
}

double two_sided_p(const Hypergeometric& law, std::int64_t k) {
  // Outside the kept range each of fewer than 2^63 tables is below kSmallestWeight.
  if (k < law.first_k || k > law.last_k()) return 1e19 * kSmallestWeight;
  const double at_most = law.weights[static_cast<std::size_t>(k - law.first_k)] * kTie;
  double sum = 0.0;
  for (double weight : law.weights) sum += weight <= at_most ? weight : 0.0;
  return std::min(1.0, sum / law.total);
}

// Largest index left of the mode and smallest right of it that are rejected; -1 and size: none.
std::pair<std::int64_t, std::int64_t> critical_indices(const Hypergeometric& law, double alpha) {
  const auto size = static_cast<std::int64_t>(law.weights.size());
  const auto is_rejected = [&](std::int64_t i) {
    return two_sided_p(law, law.first_k + i) < alpha;
  };
  const std::int64_t mode =
      std::max_element(law.weights.begin(), law.weights.end()) - law.weights.begin();
  std::int64_t low = -1, kept = mode;
  while (kept - low > 1) {
    const std::int64_t middle = low + (kept - low) / 2;
    (is_rejected(middle) ? low : kept) = middle;
  }
  std::int64_t high = size;
  kept = mode;
  while (high - kept > 1) {
    const std::int64_t middle = kept + (high - kept) / 2;
    (is_rejected(middle) ? high : kept) = middle;
  }
  return {low, high};
}

// P(rejected on the side of the drift) when the odds ratio is exp(log_odds). The other side counts
// nothing.
double power_at(const std::vector<double>& log_weights,
                std::pair<std::int64_t, std::int64_t> critical, double log_odds) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < log_weights.size(); ++i)
    largest = std::max(largest, log_weights[i] + log_odds * static_cast<double>(i));
  double rejected = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    const double weight = std::exp(log_weights[i] + log_odds * static_cast<double>(i) - largest);
    total += weight;
    const auto index = static_cast<std::int64_t>(i);
    if (log_odds < 0.0 ? index <= critical.first : index >= critical.second) rejected += weight;
  }
  return rejected / total;
}

// Difference of the rates with this odds ratio and the observed total of events.
double rate_difference(const TwoRates& rates, double odds_ratio) {
  const auto n1 = static_cast<double>(rates.n_first);
  const auto n2 = static_cast<double>(rates.n_second);
  const auto k = static_cast<double>(rates.k_first + rates.k_second);
  const double b = odds_ratio * (n1 + k) + n2 - k;
  const double product = odds_ratio * n1 * k;
  const double root = std::sqrt(std::max(0.0, b * b - 4.0 * (odds_ratio - 1.0) * product));
  const double k_first = 2.0 * product / (b + root);
  return std::fabs(k_first / n1 - (k - k_first) / n2);
}

std::int64_t required_trials(const Contract& contract, const TwoRates& rates) {
  const auto n = static_cast<double>(rates.n_first + rates.n_second);
  const double share = static_cast<double>(rates.n_first) / n;
  const double rate = static_cast<double>(rates.k_first + rates.k_second) / n;
  const double shift = normal_detectable_shift(contract.alpha(), contract.beta());
  const double tau = contract.tau();
  double needed =
      std::ceil(shift * shift * rate * (1.0 - rate) / (share * (1.0 - share) * tau * tau));
  while (needed < kLargestExactPlan) {
    TwoRates plan;  // only the margins count
    plan.n_first = std::llround(needed * share);
    plan.n_second = std::llround(needed) - plan.n_first;
    const std::int64_t k = std::llround(needed * rate);
    plan.k_first = std::min(k, plan.n_first);
    plan.k_second = k - plan.k_first;
    const double drift = fisher_min_detectable(plan, contract.alpha(), contract.beta());
    if (drift <= tau) break;
    needed = std::ceil(std::max(needed + 1.0, std::min(2.0, drift * drift / (tau * tau)) * needed));
  }
  return sample_count(needed);
}

}  // namespace

double fisher_exact_p(const TwoRates& rates) {
  require_rates(rates, "fisher_exact_p");
  if (has_empty_margin(rates)) return 1.0;
  return two_sided_p(hypergeometric(rates), rates.k_first);
}

double fisher_min_detectable(const TwoRates& rates, double alpha, double beta) {
  require_rates(rates, "fisher_min_detectable");
  require(is_open_unit(alpha), "fisher_min_detectable", "alpha must lie inside (0, 1)", alpha);
  require(is_open_unit(beta), "fisher_min_detectable", "beta must lie inside (0, 1)", beta);
  if (has_empty_margin(rates)) return 1.0;
  const Hypergeometric law = hypergeometric(rates);
  const auto critical = critical_indices(law, alpha);
  std::vector<double> log_weights;
  for (double weight : law.weights) log_weights.push_back(std::log(weight));
  constexpr double kLargestLogOdds = 60.0;
  double drift = 0.0;
  for (const double sign : {-1.0, 1.0}) {
    const auto is_caught = [&](double size) {
      return power_at(log_weights, critical, sign * size) >= 1.0 - beta;
    };
    if (!is_caught(kLargestLogOdds)) return 1.0;
    double few = 0.0, enough = kLargestLogOdds;
    while (enough - few > 1e-9 * enough) {
      const double middle = 0.5 * (few + enough);
      (is_caught(middle) ? enough : few) = middle;
    }
    drift = std::max(drift, rate_difference(rates, std::exp(sign * enough)));
  }
  return std::min(1.0, drift);
}

TestResult fisher_exact_test(const Contract& contract, const TwoRates& rates) {
  require_rates(rates, "fisher_exact_test");
  Evidence evidence;
  evidence.statistic_name = "Fisher's exact difference of rates";
  evidence.drift_kind = kDriftRateDifference;
  evidence.n = rates.n_first + rates.n_second;
  evidence.required_n = kNoSampleSuffices;
  require(evidence.n >= 1, "fisher_exact_test", "there are no trials");
  if (has_empty_margin(rates)) {
    return not_testable(contract, std::move(evidence),
                        "a group has no trials, or all trials or none are events, so there is "
                        "nothing to compare");
  }
  evidence.statistic = static_cast<double>(rates.k_first) / static_cast<double>(rates.n_first) -
                       static_cast<double>(rates.k_second) / static_cast<double>(rates.n_second);
  evidence.p_value = fisher_exact_p(rates);
  evidence.min_detectable = fisher_min_detectable(rates, contract.alpha(), contract.beta());
  evidence.required_n = required_trials(contract, rates);
  return decide(contract, evidence);
}

}  // namespace specbench::stats
