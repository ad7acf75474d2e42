// The figures of METRICS on hand-made rounds, and every identity shown broken.
#include "suites/tally.h"

#include <gtest/gtest.h>

#include <cmath>

namespace specbench::suites {
namespace {

using engine::Law;
using engine::StopReason;
using engine::TokenId;

/// A round as the engine delivers it: `drafted` tokens of which `n_accepted` are emitted, then the
/// final one unless it is cut.
struct HandRound {
  int n_drafted = 0;
  int n_accepted = 0;
  bool is_cut = false;
  StopReason stop = StopReason::kNone;
  std::vector<Law> draft_laws, target_laws;
};

std::size_t deliver(Tally& tally, const HandRound& hand, std::vector<TokenId>& emitted) {
  static TokenId next = 0;  // texts without repetition
  std::vector<TokenId> drafted, tokens;
  for (int i = 0; i < hand.n_drafted; ++i) drafted.push_back(++next);
  tokens.assign(drafted.begin(), drafted.begin() + hand.n_accepted);
  if (!hand.is_cut) tokens.push_back(++next);
  engine::Round round;
  round.proposal = {drafted, hand.draft_laws, hand.target_laws};
  round.n_accepted = hand.n_accepted;
  round.n_verdict = hand.is_cut ? hand.n_drafted : hand.n_accepted;
  round.emitted = tokens;
  round.is_cut = hand.is_cut;
  round.stop = hand.stop;
  tally.round(round);
  emitted.insert(emitted.end(), tokens.begin(), tokens.end());
  return tokens.size();
}

/// Prefill; 2 of 2; 0 of 2; 1 of 2; nothing drafted; 1 of 3 cut by EOS.
struct Story {
  Tally tally;
  engine::Completion completion;
  Story() {
    completion.tokens = {1000};
    tally.prefill({0, 0, 5, 1000, nullptr, StopReason::kNone});
    for (const HandRound& hand : {HandRound{2, 2, false, StopReason::kNone, {}, {}},
                                  {2, 0, false, StopReason::kNone, {}, {}},
                                  {2, 1, false, StopReason::kNone, {}, {}},
                                  {0, 0, false, StopReason::kNone, {}, {}},
                                  {3, 1, true, StopReason::kEos, {}, {}}})
      deliver(tally, hand, completion.tokens);
    completion.stop = StopReason::kEos;
  }
  std::vector<results::Check> check(int g = 3) const {
    return check_identities(tally, {&completion, 1}, g);
  }
};

std::vector<std::string> failures(const std::vector<results::Check>& checks) {
  std::vector<std::string> ids;
  for (const results::Check& check : checks)
    if (check.status != results::CheckStatus::kPassed) ids.push_back(check.id);
  return ids;
}

TEST(Tally, CountsRoundsAsTheyWere) {
  const Story story;
  const Tally& t = story.tally;
  EXPECT_EQ(t.n_rounds, 5);
  EXPECT_EQ(t.n_drafted, 9);
  EXPECT_EQ(t.n_accepted, 4);
  EXPECT_EQ(t.n_rejections, 2);  // the cut round hides what was said of its later tokens
  EXPECT_EQ(t.n_emitted, 1 + 3 + 1 + 2 + 1 + 1);
  EXPECT_EQ(t.n_covered, 3 + 1 + 2 + 1);
  EXPECT_EQ(t.n_cut, 1);
  EXPECT_EQ(t.n_judged, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(t.n_stood, (std::vector<std::int64_t>{3, 1}));
  EXPECT_DOUBLE_EQ(t.acceptance_length(), 1.8);
  EXPECT_DOUBLE_EQ(t.draft_acceptance_rate(), 4.0 / 9.0);
  EXPECT_DOUBLE_EQ(t.acceptance_probability(), 4.0 / 6.0);
  EXPECT_EQ(t.conditional_acceptance(), (std::vector<double>{0.75, 0.5}));
  EXPECT_EQ(t.joint_acceptance(), (std::vector<double>{0.6, 0.2}));
  EXPECT_EQ(t.histogram[2], (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(t.n_repeated_4grams, 0);
  EXPECT_TRUE(failures(story.check()).empty());
}

TEST(Tally, EveryIdentityBreaksWhereItsNumbersAreBent) {
  const auto broken = [](auto bend, int g = 3) {
    Story story;
    bend(story);
    return failures(story.check(g));
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(broken([](Story& s) { ++s.tally.histogram[0][0]; }), (Ids{"identity.rounds"}));
  EXPECT_EQ(broken([](Story& s) { --s.tally.histogram[2][0], ++s.tally.histogram[2][1]; }),
            (Ids{"identity.accepted"}));
  EXPECT_EQ(broken([](Story& s) { ++s.tally.n_drafted; }), (Ids{"identity.drafted"}));
  EXPECT_EQ(broken([](Story& s) { ++s.tally.n_stood[1]; }), (Ids{"identity.acceptance_length"}));
  EXPECT_EQ(broken([](Story& s) { ++s.tally.n_cut; }), (Ids{"identity.emitted"}));
  EXPECT_EQ(broken([](Story& s) { s.completion.tokens.pop_back(); }), (Ids{"identity.returned"}));
  EXPECT_EQ(broken([](Story&) {}, 0), (Ids{"identity.bound"}));
}

TEST(Tally, NothingDraftedHasLengthOneAndNoProbability) {
  Tally tally;
  std::vector<TokenId> emitted;
  deliver(tally, {}, emitted);
  EXPECT_EQ(tally.acceptance_length(), 1.0);
  EXPECT_TRUE(std::isnan(tally.draft_acceptance_rate()));
  results::Record record;
  report_acceptance(tally, record);
  for (const results::Metric& metric : record.metrics)
    EXPECT_TRUE(!metric.value || std::isfinite(*metric.value)) << metric.name;
  EXPECT_FALSE(results::find_metric(record, "acceptance_probability")->value);
}

TEST(Tally, OverlapIsOfJudgedRowsOnly) {
  std::vector<double> even(engine::kChunk), skewed(engine::kChunk), sums(2);
  even[0] = even[1] = 1.0;
  skewed[0] = 3.0;
  skewed[1] = 1.0;
  const Law p{even.data(), &sums[0], engine::sum_chunks(even.data(), 2, &sums[0]), 2, -1};
  const Law q{skewed.data(), &sums[1], engine::sum_chunks(skewed.data(), 2, &sums[1]), 2, -1};
  const Law point{nullptr, nullptr, 1.0, 2, 1};
  EXPECT_DOUBLE_EQ(overlap(p, q), 0.75);
  EXPECT_DOUBLE_EQ(overlap(p, p), 1.0);
  EXPECT_DOUBLE_EQ(overlap(q, point), 0.25);
  EXPECT_DOUBLE_EQ(overlap(point, q), 0.25);
  Tally tally;
  tally.wants_overlap = true;
  std::vector<TokenId> emitted;
  deliver(tally, {2, 0, false, StopReason::kNone, {q, p}, {p, p, p}},
          emitted);  // the second draft was never judged
  EXPECT_EQ(tally.n_overlap_rows, 1);
  EXPECT_DOUBLE_EQ(tally.sum_overlap, 0.75);
}

TEST(Tally, ALoopIsCalledDegenerate) {
  Tally tally;
  const std::vector<TokenId> loop = {1, 2, 3, 4};
  for (std::uint32_t request : {0U, 1U}) {  // requests do not see each other's text
    tally.prefill({request, 0, 5, 4, nullptr, StopReason::kNone});
    for (int i = 0; i < 5; ++i) {
      engine::Round round;
      round.request = request;
      round.emitted = loop;
      tally.round(round);
    }
  }
  EXPECT_EQ(tally.n_4grams, 2 * 18);
  EXPECT_EQ(tally.n_repeated_4grams, 2 * 14);  // four of them are new
  results::Record record;
  report_acceptance(tally, record);
  EXPECT_EQ(results::find_metric(record, "repeated_4grams")->note.rfind("DEGENERATE", 0), 0U);
}

TEST(Tally, TheFirstDifferenceIsNamed) {
  const engine::Completion baseline{5, {1, 2, 3}, StopReason::kMaxTokens};
  engine::Completion other = baseline;
  EXPECT_EQ(first_difference(baseline, other), "");
  other.tokens[1] = 9;
  EXPECT_EQ(first_difference(baseline, other),
            "Request 5: emitted token 1 is 2 autoregressively and 9 speculatively.");
  other.tokens = {1, 2};
  EXPECT_EQ(first_difference(baseline, other),
            "Request 5: emitted token 2 is 3 autoregressively and the end speculatively.");
  EXPECT_EQ(first_difference(other, baseline),
            "Request 5: emitted token 2 is the end autoregressively and 3 speculatively.");
}

TEST(Tally, ARatioToNothingIsNoNumber) {
  EXPECT_EQ(ratio(3, 4), 0.75);
  EXPECT_TRUE(std::isnan(ratio(0, 0)));
}

}  // namespace
}  // namespace specbench::suites
