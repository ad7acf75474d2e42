#include "stats/holm.h"

#include <algorithm>
#include <numeric>

#include "stats/require.h"

namespace specbench::stats {

std::vector<double> holm_adjust(std::span<const double> p_values) {
  for (double p : p_values) {
    require(is_probability(p), "holm_adjust", "a p-value must lie in [0, 1]", p);
  }
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = static_cast<double>(order.size() - rank) * p_values[order[rank]];
    largest = std::max(largest, std::min(1.0, scaled));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

std::vector<bool> holm_reject(std::span<const double> p_values, double alpha) {
  require(is_open_unit(alpha), "holm_reject", "alpha must lie inside (0, 1)", alpha);
  const std::vector<double> adjusted = holm_adjust(p_values);
  std::vector<bool> is_rejected(adjusted.size());
  for (std::size_t i = 0; i < adjusted.size(); ++i) is_rejected[i] = adjusted[i] < alpha;
  return is_rejected;
}

}  // namespace specbench::stats
