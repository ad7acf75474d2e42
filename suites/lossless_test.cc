#include "suites/lossless.h"

#include <gtest/gtest.h>

#include "engine/error.h"
#include "suites/fault_test_support.h"
#include "suites/kv.h"

namespace specbench::suites {
namespace {

using testing::Bench;
using testing::embedded_options;

results::Record lossless(const Options& options, const Faults& faults = {}) {
  Bench bench(options);
  results::Record record = start_record(bench.context);
  run_lossless(bench.context, record, faults);
  return record;
}

Options small(double samples) {
  Options options = embedded_options("lossless");
  options.samples = samples;
  return options;
}

results::CheckStatus status_of(const results::Record& record, const std::string& id) {
  for (const results::Check& check : record.checks)
    if (check.id == id) return check.status;
  throw std::logic_error("no check " + id);
}

std::string verdict_of(const results::Record& record, const std::string& id) {
  for (const results::TestRow& test : record.tests)
    if (test.id == id) return test.verdict;
  throw std::logic_error("no test " + id);
}

// Enough tokens for a verdict of its own; the narrow laws take what they need.
TEST(LosslessSlow, TheProductIsLossless) {
  const results::Record record = lossless(small(1e5));
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
  EXPECT_EQ(record.verdict.rfind("LOSSLESS (certified TV <= ", 0), 0U) << record.verdict;
  EXPECT_GT(record.tests.size(), 300U);
}

TEST(LosslessSlow, TooFewSamplesAreNoVerdict) {
  const results::Record record = lossless(small(2e3));
  EXPECT_EQ(record.exit_code, kInconclusive);
  EXPECT_EQ(record.verdict.rfind("INCONCLUSIVE", 0), 0U) << record.verdict;
}

TEST(LosslessSlow, R1IsCaughtByTheReplayAndByTheLaws) {
  const results::Record record = lossless(small(2e4), testing::planted("R1"));
  EXPECT_EQ(record.exit_code, kFailed);
  EXPECT_EQ(record.verdict.rfind("NOT LOSSLESS", 0), 0U) << record.verdict;
  EXPECT_EQ(status_of(record, "real.replay.decision"), results::CheckStatus::kFailed);
  EXPECT_EQ(status_of(record, "real.replay.draft"), results::CheckStatus::kPassed);
  EXPECT_EQ(verdict_of(record, "real.rejected.p/q.support"), "FAIL");
  EXPECT_EQ(verdict_of(record, "narrow.opposed/V16/g3.rejected[0]"), "FAIL");
}

TEST(LosslessSlow, N1IsCaughtByTheReplayAndByTheLaws) {
  const results::Record record = lossless(small(2e4), testing::planted("N1"));
  EXPECT_EQ(record.exit_code, kFailed);
  EXPECT_EQ(status_of(record, "real.replay.decision"), results::CheckStatus::kFailed);
  EXPECT_EQ(verdict_of(record, "narrow.mild/V16/g3.rejected[0]"), "FAIL");
}

// A broken invariant ends the generation it came up in; what else was measured is kept.
TEST(LosslessSlow, K1IsCaughtInTheFirstRoundThatRejects) {
  const results::Record record = lossless(small(2e3), testing::planted("K1"));
  EXPECT_EQ(record.exit_code, kFailed);
  EXPECT_EQ(status_of(record, "real.state.cache-length"), results::CheckStatus::kFailed);
  EXPECT_NE(record.verdict.find("layer"), std::string::npos) << record.verdict;
  EXPECT_EQ(verdict_of(record, "narrow.opposed/V16/g3.rejected[0]"), "PASS");
}

TEST(LosslessSlow, AMutantOfTheOptionsIsPlantedNamedAndRecognised) {
  Options options = small(5e3);
  options.mutant = "N1";
  const results::Record record = lossless(options);
  EXPECT_EQ(record.exit_code, kFailed);
  ASSERT_FALSE(record.notes.empty());
  EXPECT_EQ(record.notes.back(),
            "A fault was planted in this run: the accept coin is reused for the residual (N1).");
  EXPECT_NE(record.verdict.find("the accept coin is reused for the residual (N1)"),
            std::string::npos)
      << record.verdict;
}

TEST(Lossless, RefusesMutantsThatAreNone) {
  Options options = small(5e3);
  options.mutant = "ZZ";
  EXPECT_THROW(lossless(options), engine::InputError);
  options.mutant = "M3";  // waits for a component
  EXPECT_THROW(lossless(options), engine::InputError);
}

TEST(KvSlow, TheProductPasses) {
  Bench bench(embedded_options("kv"));
  results::Record record = start_record(bench.context);
  run_kv(bench.context, record);
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
  EXPECT_GE(record.checks.size(), 37U);
  for (const results::Check& check : record.checks)
    EXPECT_EQ(check.status, results::CheckStatus::kPassed) << check.id << ": " << check.detail;
}

TEST(Kv, K1IsCaught) {
  Bench bench(embedded_options("kv"));
  results::Record record = start_record(bench.context);
  EXPECT_THROW(run_kv(bench.context, record, testing::steps_k1()), engine::StateViolation);
}

TEST(LosslessSlow, GreedyIsAnEqualityTest) {
  Options options = small(1e3);
  options.sampling.temperature = 0.0;
  const results::Record record = lossless(options);
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
}

}  // namespace
}  // namespace specbench::suites
