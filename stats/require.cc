#include "stats/require.h"

namespace specbench::stats {

void require_law(std::span<const double> probs, const char* where) {
  require(!probs.empty(), where, "the law is empty");
  long double sum = 0.0L;
  for (double p : probs) {
    require(std::isfinite(p) && p >= 0.0, where, "a probability is negative or not finite", p);
    sum += p;
  }
  require(std::fabs(static_cast<double>(sum - 1.0L)) <= 1e-9, where,
          "the probabilities must sum to 1 within 1e-9", static_cast<double>(sum));
}

std::int64_t require_counts(std::span<const std::int64_t> observed, std::size_t n_outcomes,
                            const char* where) {
  require(observed.size() == n_outcomes, where,
          "counts and law must have the same number of outcomes",
          static_cast<double>(observed.size()));
  std::int64_t n = 0;
  for (std::int64_t count : observed) {
    require(count >= 0, where, "a count is negative", static_cast<double>(count));
    n += count;
  }
  require(n >= 1, where, "there are no draws");
  return n;
}

void require_finite_values(std::span<const double> values, const char* where) {
  require(!values.empty(), where, "there are no values");
  for (double x : values) require(std::isfinite(x), where, "a value is not finite", x);
}

}  // namespace specbench::stats
