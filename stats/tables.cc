#include "stats/tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "stats/pearson.h"
#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

// Shares of the rows and columns, which is all that pooling may see.
struct Margins {
  std::vector<double> rows;
  std::vector<double> cols;
  std::int64_t n = 0;
};

Margins margins_of(const CountTable& table, const char* where) {
  require(table.n_rows >= 1 && table.n_cols >= 1, where, "the table has no rows or no columns");
  Margins margins;
  margins.n = require_counts(table.counts, table.n_rows * table.n_cols, where);
  margins.rows.assign(table.n_rows, 0.0);
  margins.cols.assign(table.n_cols, 0.0);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t col = 0; col < table.n_cols; ++col) {
      margins.rows[row] += static_cast<double>(table.at(row, col));
      margins.cols[col] += static_cast<double>(table.at(row, col));
    }
  }
  for (double& share : margins.rows) share /= static_cast<double>(margins.n);
  for (double& share : margins.cols) share /= static_cast<double>(margins.n);
  return margins;
}

struct TablePools {
  PooledBins rows;
  PooledBins cols;
  int df() const {
    return static_cast<int>(rows.n_pools() - 1) * static_cast<int>(cols.n_pools() - 1);
  }
};

// Every row on its own: samples are not merged.
PooledBins no_pooling(const std::vector<double>& shares) {
  PooledBins bins;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    bins.pool_of_bin.push_back(static_cast<std::int32_t>(i));
    bins.expected.push_back(shares[i]);
  }
  return bins;
}

// Columns of n draws merged until the sample with the smallest share expects min_expected.
TablePools homogeneity_pools(const Margins& margins, std::int64_t n, double min_expected) {
  const double smallest = *std::min_element(margins.rows.begin(), margins.rows.end());
  return {no_pooling(margins.rows), pool_bins(margins.cols, n, min_expected / smallest)};
}

// Rows merged until each holds sqrt(min_expected / n) of the draws, then columns until every cell
// expects min_expected.
TablePools independence_pools(const Margins& margins, std::int64_t n, double min_expected) {
  TablePools pools;
  pools.rows = pool_bins(margins.rows, n, std::sqrt(min_expected * static_cast<double>(n)));
  const double fewest = *std::min_element(pools.rows.expected.begin(), pools.rows.expected.end());
  pools.cols = pool_bins(margins.cols, n, min_expected * static_cast<double>(n) / fewest);
  return pools;
}

CountTable pooled_table(const CountTable& table, const TablePools& pools) {
  CountTable pooled(pools.rows.n_pools(), pools.cols.n_pools());
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t col = 0; col < table.n_cols; ++col) {
      if (table.at(row, col) == 0) continue;  // an empty row or column has no pool
      pooled.at(static_cast<std::size_t>(pools.rows.pool_of_bin[row]),
                static_cast<std::size_t>(pools.cols.pool_of_bin[col])) += table.at(row, col);
    }
  }
  return pooled;
}

// Fills statistic, p_value and p_lower.
void fill_chi_squared(const CountTable& pooled, int df, Evidence& evidence) {
  const Margins margins = margins_of(pooled, "chi-squared of a table");
  double squared_radius = 0.0;  // of the lattice of tables with these margins, see pearson.cc
  for (std::size_t row = 0; row < pooled.n_rows; ++row) {
    for (std::size_t col = 0; col < pooled.n_cols; ++col) {
      const double expected =
          static_cast<double>(margins.n) * margins.rows[row] * margins.cols[col];
      const double difference = static_cast<double>(pooled.at(row, col)) - expected;
      evidence.statistic += difference * difference / expected;
      squared_radius += 0.25 / expected;
    }
  }
  evidence.p_value = chi_squared_sf(evidence.statistic, df);
  if (df < kMinTooGoodDf) return;
  const double reach = std::sqrt(evidence.statistic) + std::sqrt(squared_radius);
  evidence.p_lower = chi_squared_cdf(reach * reach, df);
}

using PoolsAt = std::function<TablePools(std::int64_t n)>;

