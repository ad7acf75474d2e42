// The model suite on the embedded model: its figures, its tables, and what it refuses.
#include "suites/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/error.h"
#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

Options passage_options() {
  Options options = testing::embedded_options("model");
  options.prompts = std::string(SPECBENCH_SOURCE_DIR) + "/suites/prompts/passages.jsonl";
  options.max_tokens = 200;
  return options;
}

double metric(const results::Record& record, const char* name) {
  const results::Metric* found = results::find_metric(record, name);
  return found != nullptr && found->value ? *found->value : std::nan("");
}

results::Record run(const Options& options) {
  testing::Bench bench(options);
  results::Record record;
  run_model(bench.context, record);
  return record;
}

TEST(ModelSuite, ScoresHeldOutTextAsTrainingDid) {
  const results::Record record = run(passage_options());
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
  // Training measured 3.879 nats a token over the held-out documents; two texts spread.
  EXPECT_NEAR(metric(record, "nats_per_token"), 3.88, 0.5);
  EXPECT_NEAR(metric(record, "perplexity"), std::exp(metric(record, "nats_per_token")), 1e-6);
  EXPECT_TRUE(std::isnan(metric(record, "bits_per_byte")));  // the texts were cut
  EXPECT_LT(metric(record, "backend_difference"), 1e-3);
  const results::NamedTable* texts = results::find_table(record, "texts");
  ASSERT_NE(texts, nullptr);
  ASSERT_EQ(texts->rows.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(texts->rows[0][2]), 199);
  EXPECT_EQ(results::find_table(record, "tokens"), nullptr);  // nobody keeps it
}

TEST(ModelSuite, KeepsEveryTokenForPrograms) {
  Options options = passage_options();
  options.format = "json";
  options.max_prompts = 1;
  options.max_tokens = 20;
  const results::Record record = run(options);
  const results::NamedTable* tokens = results::find_table(record, "tokens");
  ASSERT_NE(tokens, nullptr);
  ASSERT_EQ(tokens->rows.size(), 20U);
  double nats = 0;
  for (const auto& row : tokens->rows) {
    ASSERT_EQ(row.size(), 14U);
    if (const double* const log_prob = std::get_if<double>(&row[3])) nats -= *log_prob;
  }
  EXPECT_NEAR(nats / 19, metric(record, "nats_per_token"), 1e-9);
  EXPECT_EQ(std::get<std::int64_t>(tokens->rows[0][2]), 4094);  // BOS
  EXPECT_TRUE(std::holds_alternative<std::monostate>(tokens->rows[0][3]));
  EXPECT_GE(std::get<double>(tokens->rows[1][5]), std::get<double>(tokens->rows[1][7]));
}

// Nats over ln 2 and the bytes that have a probability: without BOS the first token has none.
TEST(ModelSuite, BitsPerByteCountsTheBytesThatWereScored) {
  Options options = testing::embedded_options("model");
  options.max_prompts = 3;
  for (const bool has_bos : {true, false}) {
    testing::Bench bench(options);
    if (!has_bos) {
      bench.context.shared_model->config.bos.reset();
      for (Prompt& prompt : bench.context.prompts) prompt.ids.erase(prompt.ids.begin());
    }
    results::Record record;
    run_model(bench.context, record);
    double n_tokens = 0, n_bytes = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Prompt& prompt = bench.context.prompts[i];
      n_tokens += static_cast<double>(prompt.ids.size()) - 1;
      n_bytes += static_cast<double>(prompt.text.size());
      if (!has_bos)
        n_bytes -= static_cast<double>(
            bench.context.model.tokenizer.decode(std::span(prompt.ids).first(1)).size());
    }
    EXPECT_NEAR(metric(record, "bits_per_byte"),
                metric(record, "nats_per_token") * n_tokens / std::log(2.0) / n_bytes, 1e-9);
  }
}

TEST(ModelSuite, AnotherTypeChangesLittle) {
  Options options = passage_options();
  options.max_prompts = 1;
  options.max_tokens = 64;
  const double stored = metric(run(options), "nats_per_token");
  options.dtype = "q8_0";
  options.kv_dtype = "f16";
  const results::Record record = run(options);
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
  EXPECT_NEAR(metric(record, "nats_per_token"), stored, 0.05);
  EXPECT_NE(metric(record, "nats_per_token"), stored);
}

TEST(ModelSuite, RefusesTextsWithoutTwoTokens) {
  Options options = passage_options();
  options.max_tokens = 1;
  EXPECT_THROW(run(options), engine::InputError);
}

TEST(ModelSuite, AnInterruptedRunIsVoid) {
  testing::Bench bench(passage_options());
  bench.stop = true;
  results::Record record;
  run_model(bench.context, record);
  EXPECT_EQ(record.exit_code, kVoid);
  EXPECT_EQ(results::find_metric(record, "backend_difference"), nullptr);
}

}  // namespace
}  // namespace specbench::suites
