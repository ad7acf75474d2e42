#include "stats/collisions.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;
using Counts = std::vector<std::int64_t>;

Contract contract(double alpha = 1e-3, double tau = 0.5) {
  return Contract("collisions", "draws are independent", alpha, tau, 0.01);
}

TEST(Collisions, PoissonTailsMatchSciPy) {
  for (const auto& row : golden::kPoisson) {
    SCOPED_TRACE(::testing::Message() << row.k << " at " << row.rate);
    EXPECT_LE(relative_error(poisson_lower_tail(row.k, row.rate), row.lower), 1e-12);
    EXPECT_LE(relative_error(poisson_upper_tail(row.k, row.rate), row.upper), 1e-12);
  }
  EXPECT_EQ(poisson_lower_tail(-1, 2.0), 0.0);
  EXPECT_EQ(poisson_upper_tail(0, 2.0), 1.0);
  EXPECT_NEAR(poisson_two_sided_p(0, 3.0), 2.0 * std::exp(-3.0), 1e-15);
  EXPECT_EQ(poisson_two_sided_p(3, 3.0), 1.0);
  EXPECT_THROW(poisson_lower_tail(1, 0.0), std::invalid_argument);
}

TEST(Collisions, LawByHand) {
  // 4 draws of 100 equal outcomes: 6 pairs, each coincides with .01; pairs are pairwise
  // independent.
  const CollisionLaw law = collision_law(std::vector<double>(100, 0.01), 4);
  EXPECT_EQ(law.n_outcomes, 100);
  EXPECT_NEAR(law.mean, 0.06, 1e-15);
  EXPECT_NEAR(law.clusters[3], 400 * 1e-6 * 0.99, 1e-15);
  EXPECT_NEAR(law.clusters[4], 100 * 1e-8, 1e-18);
  EXPECT_EQ(law.clusters[5], 0.0);
  // Of 40 draws only outcomes of .0125 or less are rare.
  const CollisionLaw part = collision_law(std::vector<double>{0.969, 0.01, 0.013, 0.008}, 40);
  EXPECT_EQ(part.n_outcomes, 2);
  EXPECT_NEAR(part.mean, 780 * 1.64e-4, 1e-13);
}

// Exact law of the pairs among n draws, by adding one tail outcome after the other: the chance of x
// draws of it among those left. [pairs], cut at max_pairs.
std::vector<double> exact_pairs(const std::vector<double>& tail, int n, int max_pairs) {
  const std::size_t width = static_cast<std::size_t>(max_pairs) + 1;
  std::vector<double> chance((static_cast<std::size_t>(n) + 1) * width,
                             0.0);  // [draws left][pairs]
  chance[static_cast<std::size_t>(n) * width] = 1.0;
  double mass = 1.0;
  for (double p : tail) {
    const double share = p / mass;
    std::vector<double> next(chance.size(), 0.0);
    for (int left = 0; left <= n; ++left) {
      double pmf = std::pow(1.0 - share, left);
      for (int x = 0; x <= left && x <= 16; ++x) {
        for (int pairs = 0; pairs + x * (x - 1) / 2 <= max_pairs; ++pairs)
          next[static_cast<std::size_t>(left - x) * width +
               static_cast<std::size_t>(pairs + x * (x - 1) / 2)] +=
              pmf *
              chance[static_cast<std::size_t>(left) * width + static_cast<std::size_t>(pairs)];
        pmf *= share / (1.0 - share) * (left - x) / (x + 1);
      }
    }
    chance = next;
    mass -= p;
  }
  std::vector<double> pmf(width, 0.0);
  for (std::size_t i = 0; i < chance.size(); ++i) pmf[i % width] += chance[i];
  return pmf;
}

void expect_calibrated(const std::vector<double>& probs, const std::vector<double>& tail, int n) {
  const int max_pairs = 150;
  const std::vector<double> pmf = exact_pairs(tail, n, max_pairs);
  const CollisionLaw law = collision_law(probs, n);
  ASSERT_EQ(law.n_outcomes, static_cast<std::int64_t>(tail.size()));
  double mean = 0.0;
  for (int k = 0; k <= max_pairs; ++k) mean += k * pmf[static_cast<std::size_t>(k)];
  EXPECT_LE(relative_error(law.mean, mean), 1e-9);
  for (double alpha : {1e-2, 1e-3, 1e-4, 1e-6, 1e-9}) {
    double rejected = 0.0;
    for (int k = 0; k <= max_pairs; ++k)
      if (collision_two_sided_p(law, k) < alpha) rejected += pmf[static_cast<std::size_t>(k)];
    EXPECT_LE(rejected, alpha) << alpha << ", n = " << n << ", " << tail.size();
  }
}

TEST(Collisions, CalibratedAgainstTheExactLawOfSmallCases) {
  // All outcomes rare; half the mass; a skewed tail of which some outcomes come close to the bound.
  for (int n : {20, 50}) {
    const std::size_t v = 2 * static_cast<std::size_t>(n);
    expect_calibrated(std::vector<double>(v, 1.0 / static_cast<double>(v)),
                      std::vector<double>(v, 1.0 / static_cast<double>(v)), n);
    std::vector<double> tail(v / 2, 1.0 / static_cast<double>(v)), half = tail;
    half.push_back(0.5);
    expect_calibrated(half, tail, n);
    std::vector<double> skewed;
    double mass = 0.0;
    for (std::size_t i = 0; i < v; ++i) {
      skewed.push_back(0.499 / n / (1.0 + 0.2 * static_cast<double>(i)));
      mass += skewed.back();
    }
    std::vector<double> probs = skewed;
    probs.push_back(1.0 - mass);
    expect_calibrated(probs, skewed, n);
  }
}

