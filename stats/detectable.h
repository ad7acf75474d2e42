// How small a shift a bound over few values would have found: what a gate that passed can promise.
// Must not decide a verdict: it resamples what was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace specbench::stats {

struct DetectablePlan {
  double miss = 0.002;     // one-sided level of the bound, inside (0, 1/2)
  double threshold = 0.0;  // the bound must lie above it, in the values' unit
  double power = 0.9;      // inside (0, 1)
  int n_resamples = 2000;  // >= 1
  std::uint64_t seed = 1;  // same seed, same answer on every machine (own generator)
};

// Smallest true shift of the median whose lower order-statistic bound (median_interval) over
// values.size() values would lie above plan.threshold with probability plan.power, in the values'
// unit. Values less their median are resampled, smoothed by a kernel of Silverman's width (order
// statistics need tails that few values do not show); a shift adds to the bound exactly, so one set
// of resamples answers for every shift. Empty if there are too few values for a bound at plan.miss.
// Values of no spread give plan.threshold itself: any shift beyond it. Throws
// std::invalid_argument for no values, values that are not finite or a plan out of range.
std::optional<double> min_detectable_shift(std::span<const double> values,
                                           const DetectablePlan& plan);

}  // namespace specbench::stats
