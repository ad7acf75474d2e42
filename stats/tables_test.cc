#include "stats/tables.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/kolmogorov.h"
#include "stats/pearson.h"
#include "stats/power.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::draw_counts;
using testing::relative_error;
using testing::Uniform;
using Counts = std::vector<std::int64_t>;

Contract contract(double alpha = 1e-3, double tau = 0.05) {
  return Contract("table", "one law", alpha, tau, 0.01, 1e-9);
}

CountTable table_of(std::size_t rows, std::size_t cols, const Counts& counts) {
  CountTable table(rows, cols);
  table.counts = counts;
  return table;
}

TEST(Tables, MatchSciPy) {
  for (const auto& row : golden::kTables) {
    const auto rows = static_cast<std::size_t>(row.rows), cols = static_cast<std::size_t>(row.cols);
    const CountTable table =
        table_of(rows, cols, Counts(row.counts, row.counts + row.rows * row.cols));
    SCOPED_TRACE(row.statistic);
    for (const TestResult& result :
         {homogeneity_test(contract(), table), independence_test(contract(), table)}) {
      EXPECT_LE(relative_error(result.statistic, row.statistic), 1e-12);
      EXPECT_LE(relative_error(result.p_value, row.p), 1e-12);
    }
  }
}

TEST(Tables, TwoSamplesByHand) {
  // Columns expect 100 and 300 in each sample: 2 (20^2 / 100) + 2 (20^2 / 300) = 10.667.
  const TestResult result = two_sample_test(contract(), Counts{120, 280}, Counts{80, 320});
  EXPECT_NEAR(result.statistic, 8.0 + 800.0 / 300.0, 1e-12);
  EXPECT_EQ(result.n, 800);
  // lambda >= 4 n1 n2 / (n1 + n2) TV^2 = 800 TV^2.
  const double lambda = chi_squared_noncentrality(1, 1e-3, 0.01);
  EXPECT_NEAR(result.min_detectable, std::sqrt(lambda / 800.0), 1e-12);
  EXPECT_NEAR(static_cast<double>(result.required_n), lambda / (0.05 * 0.05), 1.0);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
}

TEST(Tables, DriftBoundHoldsForAnyLaws) {
  // n_i sum (P_i - M)^2 / M >= 4 n_0 (n - n_0) / n TV(P_0, the rest)^2.
  Uniform random(3);
  for (int trial = 0; trial < 200; ++trial) {
    double law[3][5], size[3], mixture[5] = {}, rest[5] = {}, n = 0.0, lambda = 0.0, tv = 0.0;
    for (int i = 0; i < 3; ++i) {
      double sum = 0.0;
      for (double& p : law[i]) sum += p = random.next();
      for (double& p : law[i]) p /= sum;
      n += size[i] = 0.1 + random.next();
    }
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 3; ++i) mixture[j] += size[i] / n * law[i][j];
      for (int i = 1; i < 3; ++i) rest[j] += size[i] / (n - size[0]) * law[i][j];
      for (int i = 0; i < 3; ++i)
        lambda += size[i] * (law[i][j] - mixture[j]) * (law[i][j] - mixture[j]) / mixture[j];
      tv += 0.5 * std::fabs(law[0][j] - rest[j]);
    }
    EXPECT_GE(lambda, 4.0 * size[0] * (n - size[0]) / n * tv * tv - 1e-12);
  }
}

TEST(Tables, RareLabelsAreMergedByTheMargins) {
  // Column totals 6, 14, 90, 1890; the smaller sample is a tenth: pools must hold 500 in all.
  const Counts small = {1, 2, 9, 188}, large = {5, 12, 81, 1702};
  const TestResult result = two_sample_test(contract(), small, large);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.p_value, 1.0);
  EXPECT_NE(result.reason.find("one pool"), std::string::npos);
  EXPECT_GT(result.required_n, 9'000);
  // Ten times as many: 60 + 140 + 900 make one pool, 18,900 the other.
  Counts tens = small, hundreds = large;
  for (auto& x : tens) x *= 10;
  for (auto& x : hundreds) x *= 10;
  const TestResult ten = two_sample_test(contract(), tens, hundreds);
  EXPECT_NEAR(ten.min_detectable,
              std::sqrt(chi_squared_noncentrality(1, 1e-3, 0.01) / (4 * 1800.0)), 1e-12);
}

TEST(Tables, NothingToCompareIsInconclusive) {
  const TestResult one_column = two_sample_test(contract(), Counts{900, 0}, Counts{800, 0});
  EXPECT_EQ(one_column.verdict, Verdict::kInconclusive);
  EXPECT_EQ(one_column.required_n, kNoSampleSuffices);
  const TestResult one_row = independence_test(contract(), table_of(2, 2, {500, 500, 0, 0}));
  EXPECT_EQ(one_row.verdict, Verdict::kInconclusive);
}

