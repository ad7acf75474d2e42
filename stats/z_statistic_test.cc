#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "stats/binomial.h"
#include "stats/golden/golden.h"
#include "stats/kolmogorov.h"
#include "stats/power.h"
#include "stats/test_support.h"
#include "stats/z_test.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;

Contract contract(double tau = 0.01) { return Contract("z", "bits follow a", 1e-6, tau, 0.01); }

TEST(CompensatedSum, KeepsWhatPlainAdditionLoses) {
  CompensatedSum sum;
  sum.add(1e16);
  for (int i = 0; i < 1000; ++i) sum.add(0.1);
  sum.add(-1e16);
  EXPECT_NEAR(sum.value(), 100.0, 1e-10);
}

TEST(AcceptBits, SumsByHand) {
  AcceptBits bits;
  bits.add(true, 0.25);
  bits.add(false, 0.5);
  bits.add(true, 0.5);
  EXPECT_EQ(bits.n(), 3);
  EXPECT_EQ(bits.n_accepted(), 2);
  EXPECT_DOUBLE_EQ(bits.excess(), 0.75);
  EXPECT_DOUBLE_EQ(bits.expected(), 1.25);
  EXPECT_DOUBLE_EQ(bits.variance(), 0.6875);
  EXPECT_DOUBLE_EQ(bits.third_cumulant(), 0.09375);
  EXPECT_DOUBLE_EQ(bits.z(), 0.75 / std::sqrt(0.6875));
  EXPECT_EQ(bits.n_impossible(), 0);
  EXPECT_THROW(bits.add(true, 1.1), std::invalid_argument);
  EXPECT_THROW(bits.add(true, std::nan("")), std::invalid_argument);
}

TEST(AcceptBits, MergeEqualsOneAccumulator) {
  Uniform random(1);
  AcceptBits whole, left, right;
  for (int i = 0; i < 10'000; ++i) {
    const double a = random.next();
    const bool accepted = random.bit(a);
    whole.add(accepted, a);
    (i % 3 == 0 ? left : right).add(accepted, a);
  }
  left.merge(right);
  EXPECT_EQ(left.n(), whole.n());
  EXPECT_EQ(left.n_accepted(), whole.n_accepted());
  EXPECT_NEAR(left.excess(), whole.excess(), 1e-11);
  EXPECT_NEAR(left.variance(), whole.variance(), 1e-11);
  EXPECT_NEAR(left.third_cumulant(), whole.third_cumulant(), 1e-11);
  EXPECT_NEAR(left.z(), whole.z(), 1e-12);
}

TEST(ZTwoSidedP, IsTheNormalTailWithoutSkewness) {
  for (const auto& row : golden::kNormal) {
    if (row.x < 0.0) continue;
    EXPECT_LE(relative_error(z_two_sided_p(row.x), 2.0 * row.y), 1e-12);
    EXPECT_EQ(z_two_sided_p(row.x), z_two_sided_p(-row.x));
  }
  EXPECT_EQ(z_two_sided_p(0.0), 1.0);
}

TEST(ZTwoSidedP, FallsInBothTailsWhateverTheSkewness) {
  for (double skewness : {-0.1, -0.02, 0.0, 0.02, 0.1}) {
    for (double sign : {-1.0, 1.0}) {
      double last = 2.0;
      for (double z = 0.2; z < 36.0; z += 0.2) {
        const double p = z_two_sided_p(sign * z, skewness);
        EXPECT_GE(p, 0.0);
        EXPECT_LE(p, 1.0);
        if (p > 0.0) {
          EXPECT_LT(p, last) << z << " " << skewness;
        }
        last = p;
      }
    }
  }
}

