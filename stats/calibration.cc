#include "stats/calibration.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/binomial.h"
#include "stats/require.h"

namespace specbench::stats {

void PValueTail::merge(const PValueTail& other) {
  n += other.n;
  n_below_05 += other.n_below_05;
  n_below_01 += other.n_below_01;
  n_below_far += other.n_below_far;
  excess = std::max(excess, other.excess);
}

PValueTail p_value_tail(std::span<const double> p_values) {
  require(!p_values.empty(), "p_value_tail", "there must be a p-value");
  std::vector<double> sorted(p_values.begin(), p_values.end());
  for (const double p : sorted)
    require(is_probability(p), "p_value_tail", "a p-value must lie in [0, 1]", p);
  std::sort(sorted.begin(), sorted.end());
  PValueTail tail;
  tail.n = static_cast<std::int64_t>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    tail.n_below_05 += sorted[i] < 0.05;
    tail.n_below_01 += sorted[i] < 0.01;
    tail.n_below_far += sorted[i] < kFarTail;
    tail.excess =
        std::max(tail.excess, static_cast<double>(i + 1) / static_cast<double>(tail.n) - sorted[i]);
  }
  return tail;
}

bool are_too_small(const PValueTail& tail, double level) {
  require(is_open_unit(level), "are_too_small", "level must lie inside (0, 1)", level);
  const double bound = std::sqrt(std::log(2.0 / level) / (2.0 * static_cast<double>(tail.n)));
  return tail.excess > bound ||
         binomial_upper_tail(tail.n_below_far, tail.n, kFarTail) < level / 2.0;
}

}  // namespace specbench::stats
