// Collects probability integral transforms one at a time in constant memory (512 KiB a stream), for
// the Kolmogorov-Smirnov and Pearson tests. Must not depend on the order of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace specbench::stats {

class PitAccumulator {
 public:
  static constexpr std::size_t kCells = std::size_t{1} << 16;
  static constexpr std::size_t kBins = 64;

  PitAccumulator();

  // u in [0, 1]; 1 (which rounding can produce) counts to the last cell.
  // Throws std::invalid_argument if u is outside [0, 1] or NaN: a broken transform must not pass
  // unseen.
  void add(double u);
  void merge(const PitAccumulator& other);

  std::int64_t n() const { return n_; }
  // max over cell edges e of |F_n(e) - e|: exact there, so D_n - 1/kCells <= edge_statistic() <=
  // D_n. Throws std::invalid_argument if nothing was added.
  double edge_statistic() const;
  // Counts in 64 equal bins, for pearson_uniform_test. [kBins]
  std::vector<std::int64_t> bin_counts() const;

 private:
  std::vector<std::int64_t> counts_;  // [kCells]
  std::int64_t n_ = 0;
};

}  // namespace specbench::stats
