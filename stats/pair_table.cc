#include "stats/pair_table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "stats/pearson.h"
#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

constexpr std::size_t kSide = PairTable::kSide;

std::size_t cell_of(double u) {
  return std::min(kSide - 1, static_cast<std::size_t>(u * static_cast<double>(kSide)));
}

// sum (o - e)^2 / e against equal cells.
double equal_cells_statistic(std::span<const std::int64_t> counts, double n) {
  const double expected = n / static_cast<double>(counts.size());
  double sum = 0.0;
  for (std::int64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

double interaction_statistic(const PairTable& pairs) {
  std::array<std::int64_t, kSide> rows{};
  std::array<std::int64_t, kSide> cols{};
  for (std::size_t cell = 0; cell < kSide * kSide; ++cell) {
    rows[cell / kSide] += pairs.counts()[cell];
    cols[cell % kSide] += pairs.counts()[cell];
  }
  const auto n = static_cast<double>(pairs.n());
  const double interaction = equal_cells_statistic(pairs.counts(), n) -
                             equal_cells_statistic(rows, n) - equal_cells_statistic(cols, n);
  return std::max(0.0, interaction);
}

}  // namespace

void PairTable::add(double u, double v) {
  require(is_probability(u), "PairTable", "u must lie in [0, 1]", u);
  require(is_probability(v), "PairTable", "v must lie in [0, 1]", v);
  ++counts_[cell_of(u) * kSide + cell_of(v)];
  ++n_;
}

void PairTable::merge(const PairTable& other) {
  for (std::size_t cell = 0; cell < counts_.size(); ++cell) counts_[cell] += other.counts_[cell];
  n_ += other.n_;
}

TestResult pair_uniform_test(const Contract& contract, const PairTable& pairs) {
  return pearson_uniform_test(contract, pairs.counts());
}

TestResult pair_independence_test(const Contract& contract, const PairTable& pairs) {
  require(pairs.n() >= 1, "pair_independence_test", "no pair was added");
  constexpr int kDf = (kSide - 1) * (kSide - 1);
  const double fewest = min_expected_count(contract.alpha()) * kSide * kSide;
  Evidence evidence;
  evidence.statistic_name = "interaction chi-squared";
  evidence.drift_kind = kDriftTotalVariation;
  evidence.n = pairs.n();
  evidence.required_n =
      std::max(sample_count(fewest),
               pearson_required_n(kDf, contract.alpha(), contract.beta(), contract.tau()));
  evidence.statistic = interaction_statistic(pairs);
  if (static_cast<double>(pairs.n()) < fewest) {
    std::string needed = "too few pairs a cell; needs n = " + std::to_string(evidence.required_n);
    return not_testable(contract, std::move(evidence), std::move(needed));
  }
  evidence.p_value = chi_squared_sf(evidence.statistic, kDf);
  evidence.min_detectable =
      pearson_min_detectable(kDf, contract.alpha(), contract.beta(), pairs.n());
  return decide(contract, evidence);
}

}  // namespace specbench::stats
