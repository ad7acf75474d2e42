#include "engine/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace specbench::engine {

namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

/// Kept where a pair turns at least high_freq_factor times within the trained length, scaled where
/// at most low_freq_factor times, blended linearly in the number of turns between.
double llama3_frequency(double frequency, const RopeScaling& scaling) {
  const double turns = scaling.original_positions * frequency / kTurn;
  if (turns > scaling.high_freq_factor) return frequency;
  if (turns < scaling.low_freq_factor) return frequency / scaling.factor;
  const double kept =
      (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0 - kept) * frequency / scaling.factor + kept * frequency;
}

/// The pair, as a real number, that turns `n_turns` times within the trained length.
double yarn_pair(double n_turns, int head_dim, double theta, const RopeScaling& scaling) {
  return head_dim * std::log(scaling.original_positions / (n_turns * kTurn)) /
         (2.0 * std::log(theta));
}

/// From which pair on frequencies are scaled in part, and from which in full. The upper bound on
/// the second is the one of the published code, twice the number of pairs.
struct Ramp {
  double begin, end;
};
Ramp yarn_ramp(int head_dim, double theta, const RopeScaling& scaling) {
  Ramp ramp{
      std::max(std::floor(yarn_pair(scaling.beta_fast, head_dim, theta, scaling)), 0.0),
      std::min(std::ceil(yarn_pair(scaling.beta_slow, head_dim, theta, scaling)), head_dim - 1.0)};
  if (ramp.begin == ramp.end) ramp.end += 0.001;
  return ramp;
}

}  // namespace

RopeAngles rope_angles(int head_dim, double theta, const RopeScaling& scaling) {
  using Kind = RopeScaling::Kind;
  RopeAngles angles;
  Ramp ramp{0.0, 1.0};
  if (scaling.kind == Kind::kYarn) {
    ramp = yarn_ramp(head_dim, theta, scaling);
    const double by_length = scaling.factor > 1.0 ? 0.1 * std::log(scaling.factor) + 1.0 : 1.0;
    angles.magnitude = scaling.attention_factor.value_or(by_length);
  }
  for (int i = 0; i < head_dim / 2; ++i) {
    double frequency = std::pow(theta, -2.0 * i / head_dim);
    if (scaling.kind == Kind::kLinear) frequency /= scaling.factor;
    if (scaling.kind == Kind::kLlama3) frequency = llama3_frequency(frequency, scaling);
    if (scaling.kind == Kind::kYarn) {
      const double scaled = std::clamp((i - ramp.begin) / (ramp.end - ramp.begin), 0.0, 1.0);
      frequency = frequency / scaling.factor * scaled + frequency * (1.0 - scaled);
    }
    angles.frequencies.push_back(frequency);
  }
  return angles;
}

}  // namespace specbench::engine
