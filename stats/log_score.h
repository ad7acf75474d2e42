// Are tokens as likely as their laws say, on average? The log-score of each against its mean under
// its own law: a law too sharp or too flat shows at once. Must not keep the tokens.
#pragma once

#include <cstdint>

#include "stats/contract.h"
#include "stats/z_test.h"

namespace specbench::stats {

inline constexpr const char* kDriftLogScore = "mean log-score, in standard deviations";

// Sums over tokens of log p(token) - E log p, and of that difference's variance and third central
// moment under the token's own law.
class LogScores {
 public:
  // moments[k] = sum_y p(y) (log p(y))^(k + 1) for k = 0, 1, 2 of the token's law; score its log p.
  // Throws std::invalid_argument if one is not finite.
  void add(double score, const double (&moments)[3]);

  std::int64_t n() const { return n_; }
  double variance() const { return variance_.value(); }
  double z() const;         // 0 where the variance is 0
  double skewness() const;  // of the sum; 0 where the variance is 0

 private:
  std::int64_t n_ = 0;
  CompensatedSum excess_, variance_, third_;
};

// Fewest tokens, and least sum of variances, with which the sum is held to be normal but for its
// skewness.
inline constexpr std::int64_t kMinScores = 200;
inline constexpr double kMinScoreVariance = 1.0;

// Tests that the sum has mean zero, two-sided, skewness term as in z_two_sided_p. Drift: mean
// score in units of one token's standard deviation, of which the mean of n has 1 / sqrt(n). Too few
// or too certain tokens are INCONCLUSIVE.
TestResult log_score_test(const Contract& contract, const LogScores& scores);

}  // namespace specbench::stats
