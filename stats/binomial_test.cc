#include "stats/binomial.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "stats/golden/golden.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;

Contract contract(double tau = 0.01) { return Contract("rate", "the rate holds", 1e-6, tau, 0.01); }

TEST(Binomial, ClopperPearsonMatchesSciPy) {
  for (const auto& row : golden::kClopperPearson) {
    SCOPED_TRACE(::testing::Message() << row.k << " of " << row.n << " at " << row.alpha);
    // SciPy inverts the beta law to about 3e-12 (1 of 1e6: see below), so that is the tolerance.
    EXPECT_LE(relative_error(clopper_pearson_lower(row.k, row.n, row.alpha), row.lower), 5e-12);
    EXPECT_LE(relative_error(clopper_pearson_upper(row.k, row.n, row.alpha), row.upper), 5e-12);
  }
}

TEST(Binomial, NoMismatchInAMillion) {
  EXPECT_NEAR(clopper_pearson_upper(0, 1'000'000, 1e-6), 1.38154e-5, 1e-10);
  // One event: the root of (1 - p)^n + n p (1 - p)^(n - 1) = 1e-6, in 50 decimal digits.
  EXPECT_LE(relative_error(clopper_pearson_upper(1, 1'000'000, 1e-6), 1.6688289884029307e-5),
            1e-13);
  // No event: (1 - p)^n = alpha.
  EXPECT_NEAR(clopper_pearson_upper(0, 50, 0.05), 1.0 - std::pow(0.05, 1.0 / 50), 1e-15);
}

TEST(Binomial, TailsMatchSciPy) {
  for (const auto& row : golden::kBinomial) {
    SCOPED_TRACE(::testing::Message() << row.k << " of " << row.n << " at " << row.p);
    EXPECT_LE(relative_error(binomial_lower_tail(row.k, row.n, row.p), row.lower), 1e-12);
    EXPECT_LE(relative_error(binomial_upper_tail(row.k, row.n, row.p), row.upper), 1e-12);
  }
}

TEST(Binomial, TwoSidedPIsValidByEnumeration) {
  for (double p : {0.0, 0.02, 0.3, 0.5, 1.0}) {
    for (double level : {0.001, 0.05, 0.3}) {
      double rejected = 0.0;
      for (std::int64_t k = 0; k <= 40; ++k) {
        const double p_value = binomial_two_sided_p(k, 40, p);
        EXPECT_GE(p_value, 0.0);
        EXPECT_LE(p_value, 1.0);
        const double at_least_next = k < 40 ? binomial_upper_tail(k + 1, 40, p) : 0.0;
        if (p_value <= level) rejected += binomial_upper_tail(k, 40, p) - at_least_next;
      }
      EXPECT_LE(rejected, level + 1e-12);
    }
  }
}

TEST(Binomial, DetectableDriftIsExact) {
  const std::int64_t n = 4000;
  const double p = 0.1, alpha = 1e-3, beta = 0.05;
  const double drift = binomial_min_detectable(n, p, alpha, beta);
  for (const double rate : {p + drift, p - drift}) {
    double power = 0.0;
    for (std::int64_t k = 0; k <= n; ++k) {
      if (binomial_two_sided_p(k, n, p) >= alpha) continue;
      const double at_least_next = k < n ? binomial_upper_tail(k + 1, n, rate) : 0.0;
      power += binomial_upper_tail(k, n, rate) - at_least_next;
    }
    EXPECT_GE(power, 1.0 - beta - 1e-9) << rate;
  }
  EXPECT_NEAR(drift, (3.29 + 1.64) * std::sqrt(0.09 / 4000), 0.003);
}

