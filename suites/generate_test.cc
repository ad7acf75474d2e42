// generate and info on the embedded model.
#include "suites/generate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/error.h"
#include "engine/model/utf8.h"
#include "results/record_json.h"
#include "suites/info.h"

namespace specbench::suites {
namespace {

results::Record run_command(Options options, const std::atomic<bool>& stop) {
  options.model = SPECBENCH_SOURCE_DIR "/engine/models/austen-10m";
  options.threads = 1;
  Progress progress(true);
  const Context context = open_context(options, stop, progress);
  results::Record record = start_record(context);
  options.command == Command::kInfo ? run_info(context, record) : run_generate(context, record);
  return record;
}

Options generate_options(const std::string& prompt) {
  Options options;
  options.command = Command::kGenerate;
  options.prompt = prompt;
  options.max_tokens = 48;
  options.sampling.temperature = 0;
  return options;
}

std::string cell(const results::Record& record, const char* column) {
  const results::NamedTable* table = results::find_table(record, "generated");
  const auto at =
      std::find(table->columns.begin(), table->columns.end(), column) - table->columns.begin();
  return std::get<std::string>(table->rows.at(0).at(static_cast<std::size_t>(at)));
}

const std::atomic<bool> kGoOn{false};

// The ids of engine/models/austen-10m/README.md, from an independent float64 implementation.
TEST(Generate, GreedyIdsAreTheModelsOwnWhateverIsDrafted) {
  for (const char* drafter : {"layer-skip", "null", "uniform"}) {
    Options options = generate_options("It was a truth that Mr. Bennet");
    options.drafter = drafter;
    const results::Record record = run_command(options, kGoOn);
    EXPECT_EQ(record.exit_code, 0) << record.verdict;
    EXPECT_EQ(cell(record, "prompt_ids"), "4094 1029 304 258 1896 333 360 46 1208");
    EXPECT_EQ(cell(record, "ids"),
              "538 285 291 887 341 369 44 282 333 280 538 313 357 402 1274 272 459 369 584 46 10 "
              "34 73 445 "
              "734 471 478 280 44 410 73 445 388 1337 318 455 285 355 388 914 46 301 445 734 318 "
              "455 285 388");
    EXPECT_EQ(cell(record, "stop"), "max_tokens");
    EXPECT_EQ(generated_text(record),
              "It was a truth that Mr. Bennet" + cell(record, "text") + "\n");
  }
}

TEST(Generate, StopsAtEosAndShowsTheTextWithoutIt) {
  Options options = generate_options("They met Mr. Martin the very next day");
  options.sampling.temperature = 1;
  options.max_tokens = 900;
  options.seed = 8;
  const results::Record record = run_command(options, kGoOn);
  ASSERT_EQ(cell(record, "stop"), "eos");
  const std::string ids = cell(record, "ids");
  EXPECT_EQ(ids.substr(ids.rfind(' ') + 1), "4095");
  EXPECT_EQ(cell(record, "text").find("<|end_of_text|>"), std::string::npos);
}

// Greedily the model goes on with ", and it is not to be done. I am sure I am not in the least."
TEST(Generate, CutsTheTextBeforeAStopStringAndKeepsTheIds) {
  const struct {
    std::vector<std::string> stops;
    const char* text;
    const char* last_id;
  } cases[] = {
      {{"n the l"}, ", and it is not to be done. I am sure I am not i", " 1085"},  // "least"
      {{"not to"}, ", and it is ", " 272"},                                        // " to"
      {{"sure", "is no"}, ", and it ", " 313"},
      {{"and"}, ", ", " 282"},
      {{","}, "", "44"}};
  for (const char* drafter : {"layer-skip", "null"})
    for (const auto& c : cases) {
      Options options = generate_options("It is a truth");
      options.drafter = drafter;
      options.draft_tokens = 5;
      options.stop_texts = c.stops;
      const results::Record record = run_command(options, kGoOn);
      EXPECT_EQ(record.exit_code, 0) << record.verdict;
      EXPECT_EQ(cell(record, "stop"), "stop") << c.stops[0];
      EXPECT_EQ(cell(record, "text"), c.text);
      EXPECT_TRUE(cell(record, "ids").ends_with(c.last_id)) << cell(record, "ids");
    }
}

// The stop string that was ignored is not what the text is cut at.
TEST(Generate, KeepsStopStringsFromBeforeMinTokens) {
  Options options = generate_options("It is a truth");
  options.stop_texts = {" not"};
  options.sampling.min_tokens = 8;
  EXPECT_EQ(cell(run_command(options, kGoOn), "text"),
            ", and it is not to be done. I am sure I am");
  options.sampling.min_tokens = 40;
  options.max_tokens = 40;
  options.stop_texts = {","};
  const results::Record record = run_command(options, kGoOn);
  EXPECT_EQ(cell(record, "stop"), "max_tokens");
  EXPECT_EQ(cell(record, "text").substr(0, 5), ", and");
}

TEST(Generate, ProcessorsActAndAreRecorded) {
  Options options = generate_options("It is a truth");
  options.sampling.banned = {44};  // ","
  options.sampling.logit_bias = {{46, -2.5}, {10, 1}};
  options.sampling.min_tokens = 7;
  options.sampling.repetition_penalty = 1.25;
  options.stop_texts = {"zz", "q z"};
  const results::Record record = run_command(options, kGoOn);
  EXPECT_EQ(cell(record, "text").find(','), std::string::npos);
  const auto option = [&](const std::string& name) -> results::Value {
    for (const auto& [key, value] : record.options)
      if (key == name) return value;
    return {};
  };
  EXPECT_EQ(option("ban"), results::Value(std::string("44")));
  EXPECT_EQ(option("logit_bias"), results::Value(std::string("46=-2.5, 10=1")));
  EXPECT_EQ(option("stop"), results::Value(std::string(R"("zz", "q z")")));
  EXPECT_EQ(option("min_tokens"), results::Value(std::int64_t{7}));
  EXPECT_EQ(option("repetition_penalty"), results::Value(1.25));
  EXPECT_EQ(option("presence_penalty"), results::Value(0.0));
  EXPECT_EQ(option("frequency_penalty"), results::Value(0.0));
  const results::Record plain = run_command(generate_options("It was"), kGoOn);
  for (const auto& [key, value] : plain.options)
    EXPECT_TRUE(key != "ban" && key != "logit_bias" && key != "stop" && key != "vary_seed") << key;
}

TEST(Generate, BytesThatAreNotUtf8NeverReachTheRecord) {
  const results::Record record = run_command(generate_options("caf\xc3"), kGoOn);
  EXPECT_EQ(cell(record, "prompt"), "caf\xef\xbf\xbd");
  const std::string text = generated_text(record);
  EXPECT_EQ(engine::valid_prefix(text), text.size());
  const std::string json = results::to_json(record);
  EXPECT_EQ(engine::valid_prefix(json), json.size());
}

TEST(Generate, WhatDoesNotFitIsRefused) {
  Options options = generate_options("It was");
  options.max_tokens = 2000;
  EXPECT_THROW(run_command(options, kGoOn), engine::InputError);
  options = generate_options("It was");
  options.draft_layers = 13;
  EXPECT_THROW(run_command(options, kGoOn), engine::InputError);
  options = generate_options("It was");
  options.sampling.min_tokens = 49;
  EXPECT_THROW(run_command(options, kGoOn), engine::InputError);
}

TEST(Generate, InterruptedKeepsWhatThereIs) {
  const std::atomic<bool> stop{true};
  const results::Record record = run_command(generate_options("It was"), stop);
  EXPECT_EQ(cell(record, "stop"), "interrupted");
  EXPECT_EQ(record.exit_code, 0) << record.verdict;
}

TEST(Info, CountsTheModelsBytes) {
  Options options;
  options.command = Command::kInfo;
  const results::Record record = run_command(options, kGoOn);
  EXPECT_EQ(record.verdict, "austen-10m: 9.9 M parameters, 12 layers");
  const results::NamedTable* table = results::find_table(record, "model");
  ASSERT_NE(table, nullptr);
  const auto fact = [&](const std::string& name) -> std::int64_t {
    for (const auto& row : table->rows)
      if (std::get<std::string>(row[0]) == name) return std::get<std::int64_t>(row[1]);
    return -1;
  };
  // 12 x (256 x (256 + 2 x 128 + 256) + 3 x 256 x 704 + 2 x 256) + 4096 x 256 + 256
  EXPECT_EQ(fact("parameters"), 9902336);
  EXPECT_GT(fact("file_bytes"), 2 * 9902336);
  EXPECT_LT(fact("file_bytes"), 2 * 9902336 + 100'000);             // its header
  EXPECT_EQ(fact("weight_bytes_run"), 2 * 9902336 + 2 * 25 * 256);  // 25 norms are float32
  EXPECT_EQ(fact("kv_bytes_per_token"), 12 * 2 * 128 * 4);
  ASSERT_NE(results::find_metric(record, "read_bandwidth"), nullptr);
  EXPECT_GT(*results::find_metric(record, "read_bandwidth")->value, 0.1);
}

}  // namespace
}  // namespace specbench::suites
