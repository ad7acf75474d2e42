// Judges p-values themselves: those of a test whose null hypothesis holds must not be smaller than
// they say.
#pragma once

#include <cstdint>
#include <span>

namespace specbench::stats {

inline constexpr double kFarTail = 1e-3;

// What a sample of p-values shows. Mergeable.
struct PValueTail {
  std::int64_t n = 0;
  std::int64_t n_below_05 = 0;   // below .05
  std::int64_t n_below_01 = 0;   // below .01
  std::int64_t n_below_far = 0;  // below kFarTail
  double excess = 0.0;           // max over t of F_n(t) - t, at least 0

  void merge(const PValueTail& other);  // excess: the larger one
};

// Throws std::invalid_argument if a value is outside [0, 1] or NaN, or there is none.
PValueTail p_value_tail(std::span<const double> p_values);

// Whether independent p-values are smaller than a valid test gives with probability `level`: the
// excess is beyond its one-sided bound sqrt(ln(2/level) / 2n) (Dvoretzky-Kiefer-Wolfowitz with
// Massart's constant), or the far tail beyond its exact binomial one; each has half the level.
// Conservative (discrete) p-values pass.
bool are_too_small(const PValueTail& tail, double level);

}  // namespace specbench::stats
