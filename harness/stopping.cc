#include "harness/stopping.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace specbench::harness {

double median(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

void WarmupRule::add_window(const std::vector<double>& arm_medians) {
  assert(n_windows_ == 0 || arm_medians.size() == last_.size());
  has_converged_ = n_windows_ > 0;
  for (std::size_t arm = 0; has_converged_ && arm < arm_medians.size(); ++arm) {
    const double larger = std::max(std::abs(arm_medians[arm]), std::abs(last_[arm]));
    // Two equal windows have settled even at zero, where no relative difference exists.
    const double difference = std::abs(arm_medians[arm] - last_[arm]);
    has_converged_ = difference == 0 || difference < tolerance_ * larger;
  }
  last_ = arm_medians;
  ++n_windows_;
}

}  // namespace specbench::harness
