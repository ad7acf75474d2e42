#include "stats/monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stats/binomial.h"
#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

double p_of_rank(std::int64_t n_at_least, std::int64_t n_simulated) {
  return static_cast<double>(1 + n_at_least) / static_cast<double>(1 + n_simulated);
}

bool can_reject(std::int64_t n_simulated, double alpha) {
  return p_of_rank(0, n_simulated) < alpha;
}

std::string too_few_simulations(double alpha) {
  return "too few simulations to reach alpha; needs " +
         std::to_string(sample_count(std::floor(1.0 / alpha) + 1.0)) + " or more";
}

// Lower bound on the probability that a drifted statistic is rejected.
double power_bound(double alpha, std::span<const double> null_statistics,
                   std::span<const double> drifted) {
  if (drifted.empty()) return 0.0;
  std::vector<double> sorted(null_statistics.begin(), null_statistics.end());
  std::sort(sorted.begin(), sorted.end());
  std::int64_t n_caught = 0;
  for (double statistic : drifted) {
    require(!std::isnan(statistic), "monte_carlo_test", "a drifted statistic is not a number");
    const auto n_at_least =
        sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), statistic);
    if (p_of_rank(n_at_least, static_cast<std::int64_t>(sorted.size())) < alpha) ++n_caught;
  }
  return clopper_pearson_lower(n_caught, static_cast<std::int64_t>(drifted.size()), alpha);
}

// Both samples in one vector, centred, with what stays the same under relabeling.
struct PooledValues {
  std::vector<double> x;
  std::size_t n_first = 0;
  double sd = 0.0;
};

PooledValues pool_values(std::span<const double> a, std::span<const double> b) {
  PooledValues pooled;
  pooled.x.assign(a.begin(), a.end());
  pooled.x.insert(pooled.x.end(), b.begin(), b.end());
  pooled.n_first = a.size();
  const auto n = static_cast<double>(pooled.x.size());
  double sum = 0.0;
  for (double x : pooled.x) sum += x;
  double squares = 0.0;
  for (double& x : pooled.x) {
    x -= sum / n;
    squares += x * x;
  }
  pooled.sd = std::sqrt(squares / n);
  return pooled;
}

// |mean of the first n_first - mean of the rest| of centred values.
double mean_difference(const PooledValues& pooled) {
  double first = 0.0;
  double rest = 0.0;
  for (std::size_t i = 0; i < pooled.x.size(); ++i)
    (i < pooled.n_first ? first : rest) += pooled.x[i];
  return std::fabs(first / static_cast<double>(pooled.n_first) -
                   rest / static_cast<double>(pooled.x.size() - pooled.n_first));
}

// A uniformly random set of n_first values comes first (Fisher and Yates, as far as it matters).
void relabel(PooledValues& pooled, const UniformSource& uniform) {
  const std::size_t n = pooled.x.size();
  for (std::size_t i = 0; i < pooled.n_first && i + 1 < n; ++i) {
    const double u = uniform();
    require(u >= 0.0 && u < 1.0, "permutation_test", "the source must give values in [0, 1)", u);
    const auto step = static_cast<std::size_t>(u * static_cast<double>(n - i));
    std::swap(pooled.x[i], pooled.x[std::min(i + step, n - 1)]);
  }
}

}  // namespace

double monte_carlo_p(double observed, std::span<const double> simulated) {
  require(!std::isnan(observed), "monte_carlo_p", "the observed statistic is not a number");
  std::int64_t n_at_least = 0;
  for (double statistic : simulated) {
    require(!std::isnan(statistic), "monte_carlo_p", "a simulated statistic is not a number");
    if (statistic >= observed) ++n_at_least;
  }
  return p_of_rank(n_at_least, static_cast<std::int64_t>(simulated.size()));
}

TestResult monte_carlo_test(const Contract& contract, double observed,
                            std::span<const double> null_statistics,
                            std::span<const double> drifted_statistics, std::int64_t n,
                            const std::string& drift_kind) {
  require(!drift_kind.empty(), "monte_carlo_test", "the kind of drift must be said");
  require(n >= 0, "monte_carlo_test", "n must not be negative", static_cast<double>(n));
  Evidence evidence;
  evidence.statistic_name = "simulated rank";
  evidence.drift_kind = drift_kind;
  evidence.n = n;
  evidence.statistic = observed;
  evidence.required_n = kNoSampleSuffices;
  evidence.p_value = monte_carlo_p(observed, null_statistics);
  if (!can_reject(static_cast<std::int64_t>(null_statistics.size()), contract.alpha())) {
    return not_testable(contract, std::move(evidence), too_few_simulations(contract.alpha()));
  }
  const double power = power_bound(contract.alpha(), null_statistics, drifted_statistics);
  if (power >= 1.0 - contract.beta()) {
    evidence.min_detectable = contract.tau();
    evidence.required_n = n;
  }
  TestResult result = decide(contract, evidence);
  if (result.verdict == Verdict::kInconclusive) {
    result.reason = "of simulations at the drift tau only a share of " + std::to_string(power) +
                    " or more is shown to be caught; needs more observations, or more simulations";
  }
  return result;
}

TestResult permutation_test(const Contract& contract, std::span<const double> a,
                            std::span<const double> b, std::int64_t n_permutations,
                            const UniformSource& uniform) {
  require_finite_values(a, "permutation_test");
  require_finite_values(b, "permutation_test");
  require(n_permutations >= 1, "permutation_test", "needs at least one permutation",
          static_cast<double>(n_permutations));
  PooledValues pooled = pool_values(a, b);
  const auto n = static_cast<double>(pooled.x.size());
  const double harmonic = 1.0 / static_cast<double>(a.size()) + 1.0 / static_cast<double>(b.size());
  const double shift = normal_detectable_shift(contract.alpha(), contract.beta());
  const double scaled = shift / contract.tau();
  Evidence evidence;
  evidence.statistic_name = "permuted difference of means";
  evidence.drift_kind = kDriftStandardMean;
  evidence.n = static_cast<std::int64_t>(pooled.x.size());
  evidence.min_detectable = shift * std::sqrt(harmonic);
  evidence.required_n = sample_count(scaled * scaled * harmonic * n);
  if (!can_reject(n_permutations, contract.alpha())) {
    return not_testable(contract, std::move(evidence), too_few_simulations(contract.alpha()));
  }
  if (pooled.sd == 0.0) {
    return not_testable(contract, std::move(evidence), "all values are the same");
  }
  const double observed = mean_difference(pooled);
  const double at_least = observed - 1e-12 * pooled.sd;  // the order of a sum is no difference
  std::int64_t n_at_least = 0;
  for (std::int64_t i = 0; i < n_permutations; ++i) {
    relabel(pooled, uniform);
    if (mean_difference(pooled) >= at_least) ++n_at_least;
  }
  evidence.statistic = observed / pooled.sd;
  evidence.p_value = p_of_rank(n_at_least, n_permutations);
  return decide(contract, evidence);
}

}  // namespace specbench::stats
