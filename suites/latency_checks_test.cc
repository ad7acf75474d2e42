// What must hold before and after timing, each check shown failing.
#include "suites/latency_checks.h"

#include <gtest/gtest.h>

#include "suites/latency_test_support.h"

namespace specbench::suites {
namespace {

using results::CheckStatus;

TEST(LatencyChecks, WorkFollowsTheDraftersOwnFormula) {
  StepCounts steps;
  steps.n_sequences = 2;
  steps.n_prompt_tokens = 9;
  steps.rounds_by_drafted = {1, 0, 4};
  const engine::Work skip = expected_work(steps, draft_shape("layer-skip", 3, 12), 12);
  EXPECT_EQ(skip.token_layers, 9 * 12 + 12 + 4 * 36);
  EXPECT_EQ(skip.head_rows, 2 + 1 + 4 * 5);
  const engine::Work oracle = expected_work(steps, draft_shape("oracle", 3, 12), 12);
  EXPECT_EQ(oracle.token_layers, 9 * 12 + 12 + 4 * (24 + 36));
  EXPECT_EQ(oracle.head_rows, skip.head_rows);
  const engine::Work uniform = expected_work(steps, draft_shape("uniform", 3, 12), 12);
  EXPECT_EQ(uniform.token_layers, skip.token_layers);
  EXPECT_EQ(uniform.head_rows, 2 + 1 + 4 * 3);
  EXPECT_FALSE(has_failure(check_work(skip, skip, "")));
  EXPECT_EQ(check_work(skip, oracle, "")[0].status, CheckStatus::kFailed);
  EXPECT_EQ(check_work(skip, uniform, "")[1].status, CheckStatus::kFailed);
}

TEST(LatencyChecks, TheFirstDifferentTokenIsNamed) {
  const std::vector<engine::Completion> left = {{5, {1, 2, 3}, engine::StopReason::kMaxTokens}};
  std::vector<engine::Completion> right = left;
  EXPECT_FALSE(has_failure(check_equality(left, right, true, true)));
  right[0].tokens[2] = 9;
  const auto checks = check_equality(left, right, true, true);
  EXPECT_EQ(checks[0].id, "equal.tokens");
  EXPECT_EQ(checks[0].status, CheckStatus::kFailed);
  EXPECT_NE(checks[0].detail.find("Request 5: emitted token 2 is 3"), std::string::npos)
      << checks[0].detail;
  EXPECT_EQ(check_equality(left, right, false, true)[0].status, CheckStatus::kSkipped);
  right[0].tokens.pop_back();
  EXPECT_EQ(check_equality(left, right, true, true)[0].status, CheckStatus::kFailed);
  EXPECT_EQ(check_equality(left, right, false, true)[1].status, CheckStatus::kFailed);
  EXPECT_EQ(check_equality(left, right, false, false).size(), 1U);
}

TEST(LatencyChecks, FingerprintsTellIdsAndRequestsApart) {
  using Completions = std::vector<engine::Completion>;
  const auto print = [](const Completions& c) { return outcome_of(c).fingerprint; };
  const Completions one = {{0, {1, 2}, {}}, {1, {3}, {}}};
  EXPECT_EQ(outcome_of(one).n_tokens, 3);
  EXPECT_NE(print(one), print({{0, {1}, {}}, {1, {2, 3}, {}}}));
  EXPECT_NE(print(one), print({{0, {2, 1}, {}}, {1, {3}, {}}}));
}

TEST(LatencyChecks, ATimedRunMustEmitWhatWasChecked) {
  LatencyInput input = typed_input();
  std::vector<std::vector<harness::Outcome>> checked(3, {{11, 42}, {11, 42}});
  EXPECT_EQ(check_samples(input.series, checked).status, CheckStatus::kPassed);
  checked[kTwin][1].fingerprint = 43;
  EXPECT_EQ(check_samples(input.series, checked).status, CheckStatus::kFailed);
  checked[kTwin][1] = {12, 42};
  EXPECT_EQ(check_samples(input.series, checked).status, CheckStatus::kFailed);
}

/// Deliveries of every run: the first token after 500 ns, then two tokens every 100 ns; 10 ns are
/// left behind the last.
LatencyInput input_with_deliveries() {
  LatencyInput input = typed_input();
  for (harness::Sample& sample : input.series.samples) {
    sample.first_token_ns = 500;
    sample.chunk_end_ns = {500, 600, 700, 800, 900, 1000};
    sample.chunk_tokens = {1, 2, 2, 2, 2, 2};
    sample.wall_ns = 1010;
    sample.decode_ns = 510;
  }
  return input;
}

TEST(LatencyChecks, TimesBetweenDeliveriesSumToTheTimePerToken) {
  const LatencyInput input = input_with_deliveries();
  const Measured measured{input.series, input.n_sequences, input.seed};
  const auto checks = check_itl(measured, true);
  ASSERT_EQ(checks.size(), 3U);
  EXPECT_EQ(checks[0].id, "identity.itl.autoregressive");
  EXPECT_EQ(checks[2].id, "identity.itl.speculative-twin");
  EXPECT_FALSE(has_failure(checks)) << checks[0].detail;
  EXPECT_EQ(checks[1].status, CheckStatus::kPassed);
  results::Record record;
  report_latency(input, record);
  EXPECT_NEAR(metric(record, "tpot_ms.speculative"), 50e-6, 1e-15);  // 500 ns for 10 tokens
  EXPECT_NEAR(metric(record, "itl_ms.speculative"), 100e-6, 1e-15);
  EXPECT_EQ(check_itl(measured, false)[0].status, CheckStatus::kSkipped);
}

TEST(LatencyChecks, TamperedDeliveriesAreFound) {
  const auto status = [](auto tamper) {
    LatencyInput input = input_with_deliveries();
    tamper(input.series.samples[1]);  // of the speculative arm
    const auto checks = check_itl({input.series, input.n_sequences, input.seed}, true);
    EXPECT_EQ(checks[kAutoregressive].status, CheckStatus::kPassed);
    EXPECT_NE(checks[kSpeculative].detail.find("Case 0, block 0"), std::string::npos);
    return checks[kSpeculative].status;
  };
  using harness::Sample;
  EXPECT_EQ(status([](Sample& s) { s.first_token_ns = 499; }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.first_token_ns.reset(); }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.chunk_end_ns.front() += 1; }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.chunk_end_ns[3] = 100; }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.chunk_end_ns.back() = 1011; }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.chunk_tokens.back() = 3; }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.n_tokens = 12; }), CheckStatus::kFailed);
  EXPECT_EQ(status([](Sample& s) { s.chunk_end_ns.clear(); }), CheckStatus::kFailed);
}

