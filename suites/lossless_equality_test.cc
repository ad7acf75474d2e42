#include "suites/lossless_equality.h"

#include <gtest/gtest.h>

#include <map>

#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

std::map<std::string, results::Check> equality(const Faults& faults, int n_prompts = 6,
                                               int max_tokens = 24) {
  Options options = testing::embedded_options("lossless");
  options.threads = 1;  // small steps: two threads wait for each other
  testing::Bench bench(options);
  std::vector<std::pair<std::string, std::int64_t>> counters;
  std::map<std::string, results::Check> checks;
  for (const results::Check& check :
       check_equality(bench.context, n_prompts, max_tokens, faults, counters))
    checks.emplace(check.id, check);
  for (const auto& [id, n] : counters) EXPECT_GT(n, 20) << id;
  return checks;
}

bool fails(const std::map<std::string, results::Check>& checks, const char* id) {
  return checks.at(id).status == results::CheckStatus::kFailed;
}

TEST(Equality, HoldsInEveryCase) {
  const auto checks = equality({});
  EXPECT_EQ(checks.size(), 10U);
  for (const auto& [id, check] : checks)
    EXPECT_EQ(check.status, results::CheckStatus::kPassed) << id << ": " << check.detail;
}

// N5: what a request gets depends on its lane; its own seed is not looked at.
TEST(Equality, ABatchThatChangesTheResultIsFound) {
  Faults lane;
  lane.steps.coins = [](const engine::RoundKey& key) {
    return engine::round_coins(key.seed + static_cast<std::uint64_t>(key.lane), key.request,
                               key.first_pos, key.n_drafted);
  };
  const auto by_lane = equality(lane);
  EXPECT_TRUE(fails(by_lane, "equality.batch")) << by_lane.at("equality.batch").detail;
  EXPECT_FALSE(fails(by_lane, "equality.greedy"));
}

// Processors that reach the draft's rows only: greedy and coupled output lose them.
TEST(Equality, ProcessorsLeftOutOfVerificationAreFound) {
  Faults faults;
  faults.steps.law = [](float* logits, int n_ids, const engine::SamplingParams& params,
                        const engine::RowPast& past, const engine::RowPlace& place,
                        const engine::LawRoom& room) {
    if (place.is_draft) return engine::law_of_row(logits, n_ids, params, past, place, room);
    engine::SamplingParams bare;
    bare.temperature = params.temperature;
    return engine::law_of_row(logits, n_ids, bare, past, place, room);
  };
  const auto checks = equality(faults);
  EXPECT_TRUE(fails(checks, "equality.greedy-processors"));
  EXPECT_TRUE(fails(checks, "equality.coupled-processors"));
  EXPECT_FALSE(fails(checks, "equality.greedy"));
}

// Q5: greedy rows do not take the likeliest id (here: the first that is not).
TEST(Equality, AGreedyRowInASampledBatchIsFound) {
  Faults faults;
  faults.steps.law = [](float* logits, int n_ids, const engine::SamplingParams& params,
                        const engine::RowPast& past, const engine::RowPlace& place,
                        const engine::LawRoom& room) {
    engine::Law law = engine::law_of_row(logits, n_ids, params, past, place, room);
    if (law.is_point() && !place.is_draft) law.point = law.point == 0 ? 1 : 0;
    return law;
  };
  const auto checks = equality(faults);
  EXPECT_NE(checks.at("equality.batch").detail.find("Request 1: emitted token 0"),
            std::string::npos)
      << checks.at("equality.batch").detail;
}

// Q9: what belongs to a row stays behind when the rows are permuted.
TEST(Equality, DraftLawsOfAnotherRowAreFound) {
  Faults faults;
  faults.steps.judged = [](std::span<engine::LaneDraft> drafts) {
    if (drafts.size() > 1 && drafts[0].laws.size() == drafts[1].laws.size())
      std::swap(drafts[0].laws, drafts[1].laws);
  };
  const auto checks = equality(faults);
  EXPECT_TRUE(fails(checks, "equality.batch")) << checks.at("equality.batch").detail;
  EXPECT_FALSE(fails(checks, "equality.coupled"));
}

// P2: rows of a verification that see one another.
TEST(Equality, AWrongMaskIsFound) {
  Faults faults;
  faults.n_visible = [](int, int n_held) { return n_held; };
  const auto checks = equality(faults);
  EXPECT_TRUE(fails(checks, "equality.greedy"));
  EXPECT_TRUE(fails(checks, "equality.coupled"));
}

}  // namespace
}  // namespace specbench::suites
