#include "stats/collisions.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "stats/power.h"
#include "stats/require.h"
#include "stats/z_test.h"

namespace specbench::stats {
namespace {

// exp(-mean), and that of an alternative twice as large, in the range of a long double of 80 bits.
constexpr double kLargestSummedMean = 4000.0;
constexpr std::size_t kSizes = CollisionLaw::kLargestCluster + 1;

constexpr double pairs_of(std::size_t cluster) {
  return 0.5 * static_cast<double>(cluster) * static_cast<double>(cluster - 1);
}

using Rates = std::array<double, kSizes>;  // [x] of outcomes drawn x times

// sum pairs^order rate: mean, variance and third cumulant of C.
double cumulant(const Rates& rates, int order) {
  double sum = 0.0;
  for (std::size_t x = 2; x < kSizes; ++x) sum += std::pow(pairs_of(x), order) * rates[x];
  return sum;
}

Rates scaled(Rates rates, double factor) {
  for (double& rate : rates) rate *= factor;
  return rates;
}

// Tails of C by the recursion k P(k) = sum over x of pairs_x rate_x P(k - pairs_x) (Panjer 1981).
class ClusterTails {
 public:
  explicit ClusterTails(const Rates& rates) {
    double total = 0.0;
    for (std::size_t x = 2; x < kSizes; ++x) total += rates[x];
    const double far = cumulant(rates, 1) + 60.0 + 60.0 * std::sqrt(cumulant(rates, 2));
    std::vector<long double> pmf = {std::exp(-static_cast<long double>(total))};
    for (std::size_t k = 1; static_cast<double>(k) < far; ++k) {
      long double sum = 0.0L;
      for (std::size_t x = 2; x < kSizes && x * (x - 1) / 2 <= k; ++x)
        sum += pairs_of(x) * rates[x] * pmf[k - x * (x - 1) / 2];
      pmf.push_back(sum / static_cast<long double>(k));
    }
    lower_.assign(pmf.begin(), pmf.end());
    upper_ = lower_;
    for (std::size_t k = 1; k < pmf.size(); ++k) lower_[k] += lower_[k - 1];
    for (std::size_t k = pmf.size() - 1; k > 0; --k) upper_[k - 1] += upper_[k];
  }
  double lower(std::int64_t k) const { return k < 0 ? 0.0 : at(lower_, k, 1.0); }
  double upper(std::int64_t k) const { return k <= 0 ? 1.0 : at(upper_, k, upper_.back()); }
  std::int64_t size() const { return static_cast<std::int64_t>(lower_.size()); }

