// The latency suite on typed-in numbers whose answers are known, and short runs on the embedded
// model.
#include "suites/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/error.h"
#include "stats/speculative.h"
#include "suites/latency_checks.h"
#include "suites/latency_model.h"
#include "suites/latency_report.h"
#include "suites/latency_test_support.h"

namespace specbench::suites {
namespace {

using results::CheckStatus;

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
  void run(std::size_t n_prompts = 100) {
    Context context = open_context(options, stop, progress);
    context.prompts.resize(std::min(n_prompts, context.prompts.size()));
    record = start_record(context);
    run_latency(context, record);
  }
};

/// Passed; or void because the machine was busy with other tests, every figure there all the same.
void expect_measured(const results::Record& record) {
  const bool is_restless = record.exit_code == kVoid &&
                           record.verdict.find("was not left to this run") != std::string::npos &&
                           record.verdict.find("speculative is ") != std::string::npos;
  EXPECT_TRUE(record.exit_code == kPassed || is_restless) << record.verdict;
}

TEST(LatencyLive, RunsEverythingOnTheEmbeddedModel) {
  Live live;
  live.options.verifier = "coupled";
  live.run();
  expect_measured(live.record);
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
  expect_measured(live.record);
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

// Twice in the sample, it would count as two in every interval.
TEST(LatencyLive, APromptIsTimedOnceThoughMoreWereAskedFor) {
  Live live;
  live.options.batch = 1;
  live.options.max_tokens = 3;
  live.options.max_prompts = 7;
  live.options.protocol = "article";
  live.run(2);
  expect_measured(live.record);
  int last_case = 0;
  for (const results::SampleRow& sample : live.record.samples)
    last_case = std::max(last_case, sample.case_index);
  EXPECT_EQ(last_case, 1);
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
