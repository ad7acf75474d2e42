#include "stats/monte_carlo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "stats/kolmogorov.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::Uniform;

Contract contract(double alpha = 1e-2, double tau = 0.5) {
  return Contract("monte carlo", "exchangeable", alpha, tau, 0.01);
}

TEST(MonteCarlo, RankByHand) {
  const std::vector<double> simulated = {1.0, 2.0, 3.0, 3.0};
  EXPECT_DOUBLE_EQ(monte_carlo_p(0.0, simulated), 1.0);
  EXPECT_DOUBLE_EQ(monte_carlo_p(3.0, simulated), 3.0 / 5);  // ties count
  EXPECT_DOUBLE_EQ(monte_carlo_p(4.0, simulated), 1.0 / 5);  // never 0
  EXPECT_DOUBLE_EQ(monte_carlo_p(4.0, std::vector<double>{}), 1.0);
  EXPECT_THROW(monte_carlo_p(std::nan(""), simulated), std::invalid_argument);
  EXPECT_THROW(monte_carlo_p(1.0, std::vector<double>{std::nan("")}), std::invalid_argument);
}

TEST(MonteCarlo, ValidExactly) {
  // All ranks of the observed among 19 distinct others are equally likely: P(p <= j / 20) = j / 20.
  std::vector<double> others(19);
  std::iota(others.begin(), others.end(), 0.0);
  std::vector<double> p_values;
  p_values.reserve(20);
  for (int rank = 0; rank < 20; ++rank) p_values.push_back(monte_carlo_p(rank - 0.5, others));
  std::sort(p_values.begin(), p_values.end());
  for (int j = 0; j < 20; ++j)
    EXPECT_DOUBLE_EQ(p_values[static_cast<std::size_t>(j)], (j + 1) / 20.0);
}

TEST(MonteCarlo, PowerIsShownOrNotClaimed) {
  std::vector<double> null_statistics, far, near;
  for (int i = 0; i < 2000; ++i) {
    null_statistics.push_back(i / 2000.0);
    far.push_back(2.0);
    near.push_back(i / 1000.0);  // half of them beyond the null
  }
  const auto test = [&](double observed, const std::vector<double>& drifted) {
    return monte_carlo_test(contract(), observed, null_statistics, drifted, 77, "shift");
  };
  EXPECT_EQ(test(0.5, far).verdict, Verdict::kPass);
  EXPECT_EQ(test(0.5, far).required_n, 77);
  EXPECT_EQ(test(0.5, near).verdict, Verdict::kInconclusive);
  EXPECT_EQ(test(0.5, {}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(test(1.5, near).verdict, Verdict::kFail);
  const std::vector<double> few(50, 0.0);  // 1/51 can not reach .01
  EXPECT_EQ(monte_carlo_test(contract(), 9.0, few, far, 77, "shift").verdict,
            Verdict::kInconclusive);
  EXPECT_THROW(monte_carlo_test(contract(), 1.0, few, far, 77, ""), std::invalid_argument);
  EXPECT_THROW(monte_carlo_test(contract(), 1.0, few, far, -1, "shift"), std::invalid_argument);
}

TEST(Permutation, RefusesAndExcuses) {
  Uniform random(1);
  const UniformSource uniform = [&] { return random.next(); };
  const std::vector<double> a = {1.0, 2.0}, b = {3.0, 4.0}, same = {1.0, 1.0};
  EXPECT_EQ(permutation_test(contract(), a, b, 50, uniform).verdict, Verdict::kInconclusive);
  EXPECT_EQ(permutation_test(contract(), same, same, 500, uniform).verdict, Verdict::kInconclusive);
  EXPECT_THROW(permutation_test(contract(), a, std::vector<double>{}, 500, uniform),
               std::invalid_argument);
  EXPECT_THROW(permutation_test(contract(), a, b, 0, uniform), std::invalid_argument);
  EXPECT_THROW(permutation_test(contract(), a, b, 500, [] { return 1.0; }), std::invalid_argument);
}

TEST(Permutation, AgreesWithAllRelabelings) {
  // 3 + 3 values: 20 relabelings, of which the observed one and its mirror are the most extreme.
  Uniform random(1);
  const UniformSource uniform = [&] { return random.next(); };
  const std::vector<double> a = {1.0, 2.0, 3.0}, b = {4.0, 5.0, 6.5};
  const TestResult result = permutation_test(contract(), a, b, 40'000, uniform);
  EXPECT_NEAR(result.p_value, 0.1, 0.0075);  // 5 standard deviations
  EXPECT_EQ(result.n, 6);
}

TEST(PermutationStatistical, LevelHoldsAndAShiftOfTauIsCaught) {
  std::vector<double> p_values;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    const UniformSource uniform = [&] { return random.next(); };
    std::vector<double> a(20), b(30);
    for (double& x : a) x = std::pow(random.next(), 4.0);
    for (double& x : b) x = std::pow(random.next(), 4.0);
    p_values.push_back(permutation_test(contract(), a, b, 999, uniform).p_value);
  }
  EXPECT_LT(ks_statistic(p_values), testing::largest_allowed_distance(2000));
  const auto n_low =
      std::count_if(p_values.begin(), p_values.end(), [](double p) { return p < 2.5e-3; });
  EXPECT_LE(n_low, 17);  // 2 / 1000 of 2,000 expected: 4; P(X >= 18) < 1e-6

  const Contract strict = contract(1e-2, 0.5);
  int n_caught = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Uniform random(seed);
    const UniformSource uniform = [&] { return random.next(); };
    std::vector<double> a(2), b(2);
    for (auto* x : {&a, &b})
      for (double& value : *x) value = random.next();
    const auto half =
        static_cast<std::size_t>(permutation_test(strict, a, b, 999, uniform).required_n / 2 + 1);
    a.resize(half);
    b.resize(half);
    for (double& x : a) x = random.next();
    // The spread of the pooled values holds the shift too: sd^2 = 1/12 + shift^2 / 4.
    for (double& x : b) x = random.next() + 0.5 / std::sqrt(12.0 * (1.0 - 0.25 / 4));
    n_caught += permutation_test(strict, a, b, 999, uniform).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
