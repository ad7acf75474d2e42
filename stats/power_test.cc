#include "stats/power.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "stats/golden/golden.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;

TEST(Power, ChiSquaredTailsMatchSciPy) {
  for (const auto& row : golden::kChiSquared) {
    SCOPED_TRACE(::testing::Message() << "x = " << row.x << ", df = " << row.df);
    EXPECT_LE(relative_error(chi_squared_sf(row.x, row.df), row.upper), 1e-12);
    EXPECT_LE(relative_error(chi_squared_cdf(row.x, row.df), row.lower), 1e-12);
  }
}

TEST(Power, NormalTailsMatchSciPy) {
  for (const auto& row : golden::kNormal)
    EXPECT_LE(relative_error(normal_upper_tail(row.x), row.y), 1e-12);
  for (const auto& row : golden::kNormalQuantile) {
    if (row.y == 0.0) {
      EXPECT_NEAR(normal_upper_quantile(row.x), 0.0, 1e-15);
    } else {
      EXPECT_LE(relative_error(normal_upper_quantile(row.x), row.y), 1e-12);
    }
  }
}

TEST(Power, NoncentralityMatchesSciPy) {
  // SciPy's side is a root of ncx2.cdf, itself good to about 1e-13; the root is as flat as 1e-10 at
  // df = 1.
  for (const auto& row : golden::kNoncentrality) {
    SCOPED_TRACE(::testing::Message() << row.df << " " << row.alpha << " " << row.beta);
    EXPECT_LE(relative_error(chi_squared_noncentrality(row.df, row.alpha, row.beta), row.lambda),
              1e-11);
  }
}

TEST(Power, NoncentralityGrowsWithEveryDemand) {
  for (int df = 1; df <= 63; ++df) {
    const double base = chi_squared_noncentrality(df, 1e-8, 0.01);
    EXPECT_GT(base, 0.0);
    EXPECT_GT(chi_squared_noncentrality(df + 1, 1e-8, 0.01), base);
    EXPECT_GT(chi_squared_noncentrality(df, 1e-9, 0.01), base);
    EXPECT_GT(chi_squared_noncentrality(df, 1e-8, 0.001), base);
  }
}

TEST(Power, RequiredSizeAndDetectableDriftAreInverse) {
  for (double tau : {0.5, 0.05, 0.01, 0.0003}) {
    const auto n_pearson = pearson_required_n(63, 1e-8, 0.01, tau);
    EXPECT_LE(pearson_min_detectable(63, 1e-8, 0.01, n_pearson), tau * (1 + 1e-12));
    EXPECT_GT(pearson_min_detectable(63, 1e-8, 0.01, n_pearson - 1), tau);
    const auto n_dkw = dkw_required_n(1e-8, 0.01, tau);
    EXPECT_LE(dkw_min_detectable(1e-8, 0.01, n_dkw), tau * (1 + 1e-12));
    EXPECT_GT(dkw_min_detectable(1e-8, 0.01, n_dkw - 1), tau);
  }
}

TEST(Power, KnownSizes) {
  // lambda = 141.435 at df 63, alpha 1e-8, beta .01: 141.435 / 4e-4.
  EXPECT_EQ(pearson_required_n(63, 1e-8, 0.01, 0.01), 353589);
  // (sqrt(ln 2e6) + sqrt(ln 200))^2 / 2e-4 = (3.8089965 + 2.3018074)^2 / 2e-4, by hand.
  EXPECT_NEAR(static_cast<double>(dkw_required_n(1e-6, 0.01, 0.01)), 186710, 10);
  // (4.8916 + 2.3263)^2 .25 / 1e-4.
  EXPECT_NEAR(static_cast<double>(z_required_n(1e-6, 0.01, 0.25, 0.01)), 130246, 5);
  EXPECT_EQ(z_required_n(1e-6, 0.01, 0.0, 0.01), 1);
}

TEST(Power, RefusesBadArguments) {
  EXPECT_THROW(chi_squared_noncentrality(0, 1e-6, 0.01), std::invalid_argument);
  EXPECT_THROW(chi_squared_noncentrality(1, 0.0, 0.01), std::invalid_argument);
  EXPECT_THROW(chi_squared_noncentrality(1, 0.6, 0.6), std::invalid_argument);
  EXPECT_THROW(pearson_required_n(1, 1e-6, 0.01, 0.0), std::invalid_argument);
  EXPECT_THROW(pearson_min_detectable(1, 1e-6, 0.01, 0), std::invalid_argument);
  EXPECT_THROW(dkw_required_n(1e-6, 0.01, 1.5), std::invalid_argument);
  EXPECT_THROW(dkw_min_detectable(1e-6, 1.0, 10), std::invalid_argument);
  EXPECT_THROW(normal_upper_quantile(0.0), std::invalid_argument);
  EXPECT_THROW(chi_squared_sf(-1.0, 2), std::invalid_argument);
  EXPECT_THROW(chi_squared_cdf(std::nan(""), 2), std::invalid_argument);
  EXPECT_THROW(z_required_n(1e-6, 0.01, 0.3, 0.01), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::stats
