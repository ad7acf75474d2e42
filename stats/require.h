// Turns a broken requirement of this folder into an exception. For .cc files; not a way to report a
// verdict.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace specbench::stats {

// Throws std::invalid_argument("<where>: <what> (got <value>)") unless the condition holds.
inline void require(bool condition, const char* where, const char* what) {
  if (!condition) throw std::invalid_argument(std::string(where) + ": " + what);
}
inline void require(bool condition, const char* where, const char* what, double value) {
  if (condition) return;
  throw std::invalid_argument(std::string(where) + ": " + what + " (got " + std::to_string(value) +
                              ")");
}

inline bool is_open_unit(double x) { return x > 0.0 && x < 1.0; }
inline bool is_probability(double x) { return x >= 0.0 && x <= 1.0; }

// A law: not empty, every entry finite and >= 0, sum 1 within 1e-9 (compensated by long double).
void require_law(std::span<const double> probs, const char* where);
// Counts: as many as outcomes, none negative, at least one draw. Returns the number of draws.
std::int64_t require_counts(std::span<const std::int64_t> observed, std::size_t n_outcomes,
                            const char* where);
// Values: at least one, all finite.
void require_finite_values(std::span<const double> values, const char* where);

}  // namespace specbench::stats
