#include "stats/contract.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace specbench::stats {
namespace {

Contract contract() { return Contract("t", "heads and tails are even", 1e-6, 0.01, 0.01, 1e-7); }

Evidence evidence(double p_value, double min_detectable) {
  Evidence e;
  e.statistic_name = "S";
  e.n = 100;
  e.statistic = 3.0;
  e.p_value = p_value;
  e.min_detectable = min_detectable;
  e.drift_kind = kDriftTotalVariation;
  e.required_n = 400;
  return e;
}

TEST(Contract, CannotExistWithoutItsThreeLevels) {
  for (double bad : {0.0, 1.0, -0.1, 1.5, std::nan("")}) {
    EXPECT_THROW(Contract("t", "h", bad, 0.01, 0.01), std::invalid_argument) << bad;
    EXPECT_THROW(Contract("t", "h", 0.01, bad, 0.01), std::invalid_argument) << bad;
    EXPECT_THROW(Contract("t", "h", 0.01, 0.01, bad), std::invalid_argument) << bad;
    EXPECT_THROW(Contract("t", "h", 0.01, 0.01, 0.01, bad), std::invalid_argument) << bad;
  }
  EXPECT_THROW(Contract("", "h", 0.01, 0.01, 0.01), std::invalid_argument);
}

TEST(Contract, NamesTheValueThatIsWrong) {
  try {
    Contract("t", "h", 0.01, 1.5, 0.01);
    FAIL() << "accepted tau = 1.5";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("tau"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("1.5"), std::string::npos);
  }
}

TEST(Decide, PassesOnlyWithPower) {
  EXPECT_EQ(decide(contract(), evidence(0.5, 0.009)).verdict, Verdict::kPass);
  EXPECT_EQ(decide(contract(), evidence(0.5, 0.01)).verdict, Verdict::kPass);
  // A large p alone is not a pass.
  const TestResult weak = decide(contract(), evidence(0.999, 0.02));
  EXPECT_EQ(weak.verdict, Verdict::kInconclusive);
  EXPECT_NE(weak.reason.find("needs n = 400"), std::string::npos) << weak.reason;
}

TEST(Decide, FailsBelowAlphaWhateverThePower) {
  EXPECT_EQ(decide(contract(), evidence(9.9e-7, 0.5)).verdict, Verdict::kFail);
  EXPECT_EQ(decide(contract(), evidence(9.9e-7, 0.001)).verdict, Verdict::kFail);
  EXPECT_EQ(decide(contract(), evidence(1e-6, 0.001)).verdict, Verdict::kPass);
}

TEST(Decide, FailsWhatIsTooGood) {
  Evidence e = evidence(1.0, 0.001);
  e.p_lower = 1e-8;
  EXPECT_EQ(decide(contract(), e).verdict, Verdict::kFail);
  EXPECT_EQ(decide(Contract("t", "h", 1e-6, 0.01, 0.01), e).verdict, Verdict::kPass);
  e.p_lower = 1e-6;
  EXPECT_EQ(decide(contract(), e).verdict, Verdict::kPass);
}

TEST(Decide, KeepsContractAndEvidence) {
  const TestResult result = decide(contract(), evidence(0.25, 0.02));
  EXPECT_EQ(result.id, "t");
  EXPECT_EQ(result.hypothesis, "heads and tails are even");
  EXPECT_EQ(result.statistic_name, "S");
  EXPECT_EQ(result.n, 100);
  EXPECT_EQ(result.required_n, 400);
  EXPECT_EQ(result.statistic, 3.0);
  EXPECT_EQ(result.p_value, 0.25);
  EXPECT_TRUE(std::isnan(result.p_lower));
  EXPECT_EQ(result.drift_kind, "total variation");
  EXPECT_EQ(result.alpha, 1e-6);
  EXPECT_EQ(result.tau, 0.01);
  EXPECT_EQ(result.beta, 0.01);
}

TEST(Decide, RefusesNumbersThatAreNotEvidence) {
  for (double bad : {-0.1, 1.1, std::nan("")}) {
    EXPECT_THROW(decide(contract(), evidence(bad, 0.01)), std::invalid_argument);
  }
  EXPECT_THROW(decide(contract(), evidence(0.5, std::nan(""))), std::invalid_argument);
  EXPECT_THROW(decide(contract(), evidence(0.5, -1.0)), std::invalid_argument);
  Evidence e = evidence(0.5, 0.01);
  e.n = -1;
  EXPECT_THROW(decide(contract(), e), std::invalid_argument);
  e = evidence(0.5, 0.01);
  e.p_lower = 2.0;
  EXPECT_THROW(decide(contract(), e), std::invalid_argument);
}

TEST(Decide, SaysWhenNoSampleSuffices) {
  Evidence e = evidence(0.5, 0.5);
  e.required_n = kNoSampleSuffices;
  EXPECT_NE(decide(contract(), e).reason.find("no number of samples"), std::string::npos);
}

TEST(Verdict, NamesAreFixed) {
  EXPECT_STREQ(verdict_name(Verdict::kPass), "PASS");
  EXPECT_STREQ(verdict_name(Verdict::kFail), "FAIL");
  EXPECT_STREQ(verdict_name(Verdict::kInconclusive), "INCONCLUSIVE");
}

TEST(Verdict, ForbiddenAndNotTestable) {
  EXPECT_EQ(fail_forbidden(contract(), evidence(0.5, 0.001), "r").verdict, Verdict::kFail);
  EXPECT_EQ(fail_forbidden(contract(), evidence(0.5, 0.001), "r").p_value, 0.0);
  EXPECT_EQ(not_testable(contract(), evidence(0.0, 0.001), "r").verdict, Verdict::kInconclusive);
  EXPECT_EQ(not_testable(contract(), evidence(0.0, 0.001), "r").reason, "r");
}

}  // namespace
}  // namespace specbench::stats
