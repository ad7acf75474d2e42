// Do several samples come from one law, and are two labels independent? Chi-squared tests of tables
// whose margins are estimated. Where the margins are known to be uniform use pair_table.h; for a
// 2 x 2 table with few events use fisher.h. Must not look at the cells when it chooses the pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/contract.h"

namespace specbench::stats {

// Counts of pairs of labels: rows are samples (homogeneity) or the first label (independence).
struct CountTable {
  std::size_t n_rows = 0;
  std::size_t n_cols = 0;
  std::vector<std::int64_t> counts;  // [n_rows x n_cols], row by row

  CountTable(std::size_t rows, std::size_t cols)
      : n_rows(rows), n_cols(cols), counts(rows * cols, 0) {}
  std::int64_t& at(std::size_t row, std::size_t col) { return counts[row * n_cols + col]; }
  std::int64_t at(std::size_t row, std::size_t col) const { return counts[row * n_cols + col]; }
};

// All three tests: statistic sum (o - e)^2 / e with e = row total x column total / n, df = (rows -
// 1)(columns - 1) after pooling, p_value the upper tail by complement. Labels are merged, the
// rarest first, until every cell expects at least min_expected_count(alpha). The pools depend on
// the margins alone. Given the margins the null law of the cells is the hypergeometric one,
// whatever the unknown law is, so pooling by them leaves the level as it is. Labels that never
// occurred are left out. One pool only (df = 0) is INCONCLUSIVE. p_lower (two samples that agree
// too well share their random numbers) is bounded as in pearson.h; NaN below kMinTooGoodDf.
// Throws std::invalid_argument for a negative count, an empty table, a sample without draws.

// Tests that the rows are samples of one law. Drift: total variation between the law of one sample
// and that of all the others together, for the smallest sample, where it is hardest to see:
// lambda = sum over rows of n_i sum (P_i - M)^2 / M >= 4 n_i (n - n_i) / n TV^2, M the mixture (n
// times Cohen's w^2; merging the other rows and Cauchy-Schwarz only lower it). n counts the draws
// of all samples; required_n supposes their shares stay.
TestResult homogeneity_test(const Contract& contract, const CountTable& table);

// homogeneity_test of two samples over the same outcomes: lambda >= 4 n1 n2 / (n1 + n2) TV^2.
TestResult two_sample_test(const Contract& contract, std::span<const std::int64_t> first,
                           std::span<const std::int64_t> second);

// Tests that the row and the column label of a draw are independent. Both margins are pooled.
// Drift: total variation between the joint law and the product of its margins, lambda >= 4 n TV^2.
TestResult independence_test(const Contract& contract, const CountTable& table);

}  // namespace specbench::stats
