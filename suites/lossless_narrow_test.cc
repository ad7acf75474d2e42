#include "suites/lossless_narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

#include "engine/error.h"
#include "suites/budget.h"
#include "suites/mutants.h"
#include "suites/narrow_seen.h"

namespace specbench::suites {
namespace {

using stats::Verdict;

NarrowCase case_named(const std::string& name) {
  for (NarrowCase& narrow : narrow_cases())
    if (narrow.name == name) return narrow;
  throw std::logic_error("no case " + name);
}

engine::Steps planted(const std::string& mutant) { return find_mutant(mutant)->plant().steps; }

std::set<std::string> failures(const std::string& name, const std::string& verifier,
                               const engine::Steps& steps, std::int64_t n_rounds,
                               std::uint64_t seed = 11) {
  std::set<std::string> failed;
  for (const stats::TestResult& result :
       test_narrow_case(case_named(name), verifier, n_rounds, seed, steps, 2))
    if (result.verdict == Verdict::kFail)
      failed.insert(result.id.substr(("narrow." + name + ".").size()));
  return failed;
}

TEST(Narrow, LawsAreLawsAndNamesAreUnique) {
  std::set<std::string> names;
  for (const NarrowCase& narrow : narrow_cases()) {
    EXPECT_TRUE(names.insert(narrow.name).second) << narrow.name;
    for (const NarrowRow& row : narrow.rows) {
      ASSERT_EQ(row.targets.size(), row.drafts.size());
      for (const auto* laws : {&row.targets, &row.drafts})
        for (const Probs& law : *laws)
          EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1.0, 1e-12) << narrow.name;
    }
  }
  EXPECT_EQ(names.size(), 77U);
}

// A fault is visible only where several ids gain and several lose.
TEST(Narrow, LawsDifferInThreeIdsOnEachSide) {
  for (const NarrowCase& narrow : narrow_cases()) {
    const std::string kind = narrow.name.substr(0, narrow.name.find('/'));
    if (narrow.n_ids() < 8 || (kind != "opposed" && kind != "mild" && kind != "position-distinct" &&
                               kind != "row-distinct"))
      continue;
    for (const NarrowRow& row : narrow.rows)
      for (std::size_t i = 0; i < narrow.g(); ++i) {
        int gain = 0, lose = 0;
        for (std::size_t y = 0; y < narrow.n_ids(); ++y) {
          gain += row.targets[i][y] > row.drafts[i][y] ? 1 : 0;
          lose += row.targets[i][y] < row.drafts[i][y] ? 1 : 0;
        }
        EXPECT_GE(gain, 3) << narrow.name << " at " << i;
        EXPECT_GE(lose, 3) << narrow.name << " at " << i;
      }
  }
}

TEST(Narrow, ProbesAreCases) {
  EXPECT_EQ(narrow_probe_cases().size(), 7U);
  for (const NarrowCase& probe : narrow_probe_cases())
    EXPECT_EQ(case_named(probe.name).rows[0].targets, probe.rows[0].targets);
}

TEST(Narrow, PairLawsAreTheRulesOwn) {
  const PairLaws laws({0.5, 0.3, 0.2}, {0.2, 0.3, 0.5});
  EXPECT_DOUBLE_EQ(laws.acceptance, 0.7);
  EXPECT_DOUBLE_EQ(laws.accepted[1], 0.3 / 0.7);
  EXPECT_EQ(laws.rejected, (Probs{1.0, 0.0, 0.0}));
  EXPECT_TRUE(PairLaws({0.5, 0.5}, {0.5, 0.5}).rejected.empty());
  EXPECT_TRUE(PairLaws({1.0, 0.0}, {0.0, 1.0}).accepted.empty());
}

// Two ids: both draws are the first iff E_0 / E_1 is below the smaller of the odds.
TEST(Narrow, CoupledAcceptanceOfTwoIdsByHand) {
  const Probs p{0.6, 0.4}, q{0.25, 0.75};
  EXPECT_DOUBLE_EQ(coupled_acceptance(p, q, 0), 1.0);  // 0 under q is 0 under p
  EXPECT_DOUBLE_EQ(coupled_acceptance(p, q, 1), 0.4 / 0.75);
}

TEST(Narrow, SameResultForAnyNumberOfThreads) {
  for (const char* verifier : {"token", "block"}) {
    const NarrowCase narrow = case_named("mild/V8/g3");
    const auto one = test_narrow_case(narrow, verifier, 20'000, 3, {}, 1);
    const auto three = test_narrow_case(narrow, verifier, 20'000, 3, {}, 3);
    ASSERT_EQ(one.size(), three.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(one[i].id, three[i].id);
      EXPECT_EQ(one[i].n, three[i].n);
      EXPECT_EQ(one[i].statistic, three[i].statistic) << one[i].id;
    }
  }
}

TEST(Narrow, AnotherVerifierIsRefused) {
  EXPECT_THROW(test_narrow_case(case_named("mild/V8/g3"), "typical", 1000, 3, {}, 1),
               engine::InputError);
}

engine::Acceptance without_tables(const engine::Proposal& proposal, const engine::RoundCoins& coins,
                                  const engine::LawRoom& room) {
  return engine::accept_token({proposal.drafted, proposal.draft_laws, proposal.target_laws}, coins,
                              room);
}

TEST(Narrow, ResidualsMadeOnceChangeNothing) {
  engine::Steps steps;
  steps.accept = without_tables;
  const NarrowCase narrow = case_named("position-distinct/V16/g3");
  const auto with = test_narrow_case(narrow, "token", 20'000, 3, {}, 1);
  const auto without = test_narrow_case(narrow, "token", 20'000, 3, steps, 1);
  ASSERT_EQ(with.size(), without.size());
  for (std::size_t i = 0; i < with.size(); ++i) EXPECT_EQ(with[i].statistic, without[i].statistic);
}

// What the coins were asked for; a step keeps no state of its own.
std::mutex keys_mutex;
std::vector<engine::RoundKey> keys_seen;
engine::RoundCoins noted_coins(const engine::RoundKey& key) {
  const std::scoped_lock lock(keys_mutex);
  keys_seen.push_back(key);
  return engine::coins_of_round(key);
}

// Rounds of a row overlap in positions, as in decoding; no two have the same key.
TEST(Narrow, RoundsFollowEachOtherAsInDecoding) {
  keys_seen.clear();
  engine::Steps steps;
  steps.coins = noted_coins;
  play_narrow_case(case_named("opposed/V16/g3"), engine::find_verifier("token", {}), 10'000, 3,
                   steps, 2);
  std::set<std::pair<std::uint32_t, int>> keys;
  std::set<std::pair<std::uint32_t, int>> positions;
  std::size_t n_positions = 0;
  for (const engine::RoundKey& key : keys_seen) {
    EXPECT_TRUE(keys.insert({key.request, key.first_pos}).second);
    for (int i = 0; i <= key.n_drafted; ++i) positions.insert({key.request, key.first_pos + i});
    n_positions += static_cast<std::size_t>(key.n_drafted + 1);
  }
  EXPECT_EQ(keys_seen.size(), static_cast<std::size_t>(whole_rounds(10'000)));
  EXPECT_LT(positions.size(), n_positions * 2 / 3);
}

TEST(NarrowStatistical, TheProductPassesEveryCaseWithItsPower) {
  for (const char* verifier : {"token", "block", "one-hot", "coupled"}) {
    int n_tests = 0;
    for (const NarrowCase& narrow : narrow_cases()) {
      for (const stats::TestResult& result :
           test_narrow_case(narrow, verifier, narrow_rounds(), 5, {}, 2)) {
        EXPECT_EQ(result.verdict, Verdict::kPass)
            << verifier << " " << result.id << ": " << result.reason;
        ++n_tests;
      }
    }
    EXPECT_LE(n_tests, kMaxNarrowTests) << verifier;
    EXPECT_GE(n_tests, 300) << verifier;
  }
}

// At few rounds and low counts a correct sampler must not be called faulty; and p-values are what
// they say.
TEST(NarrowStatistical, TwoHundredSeedsRaiseNoAlarm) {
  for (const char* verifier : {"token", "block", "one-hot", "coupled"}) {
    int n = 0, n_small = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      for (const stats::TestResult& result :
           test_narrow_case(case_named("mild/V3/g3"), verifier, 8192, 1000 + seed, {}, 2)) {
        EXPECT_NE(result.verdict, Verdict::kFail) << verifier << seed << " " << result.id;
        if (result.statistic_name.empty() || result.p_value == 1.0) continue;
        ++n;
        n_small += result.p_value < 0.02 ? 1 : 0;
      }
    }
    EXPECT_GE(n, 1000) << verifier;
    // 2 %, and four standard deviations of tests that are not quite independent.
    EXPECT_NEAR(n_small, 0.02 * n, 4.0 * std::sqrt(2.0 * 0.02 * n)) << verifier;
  }
}

struct Kill {
  const char* mutant;
  const char* narrow;
  const char* test;
  /// At least twice what narrow_effects predicts at 1e-6; more where the class is so rare that its
  /// pools are few.
  std::int64_t n_rounds;
  const char* verifier = "token";
};

constexpr const char* kOpposed = "opposed/V16/g3";
constexpr const char* kMild = "mild/V16/g3";
constexpr const char* kPositions = "position-distinct/V16/g3";

const Kill kKills[] = {
    {"R1", kOpposed, "reached[0]", 2'000},
    {"R1", kMild, "reached[0]", 8'000},
    {"R1", kMild, "rejected[0]", 256},
    {"R2", kOpposed, "reached[0]", 2'000},
    {"R2", kMild, "rejected[0]", 256},
    {"R3", kOpposed, "rejected[0]", 256},
    {"R3", kMild, "reached[0]", 4'000},
    {"R4", kPositions, "rejected[1]", 256},
    {"R8", kPositions, "rejected[1]", 256},
    {"R10", kMild, "rejected[0]", 256},
    {"A1", "disjoint/V16/g3", "accepted[0]", 256},
    {"A1", "tiny-ratio/V16/g3", "accept-bit[0]", 256},
    {"A1", kMild, "length", 512},
    {"A3", kOpposed, "accept-bit[0]", 512},
    {"A4", kMild, "accept-bit[0]", 256},
    {"A5", "tiny-ratio/V16/g3", "accept-bit[0]", 2'000},
    {"A6", kMild, "accept-bit[0]", 512},
    {"A10", kMild, "accept-bit[0]", 256},
    {"A11", kPositions, "accept-bit[0]", 6'000},
    {"N1", kMild, "rejected[0]", 3'000},
    {"N1", kOpposed, "reached[0]", 12'000},
    {"N2", kOpposed, "rejected[0]", 20'000},
    {"N3", kOpposed, "accept-bit[1]", 3'000},
    {"N3", kMild, "reached[2]", 12'000},
    {"N4", kOpposed, "rows", 8'000},
    {"N4", kMild, "rows", 8'000},
    {"N6", "top-k-draft/V8/g3", "accept-bit[0]", 5'000, "block"},
    {"N6", "top-k-draft/V8/g3", "pairs", 10'000, "block"},
    {"Q1", kOpposed, "reached[0]", 1'500},
    {"Q2", kOpposed, "accepted[0]", 8'000},
    {"Q2", kMild, "accepted[0]", 1'000},
    {"Q9", "row-distinct/V16/g3", "rejected.row[1]", 4'000},
    {"Q9", "row-distinct/V16/g3", "reached.row[1]", 12'000},
    {"B4", kPositions, "bonus", 2'000},
    {"D1", kOpposed, "reached[0]", 4'000},
    {"D2", kOpposed, "accepted[0]", 8'000},
};

TEST(NarrowStatistical, EveryFaultIsCaughtByItsTest) {
  for (const Kill& kill : kKills) {
    const auto failed = failures(kill.narrow, kill.verifier, planted(kill.mutant), kill.n_rounds);
    std::string all;
    for (const std::string& id : failed) all += " " + id;
    EXPECT_TRUE(failed.contains(kill.test))
        << kill.mutant << " in " << kill.narrow << " at " << kill.n_rounds << ":" << all;
  }
}

// Each by the test that should name it, and not by those that look elsewhere.
TEST(NarrowStatistical, FaultsShowOnlyWhereTheyAre) {
  EXPECT_FALSE(failures(kOpposed, "token", planted("R1"), 20'000).contains("accept-bit[0]"));
  EXPECT_TRUE(failures("equal/V16/g3", "token", planted("R1"), 20'000).empty());
  EXPECT_TRUE(failures(kMild, "token", planted("R4"), 20'000).empty());
  EXPECT_TRUE(failures(kMild, "token", planted("Q9"), 20'000).empty());
}

TEST(NarrowStatistical, PredictedRoundsAreWhatItTakes) {
  const std::string test = "narrow.mild/V16/g3.reached[0]";
  std::int64_t predicted = 0;
  for (const NarrowEffect& effect :
       narrow_effects(case_named(kMild), "token", 400'000, 5, planted("N1"), 2))
    if (effect.test_id == test) predicted = effect.required_rounds;
  EXPECT_GT(predicted, 1000);
  EXPECT_LT(predicted, 4000);  // 2,150 measured
  int n_caught = 0, n_early = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    n_caught +=
        failures(kMild, "token", planted("N1"), 2 * predicted, seed).contains("reached[0]") ? 1 : 0;
    n_early +=
        failures(kMild, "token", planted("N1"), predicted / 4, seed).contains("reached[0]") ? 1 : 0;
  }
  EXPECT_GE(n_caught, 19);
  EXPECT_LE(n_early, 2);
}

TEST(NarrowStatistical, ACorrectSamplerHasNoEffect) {
  for (const NarrowEffect& effect : narrow_effects(case_named(kMild), "token", 100'000, 5, {}, 2))
    EXPECT_EQ(effect.required_rounds, std::numeric_limits<std::int64_t>::max()) << effect.test_id;
}

}  // namespace
}  // namespace specbench::suites
