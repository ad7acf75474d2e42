#include "stats/kolmogorov.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/pearson.h"
#include "stats/power.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;

Contract contract(double alpha = 1e-6, double tau = 0.01) {
  return Contract("ks", "the PIT is uniform", alpha, tau, 0.01, 1e-7);
}

TEST(Kolmogorov, LimitMatchesSciPyInBothTails) {
  for (const auto& row : golden::kKolmogorovLimit) {
    SCOPED_TRACE(row.lambda);
    EXPECT_LE(relative_error(kolmogorov_limit_sf(row.lambda), row.upper), 1e-12);
    EXPECT_LE(relative_error(kolmogorov_limit_cdf(row.lambda), row.lower), 1e-12);
  }
  EXPECT_EQ(kolmogorov_limit_cdf(0.0), 0.0);
  EXPECT_EQ(kolmogorov_limit_sf(0.0), 1.0);
  EXPECT_EQ(kolmogorov_limit_sf(std::numeric_limits<double>::infinity()), 0.0);
}

TEST(Kolmogorov, SmallSamplesAreExact) {
  // Where n d^2 is near 4.5 both methods lose about 5e-12: a complement below, exp(-6 n d^2) above.
  for (const auto& row : golden::kKolmogorovExact) {
    SCOPED_TRACE(::testing::Message() << "d = " << row.d << ", n = " << row.n);
    EXPECT_LE(relative_error(kolmogorov_sf(row.d, row.n), row.upper), 1e-11);
    EXPECT_LE(relative_error(kolmogorov_cdf(row.d, row.n), row.lower), 1e-12);
  }
}

TEST(Kolmogorov, OneValueByHand) {
  // D_1 = max(u, 1 - u): P(D_1 < d) = 2 d - 1.
  EXPECT_DOUBLE_EQ(kolmogorov_cdf(0.75, 1), 0.5);
  EXPECT_DOUBLE_EQ(kolmogorov_sf(0.75, 1), 0.5);
  EXPECT_EQ(kolmogorov_sf(0.4, 1), 1.0);
  // P(D_2 < d) = 2 (2 d - 1/2)^2 for d in [1/4, 1/2].
  EXPECT_NEAR(kolmogorov_cdf(0.4, 2), 0.18, 1e-15);
}

TEST(Kolmogorov, LargeSamplesAreNearTheExactLaw) {
  for (const auto& row : golden::kKolmogorovLarge) {
    SCOPED_TRACE(::testing::Message() << "d = " << row.d << ", n = " << row.n);
    // The neglected n^(-3/2) term is 2.2 % at the far corner, n = 101 and p = 5e-9.
    EXPECT_LE(relative_error(kolmogorov_sf(row.d, row.n), row.upper), row.n < 200 ? 0.03 : 0.01);
    EXPECT_LE(relative_error(kolmogorov_cdf(row.d, row.n), row.lower), 0.01);
  }
}

TEST(Kolmogorov, TailsAreMonotoneAndComplementary) {
  for (std::int64_t n : {1, 4, 37, 100, 101, 5000, 1'000'000}) {
    const double step = 4.0 / std::sqrt(static_cast<double>(n)) / 200.0;
    double last = 1.0;
    for (int i = 0; i <= 200; ++i) {
      const double sf = kolmogorov_sf(i * step, n);
      EXPECT_GE(sf, 0.0);
      EXPECT_LE(sf, last * (1 + 1e-10)) << "n " << n << ", d " << i * step;
      EXPECT_NEAR(sf + kolmogorov_cdf(i * step, n), 1.0, 1e-9);
      last = sf;
    }
  }
}

TEST(Kolmogorov, RefusesBadArguments) {
  EXPECT_THROW(kolmogorov_sf(0.1, 0), std::invalid_argument);
  EXPECT_THROW(kolmogorov_cdf(std::nan(""), 10), std::invalid_argument);
  EXPECT_THROW(kolmogorov_limit_sf(-1.0), std::invalid_argument);
  EXPECT_THROW(kolmogorov_limit_cdf(std::nan("")), std::invalid_argument);
}

TEST(KsStatistic, ByHand) {
  EXPECT_DOUBLE_EQ(ks_statistic(std::vector<double>{0.5}), 0.5);
  EXPECT_DOUBLE_EQ(ks_statistic(std::vector<double>{0.9, 0.1}), 0.4);
  EXPECT_DOUBLE_EQ(ks_statistic(std::vector<double>{0.0, 0.0, 0.0}), 1.0);
  EXPECT_THROW(ks_statistic({}), std::invalid_argument);
  EXPECT_THROW(ks_statistic(std::vector<double>{1.5}), std::invalid_argument);
  EXPECT_THROW(ks_statistic(std::vector<double>{std::nan("")}), std::invalid_argument);
}

TEST(PitAccumulator, BracketsTheExactStatistic) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Uniform random(seed);
    std::vector<double> values(static_cast<std::size_t>(10 + 1000 * seed));
    PitAccumulator pit;
    for (double& u : values)
      pit.add(u = std::pow(random.next(), 1.0 + 0.01 * static_cast<double>(seed)));
    const double exact = ks_statistic(values);
    EXPECT_LE(pit.edge_statistic(), exact + 1e-15);
    EXPECT_GE(pit.edge_statistic(), exact - 1.0 / PitAccumulator::kCells);
  }
}

