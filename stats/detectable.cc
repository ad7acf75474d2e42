#include "stats/detectable.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "stats/require.h"
#include "stats/summary.h"

namespace specbench::stats {
namespace {

// splitmix64's mixing; a draw is a function of its key. Whole numbers only, so the same on every
// machine.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Numbers one after another, keyed by seed and resample.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t resample) : key_(mix(mix(seed) ^ resample)) {}
  // Uniform in [0, count) but for a bias below count / 2^64.
  std::size_t index(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  // Mean 0, variance 1: three uniforms, near enough to normal and free of library functions.
  double kernel() { return 2.0 * (uniform() + uniform() + uniform() - 1.5); }

 private:
  std::uint64_t next() { return mix(key_ ^ n_++); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  std::uint64_t key_;
  std::uint64_t n_ = 0;
};

// Which order statistic, from 0, is median_interval's lower end; it depends on n and level alone.
std::optional<std::size_t> lower_rank(std::size_t n, double level) {
  std::vector<double> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0.0);
  const std::optional<Interval> interval = median_interval(ranks, level);
  if (!interval) return std::nullopt;
  return static_cast<std::size_t>(interval->lower);
}

void require_plan(const DetectablePlan& plan) {
  constexpr const char* kWhere = "min_detectable_shift";
  require(plan.miss > 0.0 && plan.miss < 0.5, kWhere, "the miss must lie inside (0, 1/2)",
          plan.miss);
  require(std::isfinite(plan.threshold), kWhere, "the threshold must be finite", plan.threshold);
  require(is_open_unit(plan.power), kWhere, "the power must lie inside (0, 1)", plan.power);
  require(plan.n_resamples >= 1, kWhere, "n_resamples must be at least 1", plan.n_resamples);
}

}  // namespace

std::optional<double> min_detectable_shift(std::span<const double> values,
                                           const DetectablePlan& plan) {
  require_plan(plan);
  require_finite_values(values, "min_detectable_shift");
  const std::optional<std::size_t> rank = lower_rank(values.size(), 1.0 - 2.0 * plan.miss);
  if (!rank) return std::nullopt;
  const double centre = median(values);
  // Silverman's width. Without it the least of ten resampled values is never below the least of the
  // ten seen, and the promise would be kept half as often as it says.
  const double n = static_cast<double>(values.size());
  const double width = 1.06 * std::sqrt(variance(values)) * std::pow(n, -0.2);
  std::vector<double> drawn(values.size());
  std::vector<double> bounds(static_cast<std::size_t>(plan.n_resamples));
  for (std::size_t r = 0; r < bounds.size(); ++r) {
    Draws draws(plan.seed, r);
    for (double& x : drawn) {
      x = values[draws.index(values.size())] - centre + width * draws.kernel();
    }
    const auto bound = drawn.begin() + static_cast<std::ptrdiff_t>(*rank);
    std::nth_element(drawn.begin(), bound, drawn.end());
    bounds[r] = *bound;
  }
  // The bound reached by a share `power` of the resamples: the highest with that many at or above.
  std::sort(bounds.begin(), bounds.end(), std::greater<>());
  const double reached = std::ceil(plan.power * static_cast<double>(bounds.size()) * (1.0 - 1e-12));
  return plan.threshold - bounds[static_cast<std::size_t>(reached) - 1];
}

}  // namespace specbench::stats
