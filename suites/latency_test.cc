// The latency suite on typed-in numbers whose answers are known, each check shown failing, and
// short runs on the embedded model.
#include "suites/latency.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/error.h"
#include "stats/speculative.h"
#include "suites/latency_checks.h"
#include "suites/latency_model.h"
#include "suites/latency_report.h"

namespace specbench::suites {
namespace {

using results::CheckStatus;

constexpr int kCases = 2, kWholeBlocks = 5, kRounds = 5;

/// Feeds one round of n drafted and n_accepted emitted-and-accepted tokens to an observer.
void feed_round(engine::Observer& observer, int n_drafted, int n_accepted, int first_pos = 1,
                int lane = 0) {
  const std::vector<engine::TokenId> drafted(static_cast<std::size_t>(n_drafted), 7);
  const std::vector<engine::TokenId> emitted(static_cast<std::size_t>(n_accepted + 1), 7);
  engine::Round round;
  round.lane = lane;
  round.request = static_cast<std::uint32_t>(lane);
  round.first_pos = first_pos;
  round.proposal.drafted = drafted;
  round.n_verdict = round.n_accepted = n_accepted;
  round.emitted = emitted;
  observer.round(round);
}

/// One run: phases other, prefill, draft, verify, accept, trim in ns; the first token falls at the
/// end of the prefill.
harness::Sample sample_of(int arm, int case_index, int block, std::vector<std::int64_t> phases,
                          std::int64_t n_tokens) {
  harness::Sample sample;
  sample.arm = arm;
  sample.case_index = case_index;
  sample.block = block;
  for (const std::int64_t ns : phases) sample.wall_ns += ns;
  sample.first_token_ns = phases[0] + phases[1];
  sample.decode_ns = sample.wall_ns - *sample.first_token_ns;
  sample.phase_ns = std::move(phases);
  sample.n_tokens = n_tokens;
  sample.fingerprint = 42;
  return sample;
}

/// Two prompts, 11 tokens each. Autoregressive: 10 steps of 1000 ns. Speculative: 5 rounds, each
/// with 2 draft steps of 250 ns (c = .25), 1100 ns for the rest (v = 1.1), one of two drafts
/// accepted: 2 tokens for 1600 ns. Hence a speed-up of 1.25 = 2 / (2 x .25 + 1.1), and a = .5.
LatencyInput typed_input() {
  LatencyInput input;
  input.series.arm_names = {"autoregressive", "speculative", "speculative-twin"};
  input.series.phase_names = phase_names();
  input.series.blocks_done = kWholeBlocks;
  input.n_sequences = {1, 1};
  for (int block = 0; block < kWholeBlocks; ++block) {
    for (int c = 0; c < kCases; ++c) {
      input.series.samples.push_back(
          sample_of(kAutoregressive, c, block, {0, 500, 0, 9000, 500, 500}, 11));
      for (const int arm : {kSpeculative, kTwin})
        input.series.samples.push_back(
            sample_of(arm, c, block, {0, 500, 2500, 5000, 300, 200}, 11));
    }
  }
  input.series.samples.push_back(
      sample_of(kSpeculative, 0, kWholeBlocks, {0, 1, 1, 1, 1, 1}, 11));  // of a cut-off block
  StepCounter plain, drafted;
  for (int c = 0; c < kCases; ++c) {
    for (engine::Observer* observer :
         {static_cast<engine::Observer*>(&plain), static_cast<engine::Observer*>(&drafted),
          static_cast<engine::Observer*>(&input.tally)})
      observer->prefill({0, 0, 4, 7, nullptr, engine::StopReason::kNone});
    for (int i = 0; i < 2 * kRounds; ++i) {
      plain.phase(engine::Phase::kVerify);
      feed_round(plain, 0, 0);
    }
    for (int i = 0; i < kRounds; ++i) {
      drafted.phase(engine::Phase::kVerify);
      feed_round(drafted, 2, 1);
      feed_round(input.tally, 2, 1);
    }
  }
  input.autoregressive = plain.counts;
  input.speculative = drafted.counts;
  input.shape = {3, true, true};
  input.draft_tokens = 2;
  input.n_layers = 12;
  input.sizes = {0, 100, 300, 0, 1500};
  input.read_bandwidth = 3e9;
  input.l3_bytes = 1000;
  return input;
}

double metric(const results::Record& record, const std::string& name) {
  const results::Metric* found = results::find_metric(record, name);
  return found != nullptr && found->value ? *found->value : std::nan("");
}

TEST(LatencyReport, GivesTheSpeedUpAndCostsThatWereTypedIn) {
  results::Record record;
  report_latency(typed_input(), record);
  EXPECT_NEAR(metric(record, "speedup"), 1.25, 1e-12);
  EXPECT_NEAR(metric(record, "aa_ratio"), 1.0, 1e-12);
  EXPECT_NEAR(metric(record, "end_to_end_speedup"), 10500.0 / 8500.0, 1e-12);
  EXPECT_NEAR(metric(record, "draft_cost"), 0.25, 1e-12);
  EXPECT_NEAR(metric(record, "verify_cost"), 1.1, 1e-12);
  EXPECT_NEAR(metric(record, "predicted_speedup"), 1.25, 1e-12);
  EXPECT_NEAR(metric(record, "model_gap"), 1.0, 1e-12);
  EXPECT_NEAR(metric(record, "acceptance_probability"), 0.5, 1e-12);
  EXPECT_NEAR(metric(record, "tokens_per_s.autoregressive"), 1e6, 1e-3);
  EXPECT_NEAR(metric(record, "tokens_per_s.speculative"), 1.25e6, 1e-3);
  EXPECT_NEAR(metric(record, "e2e_tokens_per_s.speculative"), 11.0 / 8500e-9, 1e-3);
  EXPECT_NEAR(metric(record, "ttft_ms.speculative"), 500e-6, 1e-12);
  EXPECT_NEAR(metric(record, "tpot_ms.speculative"), 800e-6, 1e-12);
  EXPECT_NEAR(metric(record, "draft_ms"), 500e-6, 1e-12);
  EXPECT_NEAR(metric(record, "verify_ms"), 1000e-6, 1e-12);
  EXPECT_NEAR(metric(record, "accept_ms"), 60e-6, 1e-12);
  EXPECT_NEAR(metric(record, "other_ms"), 40e-6, 1e-12);
  EXPECT_NE(record.verdict.find("1.250 x autoregressive"), std::string::npos) << record.verdict;
}

TEST(LatencyReport, SlowerVerificationShowsAsAGapOnlyWhereItIsOutsideThePhases) {
  LatencyInput input = typed_input();
  for (harness::Sample& sample : input.series.samples) {
    if (sample.arm != kSpeculative) continue;
    sample.wall_ns += 2000;  // time in no phase of decoding: 10,000 instead of 8,000
    *sample.decode_ns += 2000;
    sample.phase_ns[kPhasePrefill] += 2000;
  }
  results::Record record;
  report_latency(input, record);
  EXPECT_NEAR(metric(record, "speedup"), 1.0, 1e-12);
  EXPECT_NEAR(metric(record, "predicted_speedup"), 1.25, 1e-12);
  EXPECT_NEAR(metric(record, "model_gap"), 0.8, 1e-12);
  EXPECT_NEAR(metric(record, "other_ms"), 440e-6, 1e-12);
  EXPECT_NEAR(metric(record, "aa_ratio"), 1.25, 1e-12);
  bool says_restless = false;
  for (const std::string& note : record.notes)
    says_restless |= note.find("does not cover 1") != std::string::npos;
  EXPECT_TRUE(says_restless);
}

TEST(LatencyReport, CountsBytesOfWeightsOnceAStep) {
  const LatencyInput input = typed_input();
  results::Record record;
  report_latency(input, record);
  // 20 steps of 1500 bytes for 20 tokens; 10 rounds of 1500 + 2 (3 x 100 + 300).
  EXPECT_NEAR(metric(record, "bytes_per_token.autoregressive"), 1500, 1e-9);
  EXPECT_NEAR(metric(record, "bytes_per_token.speculative"), 10 * (1500 + 1200) / 20.0, 1e-9);
  EXPECT_NEAR(metric(record, "bandwidth_share"), 1500 * 1e6 / 3e9, 1e-9);
  EXPECT_EQ(results::find_metric(record, "bandwidth_share")->note, "autoregressive, steady");
  ModelSizes with_cache = input.sizes;
  with_cache.kv_entry_bytes = 2;
  // Each round of two drafts at first_pos 1: entries 1 + 2 in the draft's 3 layers, 3 in all 12.
  EXPECT_NEAR(bytes_read(input.speculative, input.shape, 12, with_cache) -
                  bytes_read(input.speculative, input.shape, 12, input.sizes),
              10 * 2 * (3 * 3 + 3 * 12), 1e-9);
}

TEST(LatencyReport, BytesPerTokenAreOfTheArmsOwnTokens) {
  LatencyInput input = typed_input();
  input.tally = Tally();  // says nothing of the autoregressive arm
  for (harness::Sample& sample : input.series.samples)
    if (sample.arm == kSpeculative) sample.n_tokens = 1;
  results::Record record;
  report_latency(input, record);
  EXPECT_NEAR(metric(record, "bytes_per_token.autoregressive"), 1500, 1e-9);
  EXPECT_NEAR(metric(record, "bandwidth_share"), 1500 * 1e6 / 3e9, 1e-9);
  const results::Metric* none = results::find_metric(record, "bytes_per_token.speculative");
  ASSERT_NE(none, nullptr);
  EXPECT_FALSE(none->value);
  EXPECT_EQ(none->note, "no token behind the first");
}

TEST(LatencyReport, NamesTheFormulaThatMeasurementFollows) {
  FormulaInput input{0.5, 2, 0.25, 0.2, true, 1.25};
  const auto table = cost_model_table(input);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_NEAR(std::get<double>(table.rows[0][1]), 1.75 / 1.5, 1e-12);
  EXPECT_NEAR(std::get<double>(table.rows[1][1]), 1.75 / 1.25, 1e-12);
  EXPECT_NEAR(std::get<double>(table.rows[2][1]), 1.5 / 1.3, 1e-12);
  EXPECT_NEAR(std::get<double>(table.rows[0][2]), 1.25 * 1.5 / 1.75, 1e-12);
  EXPECT_TRUE(std::get<bool>(table.rows[0][3]));
  input.measured = 1.39;
  EXPECT_TRUE(std::get<bool>(cost_model_table(input).rows[1][3]));
  input.is_reused = false;
  EXPECT_EQ(cost_model_table(input).rows.size(), 1U);
}

TEST(LatencyReport, TheArticlesTableIsItsOwnFormula) {
  const auto table = article_table();
  ASSERT_EQ(table.rows.size(), 5U);
  ASSERT_EQ(table.columns.size(), 9U);
  EXPECT_NEAR(std::get<double>(table.rows[0][1]), 1.5, 1e-12);            // a = .5, g = 1: 1.5 / 1
  EXPECT_NEAR(std::get<double>(table.rows[3][4]), 3.3616 / 1.75, 1e-12);  // a = .8, g = 4
}

TEST(LatencyReport, WithoutDraftsNothingIsDividedByZero) {
  LatencyInput input = typed_input();
  input.tally = Tally();
  input.tally.prefill({0, 0, 4, 7, nullptr, engine::StopReason::kNone});
  for (int i = 0; i < 2 * kRounds; ++i) feed_round(input.tally, 0, 0);
  input.speculative = input.autoregressive;
  input.shape = {};
  input.draft_tokens = 0;
  results::Record record;
  report_latency(input, record);
  for (const char* name :
       {"draft_cost", "acceptance_probability", "best_draft_tokens", "draft_acceptance_rate"}) {
    ASSERT_NE(results::find_metric(record, name), nullptr) << name;
    EXPECT_FALSE(results::find_metric(record, name)->value) << name;
    EXPECT_FALSE(results::find_metric(record, name)->note.empty()) << name;
  }
  EXPECT_EQ(metric(record, "acceptance_length"), 1.0);
  for (const results::Metric& m : record.metrics)
    EXPECT_TRUE(!m.value || std::isfinite(*m.value)) << m.name;
  EXPECT_EQ(results::find_table(record, "cost_model"), nullptr);
}

TEST(LatencyReport, APromptThatEndsWithItsFirstTokenIsLeftOut) {
  LatencyInput input = typed_input();
  for (harness::Sample& sample : input.series.samples)
    if (sample.case_index == 1 && sample.arm == kSpeculative) sample.n_tokens = 1;
  results::Record record;
  report_latency(input, record);
  EXPECT_NEAR(metric(record, "speedup"), 1.25, 1e-12);
}

TEST(LatencyReport, TheArticleTakesTheMedianEndToEnd) {
  LatencyInput input = typed_input();
  input.is_article = true;
  for (harness::Sample& sample : input.series.samples)
    if (sample.block == 2)
      sample.wall_ns *= sample.arm == kSpeculative ? 50 : 1;  // one slow block does not move it
  results::Record record;
  report_latency(input, record);
  EXPECT_NEAR(metric(record, "speedup"), 10500.0 / 8500.0, 1e-9);
  EXPECT_NEAR(metric(record, "decode_speedup"), 1.25, 1e-12);
  EXPECT_NEAR(metric(record, "article_tokens_per_s.speculative"), 11.0 / 8500e-9, 1e-3);
  EXPECT_NE(record.verdict.find("article"), std::string::npos);
}

TEST(LatencySteps, AStepServesAllLanesAndItsLongestDraftCounts) {
  StepCounter counter;
  for (const int drafts : {1, 3}) {
    counter.phase(engine::Phase::kDraft);
    counter.phase(engine::Phase::kVerify);
    feed_round(counter, 2, 1, 10, 0);
    feed_round(counter, drafts, 1, 20, 1);
  }
  EXPECT_EQ(counter.counts.n_steps, 2);
  EXPECT_EQ(counter.counts.n_draft_steps, 2 + 3);
  EXPECT_EQ(counter.counts.n_rounds(), 4);
  EXPECT_EQ(counter.counts.n_draft_entries, 2 * (10 + 11) + 20 + (20 + 21 + 22));
  EXPECT_EQ(counter.counts.n_verify_entries, 2 * 12 + 21 + 23);
}

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

/// The embedded model, all of its ten prompts in one batch, few tokens.
struct Live {
  std::atomic<bool> stop{false};
  Progress progress{true};
  Options options;
  results::Record record;

