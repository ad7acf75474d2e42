#include "stats/serial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/kolmogorov.h"
#include "stats/power.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;

Contract contract(double alpha = 1e-3, double tau = 0.1) {
  return Contract("serial", "no serial correlation", alpha, tau, 0.01);
}

TEST(LaggedProducts, SumsByHand) {
  // x = sqrt(12) (u - 1/2): products of .25 and -.25 are 12 / 16 = .75 in size.
  LaggedProducts products(2);
  for (double u : {0.25, 0.75, 0.75}) products.add(u);
  products.begin_sequence();
  for (double u : {0.25, 0.25}) products.add(u);
  EXPECT_EQ(products.n(), 5);
  EXPECT_EQ(products.n_pairs(1), 3);
  EXPECT_EQ(products.n_pairs(2), 1);
  EXPECT_EQ(products.n_changes(), 1);
  EXPECT_NEAR(products.z(1), 0.75 / std::sqrt(3.0), 1e-15);
  EXPECT_NEAR(products.z(2), -0.75, 1e-15);
  EXPECT_THROW(products.n_pairs(3), std::invalid_argument);
  EXPECT_THROW(products.add(-0.1), std::invalid_argument);
  EXPECT_THROW(LaggedProducts(0), std::invalid_argument);
}

TEST(LaggedProducts, RingAgreesWithTheDefinitionAndMergesExactly) {
  Uniform random(2);
  LaggedProducts whole(7), left(7), right(7);
  std::vector<double> sums(7, 0.0);
  std::vector<std::int64_t> pairs(7, 0);
  for (int sequence = 0; sequence < 300; ++sequence) {
    std::vector<double> u(1 + static_cast<std::size_t>(random.next() * 20));
    LaggedProducts& part = sequence % 3 == 0 ? left : right;
    whole.begin_sequence();
    part.begin_sequence();
    for (double& value : u) {
      value = random.next();
      whole.add(value);
      part.add(value);
    }
    for (std::size_t lag = 1; lag <= 7; ++lag)
      for (std::size_t t = lag; t < u.size(); ++t, ++pairs[lag - 1])
        sums[lag - 1] += 12.0 * (u[t] - 0.5) * (u[t - lag] - 0.5);
  }
  left.merge(right);
  EXPECT_EQ(left.n_changes(), whole.n_changes());
  for (int lag = 1; lag <= 7; ++lag) {
    const auto i = static_cast<std::size_t>(lag - 1);
    EXPECT_EQ(whole.n_pairs(lag), pairs[i]);
    EXPECT_EQ(left.n_pairs(lag), pairs[i]);
    EXPECT_NEAR(whole.z(lag), sums[i] / std::sqrt(static_cast<double>(pairs[i])), 1e-11);
    EXPECT_NEAR(left.z(lag), whole.z(lag), 1e-12);
  }
  EXPECT_THROW(left.merge(LaggedProducts(6)), std::invalid_argument);
}

std::vector<double> golden_values(int n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<double>((7919 * i * i + 104729 * i) % 10007) / 10007.0);
  return values;
}