 private:
  static double at(const std::vector<double>& tail, std::int64_t k, double beyond) {
    const auto index = static_cast<std::size_t>(k);
    return std::min(1.0, index < tail.size() ? tail[index] : beyond);
  }
  std::vector<double> lower_;  // P(C <= k)
  std::vector<double> upper_;  // P(C >= k)
};

// Smallest factor above 1 (or largest below, if caught is below kept) at which is_caught holds.
template <typename IsCaught>
double boundary(double kept, double caught, const IsCaught& is_caught) {
  while (std::fabs(caught - kept) > 1e-4 * std::max(1.0, caught)) {
    const double middle = 0.5 * (kept + caught);
    (is_caught(middle) ? caught : kept) = middle;
  }
  return caught;
}

// Relative change of the rates caught in either direction; a decrease that nothing catches
// counts 1.
double min_detectable(const CollisionLaw& law, double alpha, double beta) {
  const Rates& rates = law.clusters;
  if (law.mean > kLargestSummedMean)
    return normal_detectable_shift(alpha, beta) * std::sqrt(cumulant(rates, 2)) / law.mean;
  const ClusterTails null(rates);
  std::int64_t many = 0, few = -1;  // rejected from `many` up and from `few` down
  while (many < null.size() && 2.0 * null.upper(many) >= alpha) ++many;
  while (few + 1 < null.size() && 2.0 * null.lower(few + 1) < alpha) ++few;
  const auto rises = [&](double factor) {
    return ClusterTails(scaled(rates, factor)).upper(many) >= 1.0 - beta;
  };
  const auto falls = [&](double factor) {
    return ClusterTails(scaled(rates, factor)).lower(few) >= 1.0 - beta;
  };
  double enough = 2.0;
  while (enough < 1e12 && !rises(enough)) enough *= 2.0;  // hopeless: hardly any pair expected
  const double upward = boundary(1.0, enough, rises) - 1.0;
  return std::max(upward, few < 0 ? 1.0 : 1.0 - boundary(1.0, 0.0, falls));
}

// Smallest n whose tail expects so many pairs; kNoSampleSuffices if none does. Between two sizes at
// which an outcome leaves the tail the pairs grow as n^2.
std::int64_t n_with_pairs(const std::vector<double>& rarest_first, double pairs) {
  std::vector<double> squares;  // sums over the i + 1 rarest
  squares.reserve(rarest_first.size());
  for (double p : rarest_first) squares.push_back(p * p + (squares.empty() ? 0.0 : squares.back()));
  for (std::size_t i = rarest_first.size(); i-- > 0;) {
    const double largest_n = std::floor(kMaxExpectedInTail / rarest_first[i] * (1.0 - 1e-12));
    const double smallest_n =
        i + 1 < rarest_first.size() ? kMaxExpectedInTail / rarest_first[i + 1] : 1.0;
    const double needed = std::max(std::sqrt(2.0 * pairs / squares[i]) + 1.0, smallest_n);
    if (std::ceil(needed) <= largest_n) return sample_count(needed);
  }
  return kNoSampleSuffices;
}

std::int64_t required_n(const Contract& contract, std::span<const double> probs) {
  std::vector<double> rarest_first;
  std::copy_if(probs.begin(), probs.end(), std::back_inserter(rarest_first),
               [](double p) { return p > 0.0; });
  std::sort(rarest_first.begin(), rarest_first.end());
  const double shift = normal_detectable_shift(contract.alpha(), contract.beta()) / contract.tau();
  // With fewer pairs than -log(alpha / 2) not even their absence is rejected.
  double pairs = std::max(shift * shift, -std::log(contract.alpha() / 2.0));
  for (int step = 0; step < 200; ++step, pairs *= 1.03) {
    const std::int64_t n = n_with_pairs(rarest_first, pairs);
    if (n == kNoSampleSuffices) break;
    const CollisionLaw law = collision_law(probs, n);
    if (min_detectable(law, contract.alpha(), contract.beta()) <= contract.tau()) return n;
  }
  return kNoSampleSuffices;
}

}  // namespace

double poisson_lower_tail(std::int64_t k, double rate) {
  require(rate > 0.0 && std::isfinite(rate), "poisson_lower_tail", "the rate must be positive",
          rate);
  return k < 0 ? 0.0 : boost::math::gamma_q(static_cast<double>(k) + 1.0, rate);
}

double poisson_upper_tail(std::int64_t k, double rate) {
  require(rate > 0.0 && std::isfinite(rate), "poisson_upper_tail", "the rate must be positive",
          rate);
  return k <= 0 ? 1.0 : boost::math::gamma_p(static_cast<double>(k), rate);
}

double poisson_two_sided_p(std::int64_t k, double rate) {
  return std::min(1.0, 2.0 * std::min(poisson_lower_tail(k, rate), poisson_upper_tail(k, rate)));
}

CollisionLaw collision_law(std::span<const double> probs, std::int64_t n) {
  require_law(probs, "collision_law");
  require(n >= 1, "collision_law", "n must be at least 1", static_cast<double>(n));
  CollisionLaw law;
  law.n = n;
  const auto draws = static_cast<double>(n);
  double squares = 0.0;
  for (double p : probs) {
    if (p <= 0.0 || p * draws > kMaxExpectedInTail) continue;
    ++law.n_outcomes;
    squares += p * p;
    double pmf = std::exp(draws * std::log1p(-p));
    for (std::size_t x = 0; x < kSizes; ++x) {
      law.clusters[x] += pmf;
      const auto drawn = static_cast<double>(x);
      pmf *= std::max(0.0, draws - drawn) / (drawn + 1.0) * p / (1.0 - p);
    }
  }
  law.mean = 0.5 * draws * (draws - 1.0) * squares;
  return law;
}

double collision_two_sided_p(const CollisionLaw& law, std::int64_t k) {
  require(k >= 0, "collision_two_sided_p", "a number of pairs must not be negative",
          static_cast<double>(k));
  require(law.mean > 0.0, "collision_two_sided_p", "the law expects no pair", law.mean);
  if (law.mean > kLargestSummedMean) {
    const double variance = cumulant(law.clusters, 2);
    return z_two_sided_p((static_cast<double>(k) - law.mean) / std::sqrt(variance),
                         cumulant(law.clusters, 3) / (variance * std::sqrt(variance)));
  }
  const ClusterTails tails(law.clusters);
  return std::min(1.0, 2.0 * std::min(tails.lower(k), tails.upper(k)));
}

TestResult collision_test(const Contract& contract, std::span<const std::int64_t> observed,
                          std::span<const double> probs) {
  Evidence evidence;
  evidence.statistic_name = "coinciding pairs";
  evidence.drift_kind = kDriftCollisionRate;
  evidence.n = require_counts(observed, probs.size(), "collision_test");
  const CollisionLaw law = collision_law(probs, evidence.n);
  evidence.required_n = required_n(contract, probs);
  std::int64_t n_pairs = 0;
  for (std::size_t i = 0; i < probs.size(); ++i) {
    if (probs[i] <= 0.0 && observed[i] > 0) {
      return fail_forbidden(contract, std::move(evidence),
                            "forbidden outcome: outcome " + std::to_string(i) +
                                " has probability 0 and was drawn " + std::to_string(observed[i]) +
                                " times");
    }
    if (probs[i] * static_cast<double>(evidence.n) > kMaxExpectedInTail) continue;
    n_pairs += observed[i] * (observed[i] - 1) / 2;
  }
  evidence.statistic = static_cast<double>(n_pairs);
  if (law.mean <= 0.0) {
    return not_testable(contract, std::move(evidence),
                        "no outcome is rare enough at this n (or n is 1), so no pair is expected");
  }
  evidence.p_value = collision_two_sided_p(law, n_pairs);
  evidence.min_detectable = min_detectable(law, contract.alpha(), contract.beta());
  return decide(contract, evidence);
}

}  // namespace specbench::stats
