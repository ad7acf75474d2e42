#include "stats/variance_ratio.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "stats/kolmogorov.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::Uniform;

Contract contract(double alpha = 1e-3, double tau = 0.1) {
  return Contract("rows", "rows are independent", alpha, tau, 0.01);
}

TEST(RowCorrelation, TwoRowsByHand) {
  RowCorrelation rows;
  rows.add_bit(true, 0.5);
  rows.add_bit(true, 0.2);
  rows.end_step();
  // T = 2 x .5 x .8; Var = 2 x 2 x .25 x .16; weight = 2 sqrt(.25 x .16).
  EXPECT_NEAR(rows.statistic(), 0.8, 1e-15);
  EXPECT_NEAR(rows.variance(), 0.16, 1e-15);
  EXPECT_NEAR(rows.weight(), 0.4, 1e-15);
  EXPECT_NEAR(rows.z(), 2.0, 1e-14);
  rows.add_bit(true, 0.5);
  rows.end_step();  // one row: no pair
  rows.add_bit(true, 0.5);
  rows.add_bit(true, 1.0);
  rows.end_step();  // a certain row: no pair
  EXPECT_EQ(rows.n_steps(), 1);
  EXPECT_EQ(rows.max_rows(), 2);
}

// Moments of T of one step, over all outcomes of its rows.
TEST(RowCorrelation, MomentsByEnumeration) {
  const std::vector<double> a = {0.1, 0.5, 0.7, 0.95};
  double moments[3] = {};
  RowCorrelation law;
  for (int outcome = 0; outcome < 16; ++outcome) {
    RowCorrelation rows;
    double chance = 1.0, excess = 0.0, correction = 0.0;
    for (std::size_t r = 0; r < 4; ++r) {
      const bool accepted = (outcome >> r) % 2 == 1;
      rows.add_bit(accepted, a[r]);
      chance *= accepted ? a[r] : 1.0 - a[r];
      excess += (accepted ? 1.0 : 0.0) - a[r];
      correction += a[r] * (1.0 - a[r]) + (1.0 - 2.0 * a[r]) * ((accepted ? 1.0 : 0.0) - a[r]);
    }
    rows.end_step();
    EXPECT_NEAR(rows.statistic(), excess * excess - correction, 1e-14);
    double power = 1.0;
    for (double& moment : moments) moment += chance * (power *= rows.statistic());
    law = rows;
  }
  EXPECT_NEAR(moments[0], 0.0, 1e-15);
  EXPECT_NEAR(moments[1], law.variance(), 1e-14);
  EXPECT_NEAR(moments[2], law.skewness() * std::pow(law.variance(), 1.5), 1e-14);
  EXPECT_GT(law.skewness_bound(), law.skewness());
}

TEST(RowCorrelation, MergeEqualsOneAccumulator) {
  Uniform random(1);
  RowCorrelation whole, left, right;
  for (int step = 0; step < 3000; ++step) {
    RowCorrelation& part = step % 2 == 0 ? left : right;
    for (int row = 0; row < 1 + step % 5; ++row) {
      const double a = random.next();
      const bool accepted = random.bit(a);
      whole.add_bit(accepted, a);
      part.add_bit(accepted, a);
    }
    whole.end_step();
    part.end_step();
  }
  left.merge(right);
  EXPECT_EQ(left.n_steps(), whole.n_steps());
  EXPECT_NEAR(left.z(), whole.z(), 1e-12);
  EXPECT_NEAR(left.skewness(), whole.skewness(), 1e-12);
  left.add_bit(true, 0.5);
  EXPECT_THROW(left.merge(right), std::invalid_argument);
  EXPECT_THROW(left.add_bit(true, 1.5), std::invalid_argument);
  EXPECT_THROW(left.add_uniform(std::nan("")), std::invalid_argument);
}

TEST(RowCorrelation, UntestableAndForbidden) {
  RowCorrelation single;
  for (int i = 0; i < 5000; ++i) {
    single.add_bit(true, 0.5);
    single.end_step();
  }
  EXPECT_EQ(row_correlation_test(contract(), single).verdict, Verdict::kInconclusive);
  EXPECT_EQ(row_correlation_test(contract(), single).required_n, kNoSampleSuffices);
  // One pair of rare rejections among 10,000 steps is no evidence: too skewed, whatever the n.
  RowCorrelation rare;
  for (int i = 0; i < 10'000; ++i) {
    rare.add_bit(i != 0, 0.999);
    rare.add_bit(i != 0, 0.999);
    rare.end_step();
  }
  const TestResult skewed = row_correlation_test(contract(), rare);
  EXPECT_EQ(skewed.verdict, Verdict::kInconclusive);
  EXPECT_NEAR(static_cast<double>(skewed.required_n), 1e8, 1e6);
  rare.add_bit(true, 0.0);
  rare.end_step();
  EXPECT_EQ(row_correlation_test(contract(), rare).verdict, Verdict::kFail);
}