// Beyond this nobody draws (as in pearson.cc).
constexpr double kLargestPlan = 1e15;

// Larger samples have more pools: climb until a sample meets the need of its own pools. lambda >= 4
// n information TV^2.
std::int64_t required_n(const Contract& contract, double information, std::int64_t n,
                        const PoolsAt& pools_at) {
  std::int64_t needed = n;
  for (int step = 0; step < 64; ++step) {
    const int df = pools_at(needed).df();
    if (df < 1) {
      if (static_cast<double>(needed) > kLargestPlan) return kNoSampleSuffices;
      needed *= 2;
      continue;
    }
    const double lambda = chi_squared_noncentrality(df, contract.alpha(), contract.beta());
    const std::int64_t next =
        sample_count(lambda / (4.0 * information * contract.tau() * contract.tau()));
    if (next <= needed) return step == 0 ? next : needed;
    if (static_cast<double>(next) > kLargestPlan) return kNoSampleSuffices;
    needed = next;
  }
  return kNoSampleSuffices;
}

TestResult table_test(const Contract& contract, const CountTable& table, const Margins& margins,
                      double information, const PoolsAt& pools_at) {
  Evidence evidence;
  evidence.statistic_name = "chi-squared of a table";
  evidence.drift_kind = kDriftTotalVariation;
  evidence.n = margins.n;
  const auto is_present = [](double share) { return share > 0.0; };
  const bool has_two_labels =
      std::count_if(margins.rows.begin(), margins.rows.end(), is_present) > 1 &&
      std::count_if(margins.cols.begin(), margins.cols.end(), is_present) > 1;
  evidence.required_n =
      has_two_labels ? required_n(contract, information, margins.n, pools_at) : kNoSampleSuffices;
  const TablePools pools = pools_at(margins.n);
  const int df = pools.df();
  if (df < 1) {
    std::string reason = has_two_labels ? "all labels fall into one pool (df = 0); needs n = " +
                                              std::to_string(evidence.required_n)
                                        : "only one row or one column occurred: nothing to compare";
    return not_testable(contract, std::move(evidence), std::move(reason));
  }
  fill_chi_squared(pooled_table(table, pools), df, evidence);
  const double lambda = chi_squared_noncentrality(df, contract.alpha(), contract.beta());
  evidence.min_detectable =
      std::min(1.0, std::sqrt(lambda / (4.0 * information * static_cast<double>(margins.n))));
  return decide(contract, evidence);
}

}  // namespace

TestResult homogeneity_test(const Contract& contract, const CountTable& table) {
  const Margins margins = margins_of(table, "homogeneity_test");
  require(table.n_rows >= 2, "homogeneity_test", "needs at least two samples");
  const double smallest = *std::min_element(margins.rows.begin(), margins.rows.end());
  require(smallest > 0.0, "homogeneity_test", "a sample has no draws");
  const double min_expected = min_expected_count(contract.alpha());
  return table_test(contract, table, margins, smallest * (1.0 - smallest),
                    [&](std::int64_t n) { return homogeneity_pools(margins, n, min_expected); });
}

TestResult two_sample_test(const Contract& contract, std::span<const std::int64_t> first,
                           std::span<const std::int64_t> second) {
  require(!first.empty() && first.size() == second.size(), "two_sample_test",
          "both samples must count the same outcomes", static_cast<double>(second.size()));
  CountTable table(2, first.size());
  std::copy(first.begin(), first.end(), table.counts.begin());
  std::copy(second.begin(), second.end(),
            table.counts.begin() + static_cast<std::ptrdiff_t>(first.size()));
  return homogeneity_test(contract, table);
}

TestResult independence_test(const Contract& contract, const CountTable& table) {
  const Margins margins = margins_of(table, "independence_test");
  const double min_expected = min_expected_count(contract.alpha());
  return table_test(contract, table, margins, 1.0,
                    [&](std::int64_t n) { return independence_pools(margins, n, min_expected); });
}

}  // namespace specbench::stats
