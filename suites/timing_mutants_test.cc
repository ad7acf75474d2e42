// The faults of the measurement planted in a real one: each fails the check that is named for it.
#include "suites/timing_mutants.h"

#include <gtest/gtest.h>

#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

using results::CheckStatus;

TEST(TimingMutants, AreThreeAndLeaveDecodingAlone) {
  int n_timing = 0;
  for (const Mutant& mutant : mutants()) n_timing += mutant.timing.any() ? 1 : 0;
  EXPECT_EQ(n_timing, 3);
  EXPECT_TRUE(planted_timing("M3").no_warmup);
  EXPECT_TRUE(planted_timing("M5").prefill_in_decode);
  EXPECT_TRUE(planted_timing("M6").other_path);
  EXPECT_FALSE(planted_timing("").any());
  EXPECT_FALSE(planted_timing("R1").any());
}

TEST(TimingMutants, EachFailsItsOwnCheckAndASoundRunFailsNone) {
  testing::Bench bench(testing::embedded_options("selftest"));
  const auto sound = run_timing_mutant(bench.context, {});
  EXPECT_EQ(sound.size(), 7U);  // two of each of three arms, and the path
  for (const results::Check& check : sound)
    EXPECT_EQ(check.status, CheckStatus::kPassed) << check.id << ": " << check.detail;
  for (const char* id : {"M3", "M5", "M6"}) {
    const auto kinds = failed_validity_kinds(run_timing_mutant(bench.context, planted_timing(id)));
    EXPECT_EQ(kinds, std::set<std::string>{find_mutant(id)->expected}) << id;
  }
}

TEST(TimingMutants, KindsAreIdsWithoutTheirArm) {
  const std::vector<results::Check> checks = {
      {"validity.warmup.speculative-twin", CheckStatus::kFailed, ""},
      {"validity.same-path", CheckStatus::kFailed, ""},
      {"validity.decode-region.speculative", CheckStatus::kPassed, ""}};
  EXPECT_EQ(failed_validity_kinds(checks),
            (std::set<std::string>{"validity.same-path", "validity.warmup"}));
}

TEST(TimingMutants, AStoppedRunProvesNothing) {
  testing::Bench bench(testing::embedded_options("selftest"));
  bench.stop = true;
  EXPECT_TRUE(failed_validity_kinds(run_timing_mutant(bench.context, {.no_warmup = true})).empty());
}

}  // namespace
}  // namespace specbench::suites
