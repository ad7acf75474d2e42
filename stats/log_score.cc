#include "stats/log_score.h"

#include <algorithm>
#include <cmath>

#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {

void LogScores::add(double score, const double (&moments)[3]) {
  const auto [mean, square, cube] = moments;
  require(
      std::isfinite(score) && std::isfinite(mean) && std::isfinite(square) && std::isfinite(cube),
      "LogScores", "a score and its moments must be finite");
  ++n_;
  excess_.add(score - mean);
  variance_.add(std::max(0.0, square - mean * mean));
  third_.add(cube - 3.0 * mean * square + 2.0 * mean * mean * mean);
}

double LogScores::z() const {
  return variance() > 0.0 ? excess_.value() / std::sqrt(variance()) : 0.0;
}

double LogScores::skewness() const {
  return variance() > 0.0 ? third_.value() / (variance() * std::sqrt(variance())) : 0.0;
}

TestResult log_score_test(const Contract& contract, const LogScores& scores) {
  Evidence evidence;
  evidence.statistic_name = "Z of the log-score";
  evidence.n = scores.n();
  evidence.drift_kind = kDriftLogScore;
  // Normal power: a mean of n standard scores has standard deviation 1 / sqrt(n).
  const double shift = normal_detectable_shift(contract.alpha(), contract.beta());
  evidence.required_n =
      std::max(kMinScores, sample_count(shift * shift / (contract.tau() * contract.tau())));
  if (scores.n() < kMinScores || scores.variance() < kMinScoreVariance)
    return not_testable(contract, evidence, "too few uncertain tokens for a normal sum");
  evidence.statistic = scores.z();
  evidence.p_value = z_two_sided_p(scores.z(), scores.skewness());
  evidence.min_detectable = shift / std::sqrt(static_cast<double>(scores.n()));
  return decide(contract, evidence);
}

}  // namespace specbench::stats