TEST(BinomialTest, BiasedCoinFailsAndFairCoinNeedsPower) {
  EXPECT_EQ(binomial_test(contract(), 510'000, 1'000'000, 0.5).verdict, Verdict::kFail);
  EXPECT_EQ(binomial_test(contract(), 500'100, 1'000'000, 0.5).verdict, Verdict::kPass);
  const TestResult small = binomial_test(contract(), 500, 1000, 0.5);
  EXPECT_EQ(small.verdict, Verdict::kInconclusive);
  EXPECT_NEAR(static_cast<double>(small.required_n), 130'246, 1500);  // the normal figure
  EXPECT_LE(binomial_min_detectable(small.required_n, 0.5, 1e-6, 0.01), 0.01);
}

TEST(BinomialTest, RateZeroIsTheTestOfAForbiddenOutcome) {
  const TestResult event = binomial_test(contract(), 1, 1000, 0.0);
  EXPECT_EQ(event.verdict, Verdict::kFail);
  EXPECT_EQ(event.p_value, 0.0);
  // (1 - .01)^n <= .01 from n = 459.
  EXPECT_EQ(binomial_test(contract(), 0, 459, 0.0).verdict, Verdict::kPass);
  EXPECT_EQ(binomial_test(contract(), 0, 458, 0.0).verdict, Verdict::kInconclusive);
  EXPECT_EQ(binomial_test(contract(), 0, 458, 0.0).required_n, 459);
  EXPECT_EQ(binomial_test(contract(), 999, 1000, 1.0).verdict, Verdict::kFail);
}

TEST(RateBound, CertifiesOrFailsOrWaits) {
  const TestResult clean = rate_bound_test(contract(2e-5), 0, 1'000'000);
  EXPECT_EQ(clean.verdict, Verdict::kPass);
  EXPECT_NEAR(clean.min_detectable, 1.38154e-5, 1e-10);
  const TestResult few = rate_bound_test(contract(2e-5), 0, 10'000);
  EXPECT_EQ(few.verdict, Verdict::kInconclusive);
  EXPECT_EQ(rate_bound_test(contract(2e-5), 0, few.required_n).verdict, Verdict::kPass);
  EXPECT_EQ(rate_bound_test(contract(2e-5), 0, few.required_n - 1).verdict, Verdict::kInconclusive);
  EXPECT_EQ(rate_bound_test(contract(2e-5), 100, 1'000'000).verdict, Verdict::kFail);
  EXPECT_EQ(rate_bound_test(contract(2e-5), 25, 1'000'000).verdict, Verdict::kInconclusive);
  EXPECT_EQ(rate_bound_test(contract(2e-5), 25, 1'000'000).required_n, kNoSampleSuffices);
}

TEST(RateBound, FailsExactlyWhereTheLowerBoundExceedsTau) {
  for (std::int64_t k = 0; k < 120; ++k) {
    const bool is_above = clopper_pearson_lower(k, 1000, 1e-6) > 0.02;
    EXPECT_EQ(rate_bound_test(contract(0.02), k, 1000).verdict == Verdict::kFail, is_above) << k;
  }
}

TEST(Binomial, RefusesBadArguments) {
  EXPECT_THROW(clopper_pearson_lower(-1, 10, 0.01), std::invalid_argument);
  EXPECT_THROW(clopper_pearson_upper(11, 10, 0.01), std::invalid_argument);
  EXPECT_THROW(clopper_pearson_upper(0, 0, 0.01), std::invalid_argument);
  EXPECT_THROW(clopper_pearson_upper(0, 10, 1.0), std::invalid_argument);
  EXPECT_THROW(binomial_two_sided_p(1, 10, 1.1), std::invalid_argument);
  EXPECT_THROW(binomial_test(contract(), 1, 10, std::nan("")), std::invalid_argument);
  EXPECT_THROW(binomial_required_n(0.5, 1e-6, 0.01, 0.0), std::invalid_argument);
}

TEST(BinomialStatistical, DriftOfTauIsCaught) {
  const Contract strict("rate", "h", 1e-4, 0.04, 0.05);
  const std::int64_t n = binomial_required_n(0.3, 1e-4, 0.05, 0.04);
  int n_caught_up = 0, n_caught_down = 0, n_false = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Uniform random(seed);
    std::int64_t up = 0, down = 0, fair = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double u = random.next();
      up += u < 0.34;
      down += u < 0.26;
      fair += u < 0.30;
    }
    n_caught_up += binomial_test(strict, up, n, 0.3).verdict == Verdict::kFail;
    n_caught_down += binomial_test(strict, down, n, 0.3).verdict == Verdict::kFail;
    n_false += binomial_test(strict, fair, n, 0.3).verdict == Verdict::kFail;
  }
  EXPECT_GE(n_caught_up, 950 - 35);
  EXPECT_GE(n_caught_down, 950 - 35);
  EXPECT_LE(n_false, 3);
}

}  // namespace
}  // namespace specbench::stats
