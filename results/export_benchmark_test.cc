#include "results/export_benchmark.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results/export_test_support.h"
#include "results/record_json_test_support.h"

namespace specbench::results {
namespace {

using Json = nlohmann::ordered_json;

// Two arms, two processes, `n_blocks` blocks of two prompts; a run emits 11 tokens in `ns` + 1000
// of which the first takes 1000.
Record timed_record(int n_blocks, std::int64_t ns) {
  Record r;
  r.suite = "latency";
  r.options = {{"threads", 2}};
  r.environment = {{"n_cores_usable", "2"},
                   {"frequency_mhz", "2596.7"},
                   {"l2_bytes", "1048576"},
                   {"load_average", "0.25"},
                   {"governor", std::monostate{}}};
  for (const char* arm : {"speculative", "autoregressive"}) {
    for (int process = 0; process < 2; ++process) {
      for (int block = 0; block < n_blocks; ++block) {
        for (int prompt = 0; prompt < 2; ++prompt) {
          SampleRow s;
          s.arm = arm;
          s.process = process;
          s.block = block;
          s.case_index = prompt;
          s.decode_ns = ns + block + (*arm == 'a' ? ns : 0);
          s.first_token_ns = 1000;
          s.wall_ns = *s.decode_ns + 1000;
          s.chunk_end_ns = {1000, s.wall_ns};
          s.chunk_tokens = {1, 10};
          s.n_tokens = 11;
          r.samples.push_back(s);
        }
      }
    }
  }
  return r;
}

Json rows_named(const Json& json, const std::string& name) {
  Json rows = Json::array();
  for (const Json& row : json["benchmarks"]) {
    if (row["name"] == name) rows.push_back(row);
  }
  return rows;
}

TEST(ExportBenchmark, TimesAreNsATokenOfABlock) {
  const Json json = Json::parse(to_google_benchmark(timed_record(3, 10'000)));
  const Json decode = rows_named(json, "latency/speculative/decode");
  ASSERT_EQ(decode.size(), 6u);  // two processes of three blocks
  EXPECT_DOUBLE_EQ(decode[0]["real_time"].get<double>(), 1000.0);
  EXPECT_DOUBLE_EQ(decode[2]["real_time"].get<double>(), 1000.2);
  EXPECT_EQ(decode[2]["real_time"], decode[2]["cpu_time"]);
  EXPECT_EQ(decode[2]["iterations"], 20);
  EXPECT_EQ(decode[5]["repetition_index"], 5);
  EXPECT_EQ(decode[5]["repetitions"], 6);
  EXPECT_EQ(decode[5]["threads"], 2);
  const Json whole = rows_named(json, "latency/speculative/end_to_end");
  EXPECT_DOUBLE_EQ(whole[0]["real_time"].get<double>(), 1000.0);
  EXPECT_EQ(whole[0]["iterations"], 22);
  const Json median = rows_named(json, "latency/autoregressive/decode_median");
  ASSERT_EQ(median.size(), 1u);
  EXPECT_DOUBLE_EQ(median[0]["real_time"].get<double>(), 2000.1);
  EXPECT_EQ(json["benchmarks"][0]["name"], "latency/autoregressive/decode");  // arms by name
  EXPECT_EQ(json["context"]["num_cpus"], 2);
  EXPECT_EQ(json["context"]["mhz_per_cpu"], 2597);
  EXPECT_EQ(json["context"]["load_avg"][0], 0.25);
}

TEST(ExportBenchmark, WhatIsNoMeasurementIsLeftOut) {
  Record r = timed_record(3, 10'000);
  const std::size_t n_rows = Json::parse(to_google_benchmark(r))["benchmarks"].size();
  SampleRow extra = r.samples[0];
  extra.is_warmup = true;
  extra.block = 9;
  r.samples.push_back(extra);
  extra.is_warmup = false;  // a block cut after its first prompt
  r.samples.push_back(extra);
  extra.arm = "yardstick";
  extra.n_tokens = 0;
  r.samples.push_back(extra);
  EXPECT_EQ(Json::parse(to_google_benchmark(r))["benchmarks"].size(), n_rows);
  EXPECT_EQ(rows_named(Json::parse(to_google_benchmark(r)), "latency/speculative/decode").size(),
            6u);
}

// Of a batch the tokens that came before decoding began are several.
TEST(ExportBenchmark, ABatchHasSeveralFirstTokens) {
  Record r = timed_record(1, 10'000);
  for (SampleRow& s : r.samples) {
    s.chunk_end_ns = {500, 1000, s.wall_ns};
    s.chunk_tokens = {1, 1, 20};
    s.n_tokens = 22;
  }
  const Json rows = rows_named(Json::parse(to_google_benchmark(r)), "latency/speculative/decode");
  EXPECT_EQ(rows[0]["iterations"], 40);
  EXPECT_DOUBLE_EQ(rows[0]["real_time"].get<double>(), 500.0);
}

TEST(ExportBenchmark, WithoutTimesThereIsNothingToExport) {
  EXPECT_THROW(to_google_benchmark(Record{}), std::invalid_argument);
  Record r = timed_record(1, 10'000);
  for (SampleRow& s : r.samples) s.is_warmup = true;
  EXPECT_THROW(to_google_benchmark(r), std::invalid_argument);
}

TEST(ExportBenchmark, AnyBytesGiveJson) {
  Record r = timed_record(1, 10'000);
  r.suite = "\xff\x01\"";
  r.verdict = "\xc3";
  EXPECT_EQ(Json::parse(to_google_benchmark(r))["benchmarks"][0]["run_type"], "iteration");
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

bool is_same_kind(const Json& a, const Json& b) {
  return a.type() == b.type() || (a.is_number() && b.is_number());
}

// results/testdata/google_benchmark_1.7.json is what benchmark::JSONReporter of version 1.7.1 wrote
// of one repetition and one median.
TEST(ExportBenchmark, FieldsAreThoseOfGoogleBenchmark) {
  const Json theirs = Json::parse(text_of_file("results/testdata/google_benchmark_1.7.json"));
  const Json ours = Json::parse(to_google_benchmark(timed_record(1, 10'000)));
  EXPECT_EQ(keys_of(ours), keys_of(theirs));
  for (const auto& [key, value] : theirs["context"].items()) {
    ASSERT_TRUE(ours["context"].contains(key)) << key;
    EXPECT_TRUE(is_same_kind(ours["context"][key], value)) << key;
  }
  const Json& repetition = ours["benchmarks"][0];
  const Json& median = ours["benchmarks"][2];
  EXPECT_EQ(keys_of(ours["context"]["caches"][0]), keys_of(theirs["context"]["caches"][0]));
  EXPECT_EQ(keys_of(repetition), keys_of(theirs["benchmarks"][0]));
  EXPECT_EQ(keys_of(median), keys_of(theirs["benchmarks"][1]));
  for (const auto& [key, value] : theirs["benchmarks"][1].items())
    EXPECT_TRUE(is_same_kind(median[key], value)) << key;
  for (const char* key : {"aggregate_name", "aggregate_unit", "run_type", "time_unit"})
    EXPECT_EQ(median[key], theirs["benchmarks"][1][key]) << key;
}

TEST(ExportBenchmark, CompareReadsTwoOfThem) {
  const std::string compare = "/usr/share/benchmark/compare.py";
  if (!std::filesystem::exists(compare)) GTEST_SKIP() << compare << " is not installed";
  const std::string python = python_with("scipy");
  if (python.empty()) GTEST_SKIP() << "no python3 with scipy";
  const ScratchFile a("a.json", to_google_benchmark(timed_record(10, 10'000)));
  const ScratchFile b("b.json", to_google_benchmark(timed_record(10, 10'500)));
  const CommandResult result =
      run_command(python + " " + compare + " --no-color benchmarks " + a.path() + " " + b.path());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  for (const char* family : {"autoregressive", "speculative"}) {
    // 5 % more time, seen by the median and, with 20 repetitions, by the U test.
    const std::string name = std::string("latency/") + family + "/decode";
    const std::size_t at = result.output.find(name + "_median ");
    ASSERT_NE(at, std::string::npos) << result.output;
    EXPECT_NE(result.output.substr(at, 120).find("+0.0500"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find(name + "_pvalue "), std::string::npos) << result.output;
  }
  EXPECT_NE(result.output.find("U Test, Repetitions: 20 vs 20"), std::string::npos);
  const ScratchFile cut("cut.json", to_google_benchmark(timed_record(10, 10'000)).substr(0, 999));
  EXPECT_NE(
      run_command(python + " " + compare + " benchmarks " + a.path() + " " + cut.path()).exit_code,
      0);
}

}  // namespace
}  // namespace specbench::results