// A case of two sequences would count another number of tokens in tpot: the two rulers part.
TEST(LatencyChecks, AnotherRulerBreaksTheIdentity) {
  const LatencyInput input = input_with_deliveries();
  const std::vector<int> two = {2, 2};
  const auto checks = check_itl({input.series, two, input.seed}, true);
  EXPECT_EQ(checks[kSpeculative].status, CheckStatus::kFailed);
  EXPECT_NE(checks[kSpeculative].detail.find("sum itl is 500.000 ns"), std::string::npos)
      << checks[kSpeculative].detail;
}

TEST(LatencyChecks, NoRunOfAnArmIsNoPass) {
  LatencyInput input = input_with_deliveries();
  std::erase_if(input.series.samples, [](const auto& s) { return s.arm == kTwin; });
  EXPECT_EQ(check_itl({input.series, input.n_sequences, input.seed}, true)[kTwin].status,
            CheckStatus::kFailed);
}

TEST(LatencyChecks, ControlsMustReadWhatTheyAre) {
  engine::DecodeOptions options;
  options.verifier = &engine::find_verifier("token", options.sampling);
  Tally tally;
  feed_round(tally, 2, 2);
  const DraftShape whole = draft_shape("oracle", 0, 12);
  EXPECT_FALSE(has_failure(check_controls(tally, whole, "oracle", options, 12)));
  EXPECT_TRUE(has_failure(check_controls(tally, {}, "null", options, 12)));
  feed_round(tally, 2, 1);
  EXPECT_TRUE(has_failure(check_controls(tally, whole, "oracle", options, 12)));
  EXPECT_TRUE(
      check_controls(tally, draft_shape("layer-skip", 3, 12), "layer-skip", options, 12).empty());
  options.verifier = &engine::find_verifier(
      "one-hot", options.sampling);  // accepts with the target's probability only
  EXPECT_TRUE(check_controls(tally, whole, "oracle", options, 12).empty());
}

TEST(LatencyChecks, OnlyTheTokenRuleMayEmitOtherIds) {
  engine::DecodeOptions options;
  options.draft_tokens = 2;
  const auto with = [&](const char* verifier, double temperature) {
    options.sampling.temperature = temperature;
    options.verifier = &engine::find_verifier(verifier, options.sampling);
    return options;
  };
  EXPECT_FALSE(must_be_equal(with("token", 1), "layer-skip"));
  EXPECT_TRUE(must_be_equal(with("token", 0), "layer-skip"));
  EXPECT_TRUE(must_be_equal(with("coupled", 1), "layer-skip"));
  EXPECT_TRUE(must_be_equal(with("one-hot", 1), "layer-skip"));
  EXPECT_TRUE(must_be_equal(with("token", 1), "null"));
}

}  // namespace
}  // namespace specbench::suites