TEST(Collisions, TriplesMatterAndAreAllowedFor) {
  // 100 outcomes at the bound in a mass of 1/10: plain Poisson tails are far too light.
  const int n = 500;
  const std::vector<double> tail(100, 0.001);
  std::vector<double> probs = tail;
  probs.push_back(0.9);
  expect_calibrated(probs, tail, n);
  const std::vector<double> pmf = exact_pairs(tail, n, 150);
  const CollisionLaw law = collision_law(probs, n);
  double plain = 0.0;
  for (int k = 0; k <= 150; ++k)
    if (poisson_two_sided_p(k, law.mean) < 1e-6) plain += pmf[static_cast<std::size_t>(k)];
  EXPECT_GT(plain, 600e-6);
}

TEST(Collisions, SumAndNormalTailMeet) {
  // Both sides of a mean of 4,000, all outcomes at the bound: p at up to five standard deviations.
  const std::vector<double> law(32'000, 1.0 / 32'000);
  CollisionLaw below = collision_law(law, 16'000), above = below;
  ASSERT_NEAR(below.mean, 3999.75, 0.01);
  above.mean = 4000.0 + 1e-9;
  below.mean = 4000.0 - 1e-9;
  for (std::int64_t k : {3550, 3700, 3800, 4200, 4350, 4480}) {
    EXPECT_LE(relative_error(collision_two_sided_p(above, k), collision_two_sided_p(below, k)), 0.1)
        << k << ": " << collision_two_sided_p(below, k);
  }
}

TEST(Collisions, TestNeedsRareOutcomesAndPower) {
  const std::vector<double> flat(1000, 0.001);
  Counts counts(1000, 0);
  for (std::size_t i = 0; i < 90; ++i) counts[i] = 1;  // 90 draws, 4.005 pairs expected, none seen
  const TestResult few = collision_test(contract(), counts, flat);
  EXPECT_EQ(few.verdict, Verdict::kInconclusive);
  EXPECT_EQ(few.statistic, 0.0);
  double clusters = 0.0;  // none of any size
  for (std::size_t x = 2; x <= 16; ++x) clusters += collision_law(flat, 90).clusters[x];
  EXPECT_NEAR(few.p_value, 2.0 * std::exp(-clusters), 1e-12);
  EXPECT_GT(few.p_value, 2.0 * std::exp(-4.005));
  EXPECT_GT(few.required_n, 400);
  const TestResult strict = collision_test(contract(1e-9), counts, flat);
  EXPECT_EQ(strict.required_n, kNoSampleSuffices);  // the tail ends at n = 500
  Counts common(1000, 1);
  EXPECT_EQ(collision_test(contract(), common, flat).verdict, Verdict::kInconclusive);
  const std::vector<double> lame = {0.5, 0.5, 0.0};
  EXPECT_EQ(collision_test(contract(), Counts{3, 3, 1}, lame).verdict, Verdict::kFail);
  EXPECT_THROW(collision_test(contract(), Counts{1, 1}, lame), std::invalid_argument);
  EXPECT_THROW(collision_law(flat, 0), std::invalid_argument);
  EXPECT_THROW(collision_two_sided_p(CollisionLaw{}, 1), std::invalid_argument);
}

constexpr std::size_t kIds = 50'000;

std::vector<double> flat_law() { return std::vector<double>(kIds, 1.0 / kIds); }

// n draws; every `reuse`-th draws again what the one before drew.
Counts draw(Uniform& random, std::int64_t n, std::int64_t reuse) {
  Counts counts(kIds, 0);
  std::size_t id = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (reuse == 0 || i % reuse != 1) id = static_cast<std::size_t>(random.next() * kIds);
    ++counts[id];
  }
  return counts;
}

TEST(CollisionsStatistical, LevelHoldsAndTheDriftIsCaught) {
  const Contract strict = contract(1e-3, 0.5);
  const std::vector<double> law = flat_law();
  Uniform first(1);
  const std::int64_t n = collision_test(strict, draw(first, 1000, 0), law).required_n;
  ASSERT_LT(n, 5000);
  const CollisionLaw expected = collision_law(law, n);
  int n_low = 0, n_twentieth = 0, n_caught = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    std::int64_t pairs = 0;
    for (std::int64_t x : draw(random, n, 0)) pairs += x * (x - 1) / 2;
    const double p = collision_two_sided_p(expected, pairs);
    n_low += p < 1e-3;
    n_twentieth += p < 0.05;
    if (seed >= 200) continue;
    // Reuse adds n / reuse pairs: half as many again as expected.
    const auto reuse = static_cast<std::int64_t>(static_cast<double>(n) / (0.5 * expected.mean));
    std::int64_t planted = 0;
    for (std::int64_t x : draw(random, n, reuse)) planted += x * (x - 1) / 2;
    n_caught += collision_two_sided_p(expected, planted) < 1e-3;
    if (seed > 0) continue;
    EXPECT_EQ(collision_test(strict, draw(random, n, reuse), law).verdict, Verdict::kFail);
    EXPECT_EQ(collision_test(strict, draw(random, n, 0), law).verdict, Verdict::kPass);
  }
  EXPECT_LE(n_low, 13);         // 2 expected at most; P(X >= 14) < 1e-6
  EXPECT_LE(n_twentieth, 149);  // 100 expected at most; P(X >= 150) < 1e-6
  EXPECT_GE(n_twentieth, 40);
  EXPECT_GE(n_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
