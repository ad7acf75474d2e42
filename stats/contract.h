// What a stochastic test promises before it looks at data, and the one rule that turns its numbers
// into a verdict. Computes no statistic and prints nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace specbench::stats {

// The smallest drift worth catching (tau) and how surely (alpha: false alarms, beta: misses).
// It cannot exist without all three, so a test without stated power cannot be written.
class Contract {
 public:
  // Requires a non-empty id and alpha, tau, beta (and alpha_too_good, if given) inside (0, 1).
  // tau is in the unit of the test that uses it (TestResult::drift_kind). alpha_too_good is the
  // level of the opposite tail: a statistic implausibly small means frozen or reused samples.
  // Throws std::invalid_argument naming the value that is out of range.
  Contract(std::string id, std::string null_hypothesis, double alpha, double tau, double beta,
           std::optional<double> alpha_too_good = std::nullopt);

  const std::string& id() const { return id_; }
  const std::string& null_hypothesis() const { return null_hypothesis_; }
  double alpha() const { return alpha_; }
  double tau() const { return tau_; }
  double beta() const { return beta_; }
  std::optional<double> alpha_too_good() const { return alpha_too_good_; }

 private:
  std::string id_;
  std::string null_hypothesis_;
  double alpha_;
  double tau_;
  double beta_;
  std::optional<double> alpha_too_good_;
};

enum class Verdict { kPass, kFail, kInconclusive };

// "PASS", "FAIL" or "INCONCLUSIVE".
const char* verdict_name(Verdict verdict);

// Units of drift used by this folder's tests.
inline constexpr const char* kDriftTotalVariation = "total variation";
inline constexpr const char* kDriftKolmogorov = "Kolmogorov distance";
inline constexpr const char* kDriftMean = "mean acceptance";
inline constexpr const char* kDriftRate = "rate";

// required_n when no sample size can meet the contract.
inline constexpr std::int64_t kNoSampleSuffices = std::numeric_limits<std::int64_t>::max();

// What a test found, before a verdict.
struct Evidence {
  std::string statistic_name;
  std::int64_t n = 0;  // independent observations used
  double statistic = 0.0;
  double p_value = 1.0;  // P(a statistic this extreme or more | null), in [0, 1]
  double p_lower =
      std::numeric_limits<double>::quiet_NaN();  // P(statistic <= observed | null); NaN: not used
  double min_detectable =
      1.0;  // drift caught with probability >= 1 - beta at this n, in drift_kind
  std::string drift_kind;
  std::int64_t required_n = 0;  // observations with which min_detectable <= tau
};

// One row of the verdict table: the contract, the evidence and what follows from both.
struct TestResult {
  std::string id;
  std::string hypothesis;
  std::string statistic_name;
  std::int64_t n = 0;
  double statistic = 0.0;
  double p_value = 1.0;
  double p_lower = std::numeric_limits<double>::quiet_NaN();
  double min_detectable = 1.0;
  std::string drift_kind;
  double alpha = 0.0;
  double tau = 0.0;
  double beta = 0.0;
  Verdict verdict = Verdict::kInconclusive;
  std::int64_t required_n = 0;
  std::string reason;         // one sentence: why this verdict
  bool is_forbidden = false;  // what the null gives probability zero happened
};

// FAIL if p_value < alpha, or if p_lower < alpha_too_good where both are given; else PASS if
// min_detectable <= tau (equivalently n >= required_n); else INCONCLUSIVE, naming the n that is
// needed. A large p alone never passes. Throws std::invalid_argument if n < 0, p_value is not in
// [0, 1], p_lower is neither NaN nor in [0, 1], or min_detectable is negative or NaN.
TestResult decide(const Contract& contract, const Evidence& evidence);

// FAIL with p = 0: something happened that the null gives probability zero. No statistics are
// involved.
TestResult fail_forbidden(const Contract& contract, Evidence evidence, std::string reason);

// INCONCLUSIVE with p = 1: the test could not be made, for the reason given.
TestResult not_testable(const Contract& contract, Evidence evidence, std::string reason);

}  // namespace specbench::stats
