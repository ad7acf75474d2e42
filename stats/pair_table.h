// Pairs (u, v) of probability integral transforms in 8 x 8 equal cells, in constant memory: are
// both uniform and independent? Accept coin against residual, U_t against U_t+1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/contract.h"

namespace specbench::stats {

class PairTable {
 public:
  static constexpr std::size_t kSide = 8;

  // u, v in [0, 1]; 1 counts to the last cell. Throws std::invalid_argument if outside or NaN.
  void add(double u, double v);
  void merge(const PairTable& other);

  std::int64_t n() const { return n_; }
  // [kSide x kSide], u by rows.
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  std::array<std::int64_t, kSide * kSide> counts_{};
  std::int64_t n_ = 0;
};

// Tests that u and v are uniform and independent: pearson_uniform_test of the 64 cells (df 63).
// Requires that pairs are independent of each other, so no value may stand in two pairs: of one
// sequence only (0, 1), (2, 3), ... Throws std::invalid_argument if nothing was added.
TestResult pair_uniform_test(const Contract& contract, const PairTable& pairs);

// Tests that u and v are independent, given that each is uniform: Pearson's statistic of the 64
// cells less those of the two margins, upper tail of chi-squared with df (8 - 1)^2 = 49 (the
// interaction terms of the orthonormal expansion, each of mean 0 and variance n). Holds for
// overlapping pairs (0, 1), (1, 2), ... too, whose terms stay uncorrelated while Pearson's own
// statistic is not chi-squared (Good 1953). Blind to a drift of the margins: see pit_accumulator.h.
// Drift: total variation between the joint law and what its margins explain, lambda >= 4 n TV^2.
// INCONCLUSIVE below min_expected_count(alpha) a cell. Throws like pair_uniform_test.
TestResult pair_independence_test(const Contract& contract, const PairTable& pairs);

}  // namespace specbench::stats