TEST(ZTwoSidedP, SkewnessBringsItNearTheExactTail) {
  // Binomial(10000, .01): variance 99, skewness .0985; k = 157 lies 5.7 standard deviations out.
  const double variance = 99.0, skewness = 0.98 / std::sqrt(variance);
  const double exact = 2 * binomial_upper_tail(157, 10'000, 0.01);
  const double z = (157 - 0.5 - 100) / std::sqrt(variance);
  EXPECT_LT(z_two_sided_p(z), exact / 5.0);  // the plain normal tail alarms far too easily
  EXPECT_GT(z_two_sided_p(z, skewness), exact / 2.0);
  EXPECT_LT(z_two_sided_p(z, skewness), exact * 2.0);
}

AcceptBits constant_bits(std::int64_t n, std::int64_t k, double a) {
  AcceptBits bits;
  for (std::int64_t i = 0; i < n; ++i) bits.add(i < k, a);
  return bits;
}

TEST(ZTest, PassesWithPowerAndFailsBiasedBits) {
  EXPECT_EQ(z_test(contract(), constant_bits(200'000, 100'100, 0.5)).verdict, Verdict::kPass);
  EXPECT_EQ(z_test(contract(), constant_bits(200'000, 102'000, 0.5)).verdict, Verdict::kFail);
  const TestResult small = z_test(contract(), constant_bits(10'000, 5'000, 0.5));
  EXPECT_EQ(small.verdict, Verdict::kInconclusive);
  EXPECT_EQ(small.required_n, z_required_n(1e-6, 0.01, 0.25, 0.01));
  EXPECT_DOUBLE_EQ(small.min_detectable, z_min_detectable(1e-6, 0.01, 2500, 10'000));
  EXPECT_EQ(small.drift_kind, "mean acceptance");
}

TEST(ZTest, ImpossibleBitsFail) {
  AcceptBits bits = constant_bits(1000, 500, 0.5);
  bits.add(true, 1.0);
  bits.add(false, 0.0);
  EXPECT_NE(z_test(contract(), bits).verdict, Verdict::kFail);
  bits.add(true, 0.0);
  EXPECT_EQ(z_test(contract(), bits).verdict, Verdict::kFail);
  EXPECT_EQ(z_test(contract(), bits).p_value, 0.0);
}

TEST(ZTest, CertainBitsAreNotTestable) {
  EXPECT_EQ(z_test(contract(), constant_bits(1000, 1000, 1.0)).verdict, Verdict::kInconclusive);
  EXPECT_THROW(z_test(contract(), AcceptBits()), std::invalid_argument);
}

TEST(ZTest, ARareBitRaisesNoFalseAlarm) {
  // One accept in 70 bits of probability 1e-4: Z = 11.9, but it happens in .7 % of runs.
  const AcceptBits bits = constant_bits(70, 1, 1e-4);
  EXPECT_GT(bits.z(), 11.0);
  const TestResult result = z_test(contract(), bits);
  EXPECT_NE(result.verdict, Verdict::kFail);
  EXPECT_GE(result.p_value, 2 * binomial_upper_tail(1, 70, 1e-4) * (1 - 1e-12));
  EXPECT_EQ(z_test(contract(), constant_bits(70, 6, 1e-4)).verdict, Verdict::kFail);
}

TEST(PoissonBinomial, LawMatchesSciPyAndTheBinomial) {
  std::vector<double> probs;
  for (int i = 0; i < 40; ++i) probs.push_back(((7 * i) % 19 + 0.5) / 20.0);
  const std::vector<double> pmf = poisson_binomial_pmf(probs);
  EXPECT_NEAR(std::accumulate(pmf.begin(), pmf.end(), 0.0), 1.0, 1e-14);
  for (const auto& row : golden::kPoissonBinomial) {
    // SciPy uses a discrete Fourier transform, with an absolute error of 1e-16.
    EXPECT_NEAR(pmf[static_cast<std::size_t>(row.k)], row.value, 1e-15 + 1e-12 * row.value);
  }
  const std::vector<double> even = poisson_binomial_pmf(std::vector<double>(200, 0.3));
  for (std::int64_t k = 20; k < 110; k += 7) {
    const double exact = binomial_upper_tail(k, 200, 0.3) - binomial_upper_tail(k + 1, 200, 0.3);
    EXPECT_NEAR(even[static_cast<std::size_t>(k)], exact, 1e-13);
  }
}

TEST(PoissonBinomial, TestIsExactForFewAndNormalForMany) {
  const std::vector<double> few(1000, 0.4);
  EXPECT_LE(relative_error(poisson_binomial_test(contract(), 430, few).p_value,
                           binomial_two_sided_p(430, 1000, 0.4)),
            1e-10);
  EXPECT_EQ(poisson_binomial_test(contract(), 500, few).verdict, Verdict::kFail);
  EXPECT_EQ(poisson_binomial_test(contract(), 400, few).verdict, Verdict::kInconclusive);
  const std::vector<double> many(200'000, 0.4);
  EXPECT_EQ(poisson_binomial_test(contract(), 80'000, many).verdict, Verdict::kPass);
  EXPECT_EQ(poisson_binomial_test(contract(), 82'000, many).verdict, Verdict::kFail);
  EXPECT_NEAR(poisson_binomial_test(contract(), 80'300, many).p_value,
              binomial_two_sided_p(80'300, 200'000, 0.4), 0.01);
}

TEST(PoissonBinomial, ImpossibleCountsFail) {
  const std::vector<double> probs = {1.0, 0.5, 0.0};
  EXPECT_EQ(poisson_binomial_test(contract(), 0, probs).verdict, Verdict::kFail);
  EXPECT_EQ(poisson_binomial_test(contract(), 3, probs).verdict, Verdict::kFail);
  EXPECT_NE(poisson_binomial_test(contract(), 1, probs).verdict, Verdict::kFail);
  EXPECT_EQ(poisson_binomial_test(contract(), 1, std::vector<double>{1.0}).verdict,
            Verdict::kInconclusive);
}

TEST(PoissonBinomial, RefusesBadArguments) {
  EXPECT_THROW(poisson_binomial_test(contract(), 0, {}), std::invalid_argument);
  EXPECT_THROW(poisson_binomial_test(contract(), 2, std::vector<double>{0.5}),
               std::invalid_argument);
  EXPECT_THROW(poisson_binomial_pmf(std::vector<double>{1.5}), std::invalid_argument);
  EXPECT_THROW(poisson_binomial_pmf(std::vector<double>(2001, 0.5)), std::invalid_argument);
  EXPECT_THROW(z_min_detectable(1e-6, 0.01, 1.0, 0), std::invalid_argument);
  EXPECT_THROW(z_two_sided_p(std::nan("")), std::invalid_argument);
}

TEST(ZStatistical, NullPValuesAreUniform) {
  std::vector<double> p_values;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    AcceptBits bits;
    for (int i = 0; i < 5000; ++i) {
      const double a = random.next();
      bits.add(random.bit(a), a);
    }
    p_values.push_back(z_test(contract(), bits).p_value);
  }
  EXPECT_LT(ks_statistic(p_values), testing::largest_allowed_distance(2000));
}

TEST(ZStatistical, RareBitsStayBelowTheirLevel) {
  // Expected 5 accepts: the binomial bound must hold its level, tested at 1 %.
  const Contract loose("z", "h", 0.01, 0.01, 0.01);
  int n_failed = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    AcceptBits bits;
    for (int i = 0; i < 1000; ++i) bits.add(random.bit(0.005), 0.005);
    n_failed += z_test(loose, bits).verdict == Verdict::kFail;
  }
  EXPECT_LE(n_failed, 20 + 22);  // 1 % and five standard deviations
}

TEST(ZStatistical, DriftOfTauIsCaught) {
  const double tau = 0.03;
  const Contract strict("z", "h", 1e-4, tau, 0.05);
  // a uniform on (.1, .9): mean of a (1 - a) = .25 - .64 / 12.
  const std::int64_t n = z_required_n(1e-4, 0.05, 0.25 - 0.64 / 12, tau);
  int n_caught = 0, n_false = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Uniform random(seed);
    AcceptBits fair, drifted;
    for (std::int64_t i = 0; i < n; ++i) {
      const double a = 0.1 + 0.8 * random.next();
      const double u = random.next();
      fair.add(u < a, a);
      drifted.add(u < a + tau, a);
    }
    n_caught += z_test(strict, drifted).verdict == Verdict::kFail;
    n_false += z_test(strict, fair).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught, 950 - 35);
  EXPECT_LE(n_false, 3);
}

}  // namespace
}  // namespace specbench::stats
