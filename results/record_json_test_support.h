// Records and texts that several tests of results/ take apart. Only for *_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "results/record.h"

namespace specbench::results {

// A record that uses every field; its JSON is results/testdata/record.json.
inline Record full_record() {
  Record r;
  r.suite = "latency";
  r.verdict = "1.83 times as fast, losslessness not tested";
  r.exit_code = 2;
  r.was_interrupted = true;
  r.command_line = "specbench --suite latency --out \"a b.json\"";
  r.started_utc = "2026-01-31T12:00:00Z";
  r.wall_s = 12.5;
  r.options = {{"draft_layers", 4},
               {"temperature", 0.7},
               {"stop", std::monostate{}},
               {"is_greedy", false},
               {"model", "austen-10m"}};
  r.environment = {{"cpu_model", "Planted CPU"}, {"load_average", 0.25}};
  r.build = {{"commit", "0123abc"}, {"is_dirty", false}};
  r.model = {{"n_layers", 12}};
  r.metrics = {{"speedup", 1.83, "ratio", 1.72, 1.94, 0.95, "within-process"},
               {"bandwidth_share", {}, "1", {}, {}, {}, "no ceiling was measured"}};
  r.checks = {{"rounds_identity", CheckStatus::kPassed, "all 40 rounds agree"},
              {"aa_interval", CheckStatus::kInconclusive, "11 % wide"}};
  r.tests = {{"chi2",
              "emitted tokens follow the target's law",
              "X2",
              100000,
              31.5,
              0.54,
              0.011,
              "tv",
              0.001,
              0.02,
              0.01,
              "passed",
              "",
              {}},
             {"coupled",
              "replay is identical",
              "",
              0,
              {},
              {},
              {},
              "",
              {},
              {},
              {},
              "skipped",
              "greedy run",
              459}};
  r.counters = {{"accepted", 12345678901234}, {"rounds", 40}};
  r.tables = {{"acceptance_by_position",
               {"position", "joint", "note"},
               {{1, 0.9, "first"}, {2, std::monostate{}, ""}}},
              {"empty", {"x"}, {}}};
  r.phase_names = {"prefill", "decode"};
  SampleRow s;
  s.arm = "speculative";
  s.process = 1;
  s.case_index = 2;
  s.block = 3;
  s.order = 4;
  s.wall_ns = 1000;
  s.first_token_ns = 100;
  s.decode_ns = 900;
  s.phase_ns = {100, 900};
  s.chunk_end_ns = {100, 1000};
  s.chunk_tokens = {1, 4};
  s.n_tokens = 5;
  s.fingerprint = 0xfedcba9876543210;
  SampleRow bare;
  bare.arm = "baseline";
  bare.is_warmup = true;
  bare.phase_ns = {0, 0};
  bare.mark = "load above cores";
  r.samples = {s, bare};
  r.notes = {"a \"quoted\" remark, g\xc3\xa4nzlich"};
  return r;
}

// `path` from the root of the repository.
inline std::string text_of_file(const std::string& path) {
  std::ifstream file(std::string(SPECBENCH_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string committed_text() { return text_of_file("results/testdata/record.json"); }

// The first `from` replaced; it must be there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace specbench::results