TEST(RowCorrelation, OneCoinForAllRowsFails) {
  Uniform random(1);
  RowCorrelation bits, noise;
  for (int step = 0; step < 2000; ++step) {
    const double coin = random.next();
    for (double a : {0.3, 0.6, 0.8}) bits.add_bit(coin < a, a);
    for (int row = 0; row < 3; ++row) noise.add_uniform(coin);
    bits.end_step();
    noise.end_step();
  }
  EXPECT_EQ(row_correlation_test(contract(), bits).verdict, Verdict::kFail);
  EXPECT_GT(bits.mean_correlation(), 0.4);
  EXPECT_EQ(row_correlation_test(contract(), noise).verdict, Verdict::kFail);
  EXPECT_NEAR(noise.mean_correlation(), 1.0, 0.05);
}

// Share of runs whose p-value is below each level.
std::vector<double> realised(int n_runs, const std::vector<double>& levels,
                             const std::function<void(Uniform&, RowCorrelation&)>& fill,
                             std::vector<double>* p_values = nullptr) {
  std::vector<double> shares(levels.size(), 0.0);
  for (int run = 0; run < n_runs; ++run) {
    Uniform random(static_cast<std::uint64_t>(run));
    RowCorrelation rows;
    fill(random, rows);
    const double p = row_correlation_test(contract(), rows).p_value;
    if (p_values != nullptr) p_values->push_back(p);
    for (std::size_t i = 0; i < levels.size(); ++i) shares[i] += (p < levels[i]) * 1.0 / n_runs;
  }
  return shares;
}

TEST(RowCorrelationStatistical, NullPValuesAreUniform) {
  std::vector<double> p_values;
  const auto fill = [](Uniform& random, RowCorrelation& rows) {
    for (int step = 0; step < 1500; ++step) {
      for (int row = 0; row < 3 + step % 6; ++row) {
        const double a = 0.2 + 0.7 * random.next();
        rows.add_bit(random.bit(a), a);
      }
      rows.end_step();
    }
  };
  const auto shares = realised(2000, {1e-3}, fill, &p_values);
  EXPECT_LT(ks_statistic(p_values), testing::largest_allowed_distance(2000));
  EXPECT_LE(shares[0], 13.0 / 2000);  // 1/1000 expected; P(X >= 14) < 1e-6
}

TEST(RowCorrelationStatistical, TailOfManyRowsAtTheFewestStepsAllowed) {
  // 1,000 steps of 8 uniforms: skewness .076. Twice the level is allowed for.
  const auto fill = [](Uniform& random, RowCorrelation& rows) {
    for (int step = 0; step < 1000; ++step) {
      for (int row = 0; row < 8; ++row) rows.add_uniform(random.next());
      rows.end_step();
    }
  };
  const auto shares = realised(40'000, {1e-2, 1e-3}, fill);
  EXPECT_NEAR(shares[0], 1e-2, 0.0025);
  EXPECT_NEAR(shares[1], 1e-3, 0.0008);  // 5 standard deviations: .00079
}

TEST(RowCorrelationStatistical, CorrelationOfTauIsCaughtAtTheRequiredSize) {
  const double tau = 0.05;
  const Contract strict = contract(1e-4, tau);
  // Each row takes the step's coin with probability sqrt(tau): correlation tau, marginals clean.
  const auto add_step = [&](Uniform& random, RowCorrelation& rows, double share) {
    const double coin = random.next();
    for (int row = 0; row < 6; ++row)
      rows.add_bit((random.bit(share) ? coin : random.next()) < 0.6, 0.6);
    rows.end_step();
  };
  RowCorrelation plan;
  Uniform first(0);
  for (int step = 0; step < 2000; ++step) add_step(first, plan, 0.0);
  const std::int64_t n = row_correlation_test(strict, plan).required_n;
  EXPECT_LT(n, 5000);
  int n_caught = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Uniform random(seed);
    RowCorrelation rows;
    for (std::int64_t step = 0; step < n; ++step) add_step(random, rows, std::sqrt(tau));
    n_caught += row_correlation_test(strict, rows).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
