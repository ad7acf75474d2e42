#include "stats/wilcoxon.h"

#include <algorithm>
#include <vector>

#include "stats/require.h"
#include "stats/summary.h"

namespace specbench::stats {
namespace {

// P(W = w) for w in [0, n (n + 1) / 2].
std::vector<double> signed_rank_law(std::int64_t n) {
  std::vector<double> law(static_cast<std::size_t>(n * (n + 1) / 2 + 1), 0.0);
  law[0] = 1.0;
  std::size_t top = 0;
  for (std::size_t rank = 1; rank <= static_cast<std::size_t>(n); ++rank) {
    top += rank;
    // Downwards, so that law[w - rank] is still the law of the ranks below.
    for (std::size_t w = top + 1; w-- > 0;) {
      law[w] = 0.5 * (law[w] + (w >= rank ? law[w - rank] : 0.0));
    }
  }
  return law;
}

void require_n(std::int64_t n, const char* where) {
  require(n >= 1 && n <= kMaxSignedRank, where, "the number of values must lie in 1..1000",
          static_cast<double>(n));
}

std::vector<double> sorted_walsh_averages(std::span<const double> values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) {
      averages.push_back(values[i] + 0.5 * (values[j] - values[i]));
    }
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

}  // namespace

double signed_rank_lower_tail(std::int64_t w, std::int64_t n) {
  require_n(n, "signed_rank_lower_tail");
  if (w < 0) return 0.0;
  if (w >= n * (n + 1) / 2) return 1.0;
  const std::vector<double> law = signed_rank_law(n);
  double sum = 0.0;
  for (std::int64_t i = 0; i <= w; ++i) sum += law[static_cast<std::size_t>(i)];
  return sum;
}

std::optional<Interval> wilcoxon_interval(std::span<const double> values, double level) {
  require(is_open_unit(level), "wilcoxon_interval", "the level must lie inside (0, 1)", level);
  require_finite_values(values, "wilcoxon_interval");
  require_n(static_cast<std::int64_t>(values.size()), "wilcoxon_interval");
  // The tolerance absorbs the rounding of 1 - level where a coverage meets it exactly.
  const double miss = 0.5 * (1.0 - level) * (1.0 + 1e-9);
  const std::vector<double> law = signed_rank_law(static_cast<std::int64_t>(values.size()));
  std::size_t k = 0;
  double below = 0.0;  // P(W < k)
  while (k < law.size() && below + law[k] <= miss) below += law[k++];
  if (k == 0) return std::nullopt;
  const std::vector<double> averages = sorted_walsh_averages(values);
  return Interval{median(averages), averages[k - 1], averages[averages.size() - k],
                  1.0 - 2.0 * below};
}

}  // namespace specbench::stats
