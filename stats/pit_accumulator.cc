#include "stats/pit_accumulator.h"

#include <algorithm>
#include <cmath>

#include "stats/require.h"

namespace specbench::stats {

PitAccumulator::PitAccumulator() : counts_(kCells, 0) {}

void PitAccumulator::add(double u) {
  // The comparison is false for NaN.
  require(u >= 0.0 && u <= 1.0, "PitAccumulator", "a PIT value must lie in [0, 1]", u);
  const auto cell = static_cast<std::size_t>(u * static_cast<double>(kCells));
  ++counts_[std::min(cell, kCells - 1)];
  ++n_;
}

void PitAccumulator::merge(const PitAccumulator& other) {
  for (std::size_t cell = 0; cell < kCells; ++cell) counts_[cell] += other.counts_[cell];
  n_ += other.n_;
}

double PitAccumulator::edge_statistic() const {
  require(n_ >= 1, "PitAccumulator", "no value was added");
  double largest = 0.0;
  std::int64_t n_below = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    n_below += counts_[cell];
    const double edge = static_cast<double>(cell + 1) / static_cast<double>(kCells);
    const double empirical = static_cast<double>(n_below) / static_cast<double>(n_);
    largest = std::max(largest, std::fabs(empirical - edge));
  }
  return largest;
}

std::vector<std::int64_t> PitAccumulator::bin_counts() const {
  std::vector<std::int64_t> bins(kBins, 0);
  for (std::size_t cell = 0; cell < kCells; ++cell) bins[cell / (kCells / kBins)] += counts_[cell];
  return bins;
}

}  // namespace specbench::stats
