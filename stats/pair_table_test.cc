#include "stats/pair_table.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "stats/kolmogorov.h"
#include "stats/pearson.h"
#include "stats/power.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::Uniform;

Contract contract(double alpha = 1e-3, double tau = 0.05) {
  return Contract("pairs", "uniform and independent", alpha, tau, 0.01);
}

TEST(PairTable, CellsAndMerge) {
  PairTable pairs, other;
  pairs.add(0.0, 1.0);
  pairs.add(0.13, 0.24);
  other.add(1.0, 0.0);
  pairs.merge(other);
  EXPECT_EQ(pairs.n(), 3);
  EXPECT_EQ(pairs.counts()[7], 1);
  EXPECT_EQ(pairs.counts()[8 + 1], 1);
  EXPECT_EQ(pairs.counts()[56], 1);
  EXPECT_THROW(pairs.add(1.1, 0.5), std::invalid_argument);
  EXPECT_THROW(pairs.add(0.5, std::nan("")), std::invalid_argument);
  EXPECT_THROW(pair_independence_test(contract(), PairTable{}), std::invalid_argument);
  EXPECT_THROW(pair_uniform_test(contract(), PairTable{}), std::invalid_argument);
  EXPECT_EQ(pair_independence_test(contract(), pairs).verdict, Verdict::kInconclusive);
}

TEST(PairTable, MarginsDoNotMoveTheInteraction) {
  // Rows uneven, each row spread evenly over the columns: no interaction, but far from uniform.
  PairTable pairs;
  for (int row = 0; row < 8; ++row)
    for (int col = 0; col < 8; ++col)
      for (int i = 0; i < 100 + 10 * row; ++i) pairs.add((row + 0.5) / 8, (col + 0.5) / 8);
  EXPECT_NEAR(pair_independence_test(contract(), pairs).statistic, 0.0, 1e-9);
  EXPECT_EQ(pair_uniform_test(contract(), pairs).verdict, Verdict::kFail);
}

TEST(PairTable, OneValueForBothRolesFails) {
  Uniform random(1);
  PairTable pairs;
  for (int i = 0; i < 4000; ++i) {
    const double u = random.next();
    pairs.add(u, u);
  }
  EXPECT_EQ(pair_uniform_test(contract(), pairs).verdict, Verdict::kFail);
  EXPECT_EQ(pair_independence_test(contract(), pairs).verdict, Verdict::kFail);
}

TEST(PairTableStatistical, InteractionHoldsForOverlappingPairsWherePearsonDoesNot) {
  std::vector<double> apart, overlapping;
  int n_low = 0;
  double variance = 0.0;  // of Pearson's statistic of overlapping pairs, mean 63
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    PairTable chained, disjoint;
    double before = random.next();
    for (int i = 0; i < 4000; ++i) {
      const double u = random.next();
      chained.add(before, u);
      before = u;
      const double v = random.next();
      disjoint.add(v, random.next());
    }
    overlapping.push_back(pair_independence_test(contract(), chained).p_value);
    apart.push_back(pair_uniform_test(contract(), disjoint).p_value);
    variance += std::pow(pair_uniform_test(contract(), chained).statistic - 63.0, 2.0) / 2000;
    n_low += (apart.back() < 1e-3) + (overlapping.back() < 1e-3);
  }
  EXPECT_LT(ks_statistic(apart), testing::largest_allowed_distance(2000));
  EXPECT_LT(ks_statistic(overlapping), testing::largest_allowed_distance(2000));
  EXPECT_LE(n_low, 17);  // 4 expected; P(X >= 18) < 1e-6
  // 2 x 49 + 4 x 14 = 154 where chi-squared has 126 (five standard errors: 25): why the header
  // forbids it.
  EXPECT_NEAR(variance, 154.0, 25.0);
  EXPECT_GT(variance, 130.0);
}

TEST(PairTableStatistical, DriftOfTauIsCaughtAtTheRequiredSize) {
  const double tau = 0.05;
  const Contract strict = contract(1e-4, tau);
  PairTable one;
  one.add(0.5, 0.5);
  const auto n = static_cast<int>(pair_independence_test(strict, one).required_n);
  const auto n_uniform = static_cast<int>(pair_uniform_test(strict, one).required_n);
  int n_caught = 0, n_uniform_caught = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Uniform random(seed);
    // Density 1 +- 2 tau by halves: (u < .5) == (v < .5) with probability 1/2 + tau.
    PairTable pairs, more;
    for (int i = 0; i < std::max(n, n_uniform); ++i) {
      const double u = random.next();
      const bool is_same = random.bit(0.5 + tau);
      const double v = 0.5 * (random.next() + ((u < 0.5) == is_same ? 0.0 : 1.0));
      if (i < n) pairs.add(u, v);
      if (i < n_uniform) more.add(u, v);
    }
    n_caught += pair_independence_test(strict, pairs).verdict == Verdict::kFail;
    n_uniform_caught += pair_uniform_test(strict, more).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught, 190);
  EXPECT_GE(n_uniform_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
