// What the tests of this folder share: relative comparison and a random source. For *_test.cc only;
// knows no GoogleTest.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace specbench::stats::testing {

// |actual - expected| / |expected|; 0 where both are below 1e-300, where doubles lose their digits.
inline double relative_error(double actual, double expected) {
  if (std::fabs(actual) < 1e-300 && std::fabs(expected) < 1e-300) return 0.0;
  return std::fabs(actual - expected) / std::fabs(expected);
}

// Uniform doubles with 53 bits, the same on every standard library.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : engine_(seed) {}
  double next() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  bool bit(double p) { return next() < p; }
  // Index drawn from a law by inversion.
  std::size_t draw(std::span<const double> law) {
    double u = next();
    for (std::size_t i = 0; i + 1 < law.size(); ++i) {
      if (u < law[i]) return i;
      u -= law[i];
    }
    return law.size() - 1;
  }

 private:
  std::mt19937_64 engine_;
};

inline std::vector<std::int64_t> draw_counts(Uniform& random, std::span<const double> law, int n) {
  std::vector<std::int64_t> counts(law.size(), 0);
  for (int i = 0; i < n; ++i) ++counts[random.draw(law)];
  return counts;
}

// p-values of 2,000 null seeds: their distance from uniform must stay below the 1e-6 critical value
// of D_2000.
inline double largest_allowed_distance(std::size_t n_seeds) {
  return std::sqrt(std::log(2.0 / 1e-6) / (2.0 * static_cast<double>(n_seeds)));
}

}  // namespace specbench::stats::testing