TEST(PitAccumulator, MergeEqualsOneAccumulator) {
  Uniform random(3);
  PitAccumulator whole, left, right;
  for (int i = 0; i < 20'000; ++i) {
    const double u = random.next();
    whole.add(u);
    (i % 3 == 0 ? left : right).add(u);
  }
  left.merge(right);
  EXPECT_EQ(left.n(), whole.n());
  EXPECT_EQ(left.edge_statistic(), whole.edge_statistic());
  EXPECT_EQ(left.bin_counts(), whole.bin_counts());
}

TEST(PitAccumulator, BinsAreEqualAndEdgesBelongAbove) {
  PitAccumulator pit;
  pit.add(0.0);
  pit.add(1.0 / 64);
  pit.add(std::nextafter(1.0 / 64, 0.0));
  pit.add(1.0);
  const auto bins = pit.bin_counts();
  ASSERT_EQ(bins.size(), 64u);
  EXPECT_EQ(bins[0], 2);
  EXPECT_EQ(bins[1], 1);
  EXPECT_EQ(bins[63], 1);
}

TEST(PitAccumulator, RefusesWhatIsNoProbability) {
  PitAccumulator pit;
  EXPECT_THROW(pit.add(-1e-9), std::invalid_argument);
  EXPECT_THROW(pit.add(1.0 + 1e-9), std::invalid_argument);
  EXPECT_THROW(pit.add(std::nan("")), std::invalid_argument);
  EXPECT_EQ(pit.n(), 0);
  EXPECT_THROW(pit.edge_statistic(), std::invalid_argument);
  EXPECT_THROW(ks_uniform_test(contract(), pit), std::invalid_argument);
}

TEST(KsTest, StreamAndListAgreeUpToTheCells) {
  Uniform random(5);
  std::vector<double> values(50'000);
  PitAccumulator pit;
  for (double& u : values) pit.add(u = random.next());
  const TestResult list = ks_uniform_test(contract(), values);
  const TestResult stream = ks_uniform_test(contract(), pit);
  EXPECT_NEAR(stream.statistic, list.statistic, 1.0 / PitAccumulator::kCells);
  EXPECT_GE(stream.p_value, list.p_value);
  EXPECT_GE(stream.p_lower, list.p_lower);
  EXPECT_DOUBLE_EQ(stream.min_detectable, list.min_detectable + 1.0 / PitAccumulator::kCells);
  EXPECT_EQ(list.required_n, dkw_required_n(1e-6, 0.01, 0.01));
  EXPECT_GT(stream.required_n, list.required_n);
}

TEST(KsTest, FinerThanTheCellsCannotPass) {
  PitAccumulator pit;
  pit.add(0.5);
  EXPECT_EQ(ks_uniform_test(contract(1e-6, 1e-5), pit).required_n, kNoSampleSuffices);
}

TEST(KsTest, GridIsTooGoodAndConstantIsCaught) {
  PitAccumulator grid, constant;
  for (int i = 0; i < 400'000; ++i) grid.add((i + 0.5) / 400'000);
  for (int i = 0; i < 100; ++i) constant.add(0.25);
  const TestResult too_good = ks_uniform_test(contract(), grid);
  EXPECT_EQ(too_good.verdict, Verdict::kFail);
  EXPECT_NE(too_good.reason.find("too good"), std::string::npos);
  EXPECT_EQ(ks_uniform_test(contract(), constant).verdict, Verdict::kFail);
}

TEST(KsStatistical, NullPValuesAreUniform) {
  for (int n : {20, 400, 3000}) {
    std::vector<double> from_list, from_stream_upper;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      Uniform random(seed + 77);
      std::vector<double> values(static_cast<std::size_t>(n));
      for (double& u : values) u = random.next();
      const TestResult result = ks_uniform_test(contract(), values);
      from_list.push_back(result.p_value);
      EXPECT_NEAR(result.p_value + result.p_lower, 1.0, 1e-9);
    }
    EXPECT_LT(ks_statistic(from_list), testing::largest_allowed_distance(2000)) << n;
  }
}

TEST(KsStatistical, StreamIsCalibratedAndItsBinsToo) {
  std::vector<double> ks_p, bins_p;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed + 991);
    PitAccumulator pit;
    for (int i = 0; i < 6400; ++i) pit.add(random.next());
    ks_p.push_back(ks_uniform_test(contract(), pit).p_value);
    bins_p.push_back(pearson_uniform_test(contract(), pit.bin_counts()).p_value);
  }
  EXPECT_LT(ks_statistic(ks_p), testing::largest_allowed_distance(2000));
  EXPECT_LT(ks_statistic(bins_p), testing::largest_allowed_distance(2000));
}

TEST(KsStatistical, DriftOfTauIsCaught) {
  // Mass tau moved from the upper to the lower half: Kolmogorov distance tau, reached at 1/2.
  const double tau = 0.05;
  const Contract strict("ks", "h", 1e-4, tau, 0.05);
  const std::int64_t n = dkw_required_n(1e-4, 0.05, tau);
  int n_caught = 0;
  int n_passed = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Uniform random(seed);
    std::vector<double> drifted, fair;
    for (std::int64_t i = 0; i < n; ++i) {
      const double u = random.next();
      fair.push_back(u);
      drifted.push_back(random.bit(0.5 + tau) ? 0.5 * u : 0.5 + 0.5 * u);
    }
    n_caught += ks_uniform_test(strict, drifted).verdict == Verdict::kFail;
    n_passed += ks_uniform_test(strict, fair).verdict == Verdict::kPass;
  }
  EXPECT_GE(n_caught, 475);
  EXPECT_GE(n_passed, 499);
}

}  // namespace
}  // namespace specbench::stats