TEST(Tables, IndependenceIgnoresEmptyLabels) {
  const TestResult with =
      independence_test(contract(), table_of(3, 3, {600, 0, 400, 0, 0, 0, 400, 0, 600}));
  const TestResult without = independence_test(contract(), table_of(2, 2, {600, 400, 400, 600}));
  EXPECT_EQ(with.statistic, without.statistic);
  EXPECT_EQ(with.p_value, without.p_value);
  EXPECT_EQ(without.verdict, Verdict::kFail);
}

TEST(Tables, SharedRandomNumbersAreTooGood) {
  Uniform random(5);
  const std::vector<double> law(16, 1.0 / 16);
  const Counts sample = draw_counts(random, law, 20'000);
  const TestResult same = two_sample_test(contract(), sample, sample);
  EXPECT_EQ(same.verdict, Verdict::kFail);
  EXPECT_LT(same.p_lower, 1e-9);
  const TestResult fresh = two_sample_test(contract(), sample, draw_counts(random, law, 20'000));
  EXPECT_NE(fresh.verdict, Verdict::kFail);
}

TEST(Tables, RefuseBadTables) {
  EXPECT_THROW(two_sample_test(contract(), Counts{1, 2}, Counts{1, 2, 3}), std::invalid_argument);
  EXPECT_THROW(two_sample_test(contract(), Counts{0, 0}, Counts{1, 2}), std::invalid_argument);
  EXPECT_THROW(two_sample_test(contract(), Counts{-1, 2}, Counts{1, 2}), std::invalid_argument);
  EXPECT_THROW(homogeneity_test(contract(), table_of(1, 2, {1, 2})), std::invalid_argument);
  EXPECT_THROW(independence_test(contract(), table_of(2, 2, {1, 2, 3})), std::invalid_argument);
  EXPECT_THROW(independence_test(contract(), CountTable(2, 0)), std::invalid_argument);
}

constexpr int kSeeds = 2000;

TEST(TablesStatistical, NullPValuesAreUniformWhateverTheLaw) {
  const std::vector<double> law = {0.4, 0.3, 0.15, 0.1, 0.03, 0.01, 0.01};
  const std::vector<double> joint = {0.28, 0.12, 0.14, 0.06, 0.28, 0.12};  // rows x (.7, .3)
  std::vector<double> two, three, independent;
  int n_low = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Uniform random(seed);
    CountTable rows(3, law.size());
    rows.counts.clear();
    for (int n : {3000, 6000, 8000})
      for (std::int64_t count : draw_counts(random, law, n)) rows.counts.push_back(count);
    three.push_back(homogeneity_test(contract(), rows).p_value);
    two.push_back(
        two_sample_test(contract(), draw_counts(random, law, 4000), draw_counts(random, law, 9000))
            .p_value);
    independent.push_back(
        independence_test(contract(), table_of(3, 2, draw_counts(random, joint, 4000))).p_value);
    n_low += (two.back() < 1e-3) + (three.back() < 1e-3) + (independent.back() < 1e-3);
  }
  EXPECT_LT(ks_statistic(two), testing::largest_allowed_distance(kSeeds));
  EXPECT_LT(ks_statistic(three), testing::largest_allowed_distance(kSeeds));
  EXPECT_LT(ks_statistic(independent), testing::largest_allowed_distance(kSeeds));
  // 6 expected of 6,000; P(X >= 22) < 1e-6.
  EXPECT_LE(n_low, 21);
}

TEST(TablesStatistical, DriftOfTauIsCaughtAtTheRequiredSize) {
  const double tau = 0.03, alpha = 1e-4;
  const Contract strict("table", "h", alpha, tau, 0.01);
  // The hardest direction: uniform bins, half of them up and half down.
  const std::vector<double> law(8, 0.125);
  std::vector<double> drifted = law;
  for (std::size_t i = 0; i < 8; ++i) drifted[i] += i < 4 ? tau / 4 : -tau / 4;
  const double lambda = chi_squared_noncentrality(7, alpha, 0.01);
  const auto n = static_cast<int>(std::ceil(lambda / (4 * 0.25 * 0.75 * tau * tau)));
  // Joint law (1/16)(1 +- 2 tau), the sign that of a checkerboard: total variation tau.
  std::vector<double> joint(16);
  for (std::size_t cell = 0; cell < 16; ++cell)
    joint[cell] = (1.0 + ((cell / 4 + cell) % 2 == 0 ? 2 : -2) * tau) / 16;
  const auto n_joint = static_cast<int>(pearson_required_n(9, alpha, 0.01, tau));
  int n_caught = 0, n_joint_caught = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Uniform random(seed);
    const TestResult result = two_sample_test(strict, draw_counts(random, drifted, n / 4),
                                              draw_counts(random, law, n - n / 4));
    EXPECT_NEAR(static_cast<double>(result.required_n), n, 3.0);
    n_caught += result.verdict == Verdict::kFail;
    const TestResult dependent =
        independence_test(strict, table_of(4, 4, draw_counts(random, joint, n_joint)));
    EXPECT_EQ(dependent.required_n, n_joint);
    n_joint_caught += dependent.verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught, 190);
  EXPECT_GE(n_joint_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
