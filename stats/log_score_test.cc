#include "stats/log_score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "stats/test_support.h"

namespace specbench::stats {
namespace {

const std::vector<double> kLaw = {0.5, 0.25, 0.15, 0.07, 0.03};

// n tokens of `drawn`, scored as if they came from kLaw.
LogScores scores_of(const std::vector<double>& drawn, int n, std::uint64_t seed) {
  double moments[3] = {};
  for (const double p : kLaw) {
    moments[0] += p * std::log(p);
    moments[1] += p * std::log(p) * std::log(p);
    moments[2] += p * std::log(p) * std::log(p) * std::log(p);
  }
  testing::Uniform random(seed);
  LogScores scores;
  for (int i = 0; i < n; ++i) scores.add(std::log(kLaw[random.draw(drawn)]), moments);
  return scores;
}

Contract terms(double tau) { return {"score", "as likely as they say", 1e-6, tau, 0.01}; }

TEST(LogScore, AddsUpByHand) {
  // Two ids of 1/4 and 3/4: mean and moments of log p worked out from the definition.
  const double a = std::log(0.25), b = std::log(0.75);
  const double moments[3] = {0.25 * a + 0.75 * b, 0.25 * a * a + 0.75 * b * b,
                             0.25 * a * a * a + 0.75 * b * b * b};
  LogScores scores;
  scores.add(a, moments);
  const double sd = std::sqrt(0.25 * 0.75) * (b - a);
  EXPECT_NEAR(scores.z(), 0.75 * (a - b) / sd, 1e-12);
  EXPECT_NEAR(scores.skewness(), (1.0 - 2.0 * 0.75) / std::sqrt(0.25 * 0.75), 1e-12);
}

TEST(LogScore, FewOrCertainTokensHaveNoVerdict) {
  EXPECT_EQ(log_score_test(terms(0.1), scores_of(kLaw, 199, 1)).verdict, Verdict::kInconclusive);
  LogScores certain;
  for (int i = 0; i < 1000; ++i) certain.add(0.0, {0.0, 0.0, 0.0});
  EXPECT_EQ(log_score_test(terms(0.1), certain).verdict, Verdict::kInconclusive);
  LogScores scores;
  EXPECT_THROW(scores.add(std::log(0.0), {0.0, 0.0, 0.0}), std::invalid_argument);
}

TEST(LogScore, PassesAtTheNumberItAsksForAndNotBelow) {
  const std::int64_t n = log_score_test(terms(0.1), scores_of(kLaw, 200, 2)).required_n;
  EXPECT_EQ(log_score_test(terms(0.1), scores_of(kLaw, static_cast<int>(n), 3)).verdict,
            Verdict::kPass);
  EXPECT_EQ(log_score_test(terms(0.1), scores_of(kLaw, static_cast<int>(n) * 9 / 10, 3)).verdict,
            Verdict::kInconclusive);
}

TEST(LogScoreStatistical, NullPValuesAreUniformAndASharperLawIsCaught) {
  std::vector<double> p;
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    p.push_back(log_score_test(terms(0.5), scores_of(kLaw, 1000, 100 + seed)).p_value);
  std::sort(p.begin(), p.end());
  double distance = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i)
    distance = std::max(distance, std::fabs((static_cast<double>(i) + 0.5) / 2000.0 - p[i]));
  EXPECT_LT(distance, testing::largest_allowed_distance(2000));
  // The same law at temperature .9.
  std::vector<double> sharper;
  double total = 0.0;
  for (const double q : kLaw) total += std::pow(q, 1.0 / 0.9);
  for (const double q : kLaw) sharper.push_back(std::pow(q, 1.0 / 0.9) / total);
  int n_caught = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    n_caught +=
        log_score_test(terms(0.05), scores_of(sharper, 20'000, seed)).verdict == Verdict::kFail;
  EXPECT_GE(n_caught, 97);
}

}  // namespace
}  // namespace specbench::stats
