#include "suites/enumeration.h"

#include <gtest/gtest.h>

#include "engine/error.h"
#include "suites/step_faults_test_support.h"

namespace specbench::suites {
namespace {

using namespace testing;
using results::CheckStatus;

EnumerationCase a_case(int n_ids, int g, const StopRule& stop = stop_rule("fixed"),
                       std::uint64_t seed = 1) {
  EnumerationCase one;
  one.n_ids = n_ids;
  one.g = g;
  one.stop = &stop;
  one.seed = seed;
  return one;
}

double l1_of(std::string_view verifier, const EnumerationCase& one,
             const engine::Steps& steps = {}) {
  return enumerate(one, {verifier, steps}).l1;
}

class EnumerationOf : public ::testing::TestWithParam<const char*> {};

TEST_P(EnumerationOf, TheVerifierIsExactWithEveryLegalStopRuleAndProcessors) {
  const auto checks = check_enumeration(GetParam(), {}, 2);
  EXPECT_EQ(checks.size(), 2 * legal_stop_rules().size());
  for (const results::Check& check : checks)
    EXPECT_EQ(check.status, CheckStatus::kPassed) << check.id << ": " << check.detail;
}
INSTANTIATE_TEST_SUITE_P(Verifiers, EnumerationOf,
                         ::testing::Values("token", "block", "one-hot", "coupled", "greedy"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Enumeration, NamesTheTextAndBothProbabilities) {
  const EnumerationResult result = enumerate(a_case(2, 1), {"token", with_rule(rule_a1)});
  EXPECT_GT(result.l1, 0.01);
  EXPECT_NE(result.worst.find("has probability"), std::string::npos) << result.worst;
}

TEST(Enumeration, SeesFaultyRules) {
  const struct {
    const char* id;
    engine::AcceptRule rule;
    double least;  // about half of what was measured
  } faults[] = {{"R1", rule_r1, 0.05}, {"R2", rule_r2, 0.05}, {"R3", rule_r3, 0.02},
                {"R4", rule_r4, 0.02}, {"A1", rule_a1, 0.1},  {"A3", rule_a3, 0.1},
                {"A4", rule_a4, 0.1},  {"A6", rule_a6, 0.1},  {"N1", rule_n1, 0.05}};
  for (const auto& fault : faults) {
    const double l1 = l1_of("token", a_case(4, 3), with_rule(fault.rule));
    RecordProperty(fault.id, std::to_string(l1));
    EXPECT_GT(l1, fault.least) << fault.id;
  }
}

// R9 is the fault that draws do not see.
TEST(Enumeration, SeesTheBlockRuleWithTheTokenResidual) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const double l1 = l1_of("block", a_case(4, 3, stop_rule("fixed"), seed), with_rule(rule_r9));
    RecordProperty("R9_seed_" + std::to_string(seed), std::to_string(l1));
    EXPECT_GT(l1, 1e-6) << seed;
  }
  // With one draft the two rules are one.
  EXPECT_LT(l1_of("block", a_case(4, 1), with_rule(rule_r9)), kMaxEnumerationL1);
}

// The block rule measured as a rule of unknown shape: every coin from the first on.
TEST(Enumeration, ARuleInTheVerifiersPlaceNeedNotHaveItsShape) {
  EXPECT_LT(l1_of("block", a_case(4, 3), with_rule(engine::accept_block)), kMaxEnumerationL1);
  EXPECT_LT(l1_of("block", a_case(4, 3), with_rule(engine::accept_token)), kMaxEnumerationL1);
  EXPECT_LT(l1_of("token", a_case(4, 3), with_rule(engine::accept_block)), kMaxEnumerationL1);
}

// Measure zero, but never allowed: an impossible id at coin 0 or at the last coin.
TEST(Enumeration, AnImpossibleTokenIsAViolation) {
  EnumerationCase one = a_case(3, 2);
  one.tables = Tables::kMixed;
  for (const engine::AcceptRule rule : {rule_a1, rule_a2, rule_r5}) {
    int n_seen = 0;
    for (one.seed = 1; one.seed <= 5; ++one.seed) {
      try {
        enumerate(one, {"token", with_rule(rule)});
      } catch (const engine::StateViolation& violation) {
        const std::string what = violation.what();
        n_seen += what.find("impossible under the target") != std::string::npos;
      }
    }
    EXPECT_GE(n_seen, 3);
  }
}

TEST(Enumeration, ACheckNamesTheFaultAndHowManyCasesShowIt) {
  const auto checks = check_enumeration("greedy", with_rule(rule_a6), 2);
  const results::Check& check = checks.front();
  EXPECT_EQ(check.id, "enumeration.greedy.fixed");
  EXPECT_EQ(check.status, CheckStatus::kFailed);
  EXPECT_NE(check.detail.find("72 of 72 laws of two rounds are off"), std::string::npos)
      << check.detail;
}

TEST(Enumeration, ThePartOfTheBatteryHasEveryCheckAndFewerCases) {
  const auto part = check_enumeration("token", {}, 2, false);
  EXPECT_EQ(part.size(), 2 * legal_stop_rules().size());
  EXPECT_EQ(part.front().detail.find("36 laws of two rounds"), 0U) << part.front().detail;
}

TEST(Enumeration, SeesFaultyLawsWithProcessorsOn) {
  const struct {
    const char* id;
    decltype(engine::Steps::law) law;
  } faults[] = {{"Q4", law_q4}, {"B3", law_b3}, {"Q7", law_q7}, {"Q8", law_q8}, {"Q10", law_q10}};
  int n_cases = 0;
  for (const EnumerationCase& one : enumeration_cases("token")) {
    if (!one.params.has_processors() || one.n_ids != 3 || one.g != 2) continue;
    ++n_cases;
    for (const auto& fault : faults)
      // Q10 changes nothing where there is no filter.
      if (fault.law == law_q10) {
        EXPECT_LT(l1_of("token", one, with_law(fault.law)), kMaxEnumerationL1);
      } else {
        EXPECT_GT(l1_of("token", one, with_law(fault.law)), 1e-3) << fault.id << one.stop->name;
      }
  }
  EXPECT_EQ(n_cases, 7);
}

TEST(Enumeration, SeesFaultsOfTheOtherRules) {
  EXPECT_GT(l1_of("one-hot", a_case(3, 2), with_rule(rule_a6)), 0.01);
  EnumerationCase greedy = a_case(3, 2);
  greedy.params.temperature = 0.0;
  greedy.tables = Tables::kTied;
  double a8 = 0.0;
  for (greedy.seed = 1; greedy.seed <= 8; ++greedy.seed)
    a8 += l1_of("greedy", greedy, with_law(law_a8));
  EXPECT_GT(a8, 1.0);
  EXPECT_GT(l1_of("greedy", a_case(3, 2), with_rule(rule_a6)), 0.1);
  EXPECT_GT(l1_of("coupled", a_case(3, 2), with_coins(coins_n5_seed)) +
                l1_of("coupled", a_case(3, 2, stop_rule("fixed"), 2), with_coins(coins_n5_seed)),
            0.1);
  EXPECT_GT(l1_of("coupled", a_case(3, 2), with_rule(engine::accept_one_hot)), 0.1);
}

TEST(Enumeration, EveryIllegalStopRuleIsSeenAndSoIsWhyItIsIllegal) {
  for (const char* verifier : {"token", "block"})
    for (const StopRule& stop : illegal_stop_rules())
      for (const auto& [n_ids, g] : {std::pair(3, 3), std::pair(4, 2)}) {
        const double l1 = l1_of(verifier, a_case(n_ids, g, stop));
        RecordProperty(std::string(verifier) + "_" + std::string(stop.name), std::to_string(l1));
        EXPECT_GT(l1, 1e-3) << verifier << " " << stop.name << " V " << n_ids;
      }
  // The one-hot rule is exact for whatever was drafted.
  for (const StopRule& stop : illegal_stop_rules()) {
    EXPECT_LT(l1_of("one-hot", a_case(3, 3, stop)), kMaxEnumerationL1) << stop.name;
  }
}

// Q1 and Q2: what was drawn is not what is reported.
TEST(Enumeration, SeesDraftsNotDrawnFromTheirLaw) {
  const auto all_of = [](int g, int) { return g; };
  const StopRule argmax{"argmax",
                        [](const DraftRow& row, std::vector<Branch>& out) {
                          out.push_back({1.0, argmax_of(row.law), false, row.law});
                        },
                        all_of};
  const StopRule top_two{"top-two",
                         [](const DraftRow& row, std::vector<Branch>& out) {
                           const double rest = 1.0 - row.law.prob(0);
                           for (TokenId id = 1; id < row.law.n_ids; ++id)
                             out.push_back({row.law.prob(id) / rest, id, false, row.law});
                         },
                         all_of};
  for (const char* verifier : {"token", "block"}) {
    EXPECT_GT(l1_of(verifier, a_case(3, 3, argmax)), 0.01) << verifier;
    EXPECT_GT(l1_of(verifier, a_case(3, 3, top_two)), 0.01) << verifier;
  }
}

// N6: MUTANTS says a total variation of .04 at V = 3, g = 3. It depends on the laws: of 300 tables
// the median is .01, the largest .052; that of seed 16 is .045, and 2e6 drawn texts agreed with it.
TEST(Enumeration, SharedAcceptCoinsBiasTheBlockRuleAndNotTheTokenRule) {
  for (const std::uint64_t seed : {1, 2, 16}) {
    EnumerationCase one = a_case(3, 3, stop_rule("fixed"), seed);
    one.shares_accept_coins = true;
    const double tv = l1_of("block", one) / 2;
    RecordProperty("N6_tv_seed_" + std::to_string(seed), std::to_string(tv));
    EXPECT_GT(tv, 1e-3);
    if (seed == 16) {
      EXPECT_NEAR(tv, 0.045, 0.005);
    }
    EXPECT_LT(l1_of("token", one), kMaxEnumerationL1);
  }
}

// The coins of the engine under test are looked at to see whether rounds share them.
TEST(Enumeration, SharedAcceptCoinsOfTheEngineAreFound) {
  const auto checks = check_enumeration("block", with_coins(coins_n6), 2);
  EXPECT_EQ(checks.front().status, CheckStatus::kFailed) << checks.front().detail;
  const auto same = check_enumeration("token", with_coins(coins_n6), 2);
  EXPECT_EQ(same.front().status, CheckStatus::kPassed) << same.front().detail;
}

}  // namespace
}  // namespace specbench::suites