  Live() {
    options.suite = "latency";
    options.model = SPECBENCH_SOURCE_DIR "/engine/models/austen-10m";
    options.prompts = SPECBENCH_SOURCE_DIR "/suites/prompts/austen.jsonl";
    options.batch = 10;
    options.max_tokens = 6;
    options.threads = 1;
  }
  void run() {
    const Context context = open_context(options, stop, progress);
    record = start_record(context);
    run_latency(context, record);
  }
};

TEST(LatencyLive, RunsEverythingOnTheEmbeddedModel) {
  Live live;
  live.options.verifier = "coupled";
  live.run();
  EXPECT_EQ(live.record.exit_code, 0) << live.record.verdict;
  EXPECT_FALSE(has_failure(live.record.checks));
  EXPECT_GT(metric(live.record, "speedup"), 0.05);
  EXPECT_GT(metric(live.record, "acceptance_length"), 1.2);
  EXPECT_NEAR(metric(live.record, "model_gap"), 1.0, 0.5);
  EXPECT_EQ(live.record.samples.front().phase_ns.size(), live.record.phase_names.size());
  std::int64_t phases = 0;
  for (const std::int64_t ns : live.record.samples.front().phase_ns) phases += ns;
  EXPECT_EQ(phases, live.record.samples.front().wall_ns);
  bool has_equal_tokens = false;
  for (const results::Check& check : live.record.checks)
    has_equal_tokens |= check.id == "equal.tokens" && check.status == CheckStatus::kPassed;
  EXPECT_TRUE(has_equal_tokens);
}

TEST(LatencyLive, OneSequenceAtATimeRecordsDeliveriesAndEveryOption) {
  Live live;
  live.options.batch = 1;
  live.options.max_tokens = 3;
  live.options.protocol = "article";
  live.run();
  EXPECT_EQ(live.record.exit_code, 0) << live.record.verdict;
  int n_identities = 0;
  for (const results::Check& check : live.record.checks)
    n_identities += check.id.rfind("identity.itl.", 0) == 0 && check.status == CheckStatus::kPassed;
  EXPECT_EQ(n_identities, 3);
  EXPECT_GT(metric(live.record, "itl_ms.speculative"), 0.0);
  const auto option = [&](const std::string& name) {
    for (const auto& [key, value] : live.record.options)
      if (key == name) return value;
    return results::Value();
  };
  EXPECT_EQ(option("batch"), results::Value(std::int64_t{1}));
  EXPECT_EQ(option("max_tokens"), results::Value(std::int64_t{3}));
  EXPECT_EQ(option("protocol"), results::Value(std::string("article")));
  EXPECT_EQ(option("prompts"), results::Value(live.options.prompts));
  EXPECT_EQ(option("n_prompts"), results::Value(std::int64_t{10}));
  EXPECT_EQ(option("stop_at_eos"), results::Value(false));
  EXPECT_EQ(option("blocks"), results::Value(std::int64_t{5}));
  EXPECT_EQ(option("min_warmups"), results::Value(std::int64_t{3}));
  EXPECT_EQ(option("max_warmups"), results::Value(std::int64_t{3}));
}

TEST(LatencyLive, StoppedBeforeTheFirstBlockIsVoid) {
  Live live;
  live.stop = true;
  live.run();
  EXPECT_EQ(live.record.exit_code, kVoid);
  EXPECT_EQ(live.record.verdict.rfind("VOID", 0), 0U) << live.record.verdict;
}

TEST(LatencyLive, OneTokenIsNothingToTime) {
  Live live;
  live.options.max_tokens = 1;
  EXPECT_THROW(live.run(), engine::InputError);
}

}  // namespace
}  // namespace specbench::suites