TEST(LjungBox, MatchesNumPy) {
  for (const auto& row : golden::kLjungBox) {
    SCOPED_TRACE(::testing::Message() << row.n << ", " << row.lags);
    EXPECT_LE(relative_error(ljung_box_statistic(golden_values(row.n), row.lags), row.statistic),
              1e-12);
  }
  const TestResult result = ljung_box_test(contract(), golden_values(20'000), 20);
  EXPECT_EQ(result.p_value, chi_squared_sf(result.statistic, 20));
  EXPECT_EQ(result.drift_kind, kDriftSerial);
}

TEST(LjungBox, FrozenFailsAndShortIsInconclusive) {
  EXPECT_EQ(ljung_box_test(contract(), std::vector<double>(20'000, 0.3), 5).verdict,
            Verdict::kFail);
  EXPECT_EQ(ljung_box_test(contract(), golden_values(100), 5).verdict, Verdict::kInconclusive);
  EXPECT_THROW(ljung_box_statistic(std::vector<double>{0.1, 0.2}, 2), std::invalid_argument);
  EXPECT_THROW(ljung_box_statistic(std::vector<double>(9, 0.1), 2), std::invalid_argument);
  EXPECT_THROW(ljung_box_test(contract(), std::vector<double>{0.1, 2.0}, 1), std::invalid_argument);
}

TEST(Runs, ExactByEnumeration) {
  // All 2^n sequences of sides: P(p <= level) <= level.
  const int n = 9;
  std::vector<double> p_values;
  p_values.reserve(1 << n);
  for (int sides = 0; sides < 1 << n; ++sides) {
    std::vector<double> u(n);
    for (int i = 0; i < n; ++i) u[static_cast<std::size_t>(i)] = (sides >> i) % 2 == 0 ? 0.2 : 0.8;
    p_values.push_back(runs_test(contract(), u).p_value);
  }
  for (double level : {0.01, 0.05, 0.3}) {
    const auto n_rejected =
        std::count_if(p_values.begin(), p_values.end(), [&](double p) { return p <= level; });
    EXPECT_LE(static_cast<double>(n_rejected), level * (1 << n));
  }
  // 2 of 11 pairs change: 2 (1 + 11 + 55) / 2^11.
  const std::vector<double> u = {.1, .1, .1, .1, .9, .9, .9, .9, .1, .1, .1, .1};
  EXPECT_NEAR(runs_test(contract(), u).p_value, 2.0 * 67 / 2048, 1e-15);
  EXPECT_EQ(runs_test(contract(), std::vector<double>{0.5}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(runs_test(contract(), std::vector<double>(500, 0.9)).verdict, Verdict::kFail);
}

TEST(SerialCorrelation, LagsWithoutPairsAreLeftOut) {
  // Rounds of three values: lags 3 and 4 have no pair.
  Uniform random(3);
  LaggedProducts products(4), none(2);
  for (int round = 0; round < 12'000; ++round) {
    products.begin_sequence();
    none.begin_sequence();
    for (int i = 0; i < 3; ++i) products.add(random.next());
    none.add(random.next());
  }
  const TestResult result = serial_correlation_test(contract(), products);
  const double z1 = products.z(1), z2 = products.z(2);
  EXPECT_DOUBLE_EQ(result.statistic, z1 * z1 + z2 * z2);
  EXPECT_DOUBLE_EQ(result.p_value, chi_squared_sf(result.statistic, 2));
  EXPECT_NEAR(result.min_detectable, std::sqrt(chi_squared_noncentrality(2, 1e-3, 0.01) / 12'000),
              1e-12);
  EXPECT_EQ(serial_correlation_test(contract(), none).verdict, Verdict::kInconclusive);
  EXPECT_EQ(serial_correlation_test(contract(), none).required_n, kNoSampleSuffices);
}

TEST(SerialStatistical, NullPValuesAreUniform) {
  std::vector<double> lagged, box;
  int n_lagged = 0, n_box = 0, n_runs = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    LaggedProducts products(8);
    std::vector<double> values;
    for (int round = 0; round < 300; ++round) {
      products.begin_sequence();
      for (int i = 0; i < 42; ++i) {
        values.push_back(random.next());
        products.add(values.back());
      }
    }
    lagged.push_back(serial_correlation_test(contract(), products).p_value);
    box.push_back(ljung_box_test(contract(), values, 8).p_value);
    n_lagged += lagged.back() < 1e-3;
    n_box += box.back() < 1e-3;
    n_runs += runs_test(contract(), products).p_value < 1e-3;
  }
  EXPECT_LT(ks_statistic(lagged), testing::largest_allowed_distance(2000));
  EXPECT_LT(ks_statistic(box), testing::largest_allowed_distance(2000));
  // 2 expected; P(X >= 14) < 1e-6.
  EXPECT_LE(n_lagged, 13);
  EXPECT_LE(n_box, 13);
  EXPECT_LE(n_runs, 13);
}

TEST(SerialStatistical, CorrelationOfTauIsCaughtAtTheRequiredSize) {
  const double tau = 0.04;
  const Contract strict = contract(1e-4, tau);
  // With probability tau a value repeats the one before: correlation tau at lag 1, marginals clean.
  const auto n_box =
      static_cast<int>(ljung_box_test(strict, std::vector<double>(10, 0.5), 8).required_n);
  const auto n_runs = static_cast<int>(runs_test(strict, std::vector<double>{0.5}).required_n) + 1;
  LaggedProducts plan(4);
  for (int i = 0; i < 50'000; ++i) {
    if (i % 10 == 0) plan.begin_sequence();
    plan.add(0.5);
  }
  const auto n_lagged = static_cast<int>(serial_correlation_test(strict, plan).required_n);
  int n_box_caught = 0, n_runs_caught = 0, n_lagged_caught = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Uniform random(seed);
    std::vector<double> values;
    LaggedProducts products(4);
    for (int i = 0; i < std::max({n_box, n_runs, n_lagged}); ++i) {
      const bool repeats = i > 0 && random.bit(tau);
      values.push_back(repeats ? values.back() : random.next());
      if (i >= n_lagged) continue;
      if (i % 10 == 0) products.begin_sequence();
      products.add(values.back());
    }
    const std::span<const double> all(values);
    n_box_caught += ljung_box_test(strict, all.first(static_cast<std::size_t>(n_box)), 8).verdict ==
                    Verdict::kFail;
    n_runs_caught +=
        runs_test(strict, all.first(static_cast<std::size_t>(n_runs))).verdict == Verdict::kFail;
    n_lagged_caught += serial_correlation_test(strict, products).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_box_caught, 190);
  EXPECT_GE(n_runs_caught, 190);
  EXPECT_GE(n_lagged_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
