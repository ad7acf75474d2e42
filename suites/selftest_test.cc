#include "suites/selftest.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/parallel.h"
#include "suites/controls.h"
#include "suites/diagnosis.h"
#include "suites/fault_test_support.h"
#include "suites/kinds.h"
#include "suites/lossless_narrow.h"

namespace specbench::suites {
namespace {

TEST(Mutants, AreWellFormed) {
  std::set<std::string> ids, cases;
  for (const NarrowCase& narrow : narrow_probe_cases()) cases.insert(narrow.name);
  for (const Mutant& mutant : mutants()) {
    EXPECT_TRUE(ids.insert(mutant.id).second) << mutant.id;
    EXPECT_FALSE(std::string(mutant.fault).empty()) << mutant.id;
    EXPECT_FALSE(std::string(mutant.seen_in).empty()) << mutant.id;
    EXPECT_EQ(mutant.plant == nullptr, mutant.waits_for != nullptr) << mutant.id;
    if (mutant.plant == nullptr) continue;
    engine::SamplingParams sampling;
    sampling.temperature = std::string(mutant.verifier) == "greedy" ? 0.0 : 1.0;
    EXPECT_NO_THROW((void)engine::find_verifier(mutant.verifier, sampling)) << mutant.id;
    EXPECT_EQ(std::string(mutant.narrow_case).empty(), mutant.predicted_n == 0) << mutant.id;
    const bool has_case = mutant.predicted_n == 0 || cases.contains(mutant.narrow_case);
    EXPECT_TRUE(has_case) << mutant.id;
  }
  EXPECT_GE(ids.size(), 60U);
}

TEST(Mutants, AreFoundById) {
  ASSERT_NE(find_mutant("N1"), nullptr);
  EXPECT_STREQ(find_mutant("N1")->id, "N1");
  EXPECT_EQ(find_mutant("n1"), nullptr);
  EXPECT_EQ(find_mutant(""), nullptr);
}

// The power that is promised: at the predicted number of rounds sampling alone catches each of
// these faults in 97 of 100 seeds, or more.
TEST(MutantsStatistical, EachIsCaughtAtItsPredictedNumberOfRounds) {
  for (const Mutant& mutant : mutants()) {
    if (mutant.plant == nullptr || mutant.predicted_n == 0) continue;
    std::vector<char> is_caught(100);
    engine::parallel_for(100, 2, [&](int seed) {
      is_caught[static_cast<std::size_t>(seed)] = is_caught_by_sampling(
          mutant, mutant.predicted_n, 500 + static_cast<std::uint64_t>(seed), 1);
    });
    EXPECT_GE(std::count(is_caught.begin(), is_caught.end(), 1), 97) << mutant.id;
  }
}

TEST(ControlsStatistical, EachLivesAndAcceptsAtItsOwnRate) {
  testing::Bench bench(testing::embedded_options("selftest"));
  const auto checks = check_controls(bench.context);
  EXPECT_EQ(checks.size(), 5U);
  for (const results::Check& check : checks)
    EXPECT_EQ(check.status, results::CheckStatus::kPassed) << check.id << ": " << check.detail;
}

// Always accepting is lossless for none of them (siblings have a rule of their own).
TEST(ControlsStatistical, AWrongRuleInTheirPlaceIsSeen) {
  testing::Bench bench(testing::embedded_options("selftest"));
  for (const results::Check& check :
       check_controls(bench.context, find_mutant("A1")->plant().steps.accept))
    EXPECT_EQ(check.status == results::CheckStatus::kFailed, check.id != "control.siblings")
        << check.id << ": " << check.detail;
}

/// The kill matrix that the repository keeps.
KillMatrix kept_matrix() { return load_kill_matrix(); }

TEST(KillMatrix, HasARowForEveryMutantThatIsPlanted) {
  std::set<std::string> ids;
  for (const Signature& signature : kept_matrix().signatures) {
    EXPECT_FALSE(signature.kinds.empty()) << signature.id;
    ids.insert(signature.id);
  }
  for (const Mutant& mutant : mutants())
    EXPECT_EQ(ids.contains(mutant.id), mutant.plant != nullptr) << mutant.id;
}

// Faults whose rows are alike cannot be told apart; each must at least be among those named.
TEST(KillMatrix, DiagnosesEveryMutantFromItsOwnRow) {
  const KillMatrix matrix = kept_matrix();
  for (const Signature& signature : matrix.signatures) {
    const double own = resemblance(signature, signature.kinds, matrix.kinds, matrix);
    for (const Signature& other : matrix.signatures)
      EXPECT_GE(own, resemblance(other, signature.kinds, matrix.kinds, matrix))
          << signature.id << " looks more like " << other.id;
  }
}

TEST(SelftestSlow, KillsEveryMutantAndLetsEveryControlLive) {
  testing::Bench bench(testing::embedded_options("selftest"));
  results::Record record = start_record(bench.context);
  run_selftest(bench.context, record);
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
  for (const results::Check& check : record.checks)
    EXPECT_EQ(check.status, results::CheckStatus::kPassed) << check.id << ": " << check.detail;
  EXPECT_EQ(kill_matrix_of(record).signatures.size(), kept_matrix().signatures.size());
}

}  // namespace
}  // namespace specbench::suites
