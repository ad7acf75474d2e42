// Rules that decide when to stop, as plain objects: numbers in, decision out. They read no clock.
#pragma once

#include <cstdint>
#include <vector>

namespace specbench::harness {

// The middle value (mean of the two middle ones of an even count). Requires values.size() > 0.
double median(std::vector<double> values);

// Warm-up is over after at least `minimum` windows, once every arm's value in the last two differs
// by less than `tolerance` (relative to the larger), or after `maximum` windows.
class WarmupRule {
 public:
  WarmupRule(int minimum, int maximum, double tolerance)
      : minimum_(minimum), maximum_(maximum), tolerance_(tolerance) {}

  // One window: the median of each arm, in any one unit. The number of arms must not change.
  void add_window(const std::vector<double>& arm_medians);
  bool is_over() const {
    return n_windows_ >= maximum_ || (n_windows_ >= minimum_ && has_converged_);
  }
  bool has_converged() const { return has_converged_; }  // of the last two windows
  int n_windows() const { return n_windows_; }

 private:
  int minimum_;
  int maximum_;
  double tolerance_;
  std::vector<double> last_;
  int n_windows_ = 0;
  bool has_converged_ = false;
};

}  // namespace specbench::harness
