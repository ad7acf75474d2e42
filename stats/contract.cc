#include "stats/contract.h"

#include <cstdio>
#include <utility>

#include "stats/require.h"

namespace specbench::stats {
namespace {

std::string short_number(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", x);
  return buffer;
}

TestResult result_of(const Contract& contract, const Evidence& evidence) {
  TestResult result;
  result.id = contract.id();
  result.hypothesis = contract.null_hypothesis();
  result.statistic_name = evidence.statistic_name;
  result.n = evidence.n;
  result.statistic = evidence.statistic;
  result.p_value = evidence.p_value;
  result.p_lower = evidence.p_lower;
  result.min_detectable = evidence.min_detectable;
  result.drift_kind = evidence.drift_kind;
  result.alpha = contract.alpha();
  result.tau = contract.tau();
  result.beta = contract.beta();
  result.required_n = evidence.required_n;
  return result;
}

}  // namespace

Contract::Contract(std::string id, std::string null_hypothesis, double alpha, double tau,
                   double beta, std::optional<double> alpha_too_good)
    : id_(std::move(id)),
      null_hypothesis_(std::move(null_hypothesis)),
      alpha_(alpha),
      tau_(tau),
      beta_(beta),
      alpha_too_good_(alpha_too_good) {
  require(!id_.empty(), "Contract", "the id must not be empty");
  require(is_open_unit(alpha), "Contract", "alpha must lie inside (0, 1)", alpha);
  require(is_open_unit(tau), "Contract", "tau must lie inside (0, 1)", tau);
  require(is_open_unit(beta), "Contract", "beta must lie inside (0, 1)", beta);
  if (alpha_too_good) {
    require(is_open_unit(*alpha_too_good), "Contract", "alpha_too_good must lie inside (0, 1)",
            *alpha_too_good);
  }
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "PASS";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kInconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

TestResult decide(const Contract& contract, const Evidence& evidence) {
  require(evidence.n >= 0, "decide", "n must not be negative", static_cast<double>(evidence.n));
  require(is_probability(evidence.p_value), "decide", "p_value must lie in [0, 1]",
          evidence.p_value);
  require(std::isnan(evidence.p_lower) || is_probability(evidence.p_lower), "decide",
          "p_lower must be NaN or lie in [0, 1]", evidence.p_lower);
  require(evidence.min_detectable >= 0.0, "decide", "min_detectable must not be negative or NaN",
          evidence.min_detectable);
  TestResult result = result_of(contract, evidence);
  const bool is_too_good = contract.alpha_too_good() && !std::isnan(evidence.p_lower) &&
                           evidence.p_lower < *contract.alpha_too_good();
  // The tolerance only absorbs the rounding of a square root at n == required_n.
  const bool is_powered = evidence.min_detectable <= contract.tau() * (1.0 + 1e-12);
  if (evidence.p_value < contract.alpha()) {
    result.verdict = Verdict::kFail;
    result.reason = "p = " + short_number(evidence.p_value) +
                    " is below alpha = " + short_number(contract.alpha());
  } else if (is_too_good) {
    result.verdict = Verdict::kFail;
    result.reason = "too good to be random: a statistic this small has probability " +
                    short_number(evidence.p_lower) + ", below " +
                    short_number(*contract.alpha_too_good());
  } else if (is_powered) {
    result.verdict = Verdict::kPass;
    result.reason = "a drift of " + short_number(evidence.min_detectable) + " (" +
                    evidence.drift_kind + ") would have been caught with probability " +
                    std::to_string(1.0 - contract.beta());
  } else {
    result.verdict = Verdict::kInconclusive;
    result.reason = "only a drift of " + short_number(evidence.min_detectable) + " (" +
                    evidence.drift_kind + ") is excluded, the contract asks for " +
                    short_number(contract.tau()) +
                    (evidence.required_n == kNoSampleSuffices
                         ? "; no number of samples suffices"
                         : "; needs n = " + std::to_string(evidence.required_n) + ", has " +
                               std::to_string(evidence.n));
  }
  return result;
}

TestResult fail_forbidden(const Contract& contract, Evidence evidence, std::string reason) {
  evidence.p_value = 0.0;
  TestResult result = result_of(contract, evidence);
  result.verdict = Verdict::kFail;
  result.reason = std::move(reason);
  result.is_forbidden = true;
  return result;
}

TestResult not_testable(const Contract& contract, Evidence evidence, std::string reason) {
  evidence.p_value = 1.0;
  evidence.p_lower = std::numeric_limits<double>::quiet_NaN();
  TestResult result = result_of(contract, evidence);
  result.verdict = Verdict::kInconclusive;
  result.reason = std::move(reason);
  return result;
}

}  // namespace specbench::stats
