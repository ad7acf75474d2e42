// Records typed by hand that hold every topic of the report. For tests only.
#pragma once

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "results/record.h"
#include "results/report.h"

namespace specbench::results {

inline Record latency_record() {
  Record r;
  r.suite = "latency";
  r.verdict = "speculative is 1.280 x autoregressive (95 % 1.250..1.310); predicted 1.282";
  r.command_line = "specbench --suite latency --protocol gate --out run.json";
  r.started_utc = "2026-11-30T05:39:11Z";
  r.wall_s = 18.25;
  r.options = {{"drafter", "layer-skip"}, {"draft_layers", std::int64_t{3}}};
  r.environment = {{"cpu_model", "Planted CPU"}, {"governor", std::monostate{}}};
  r.build = {{"commit", "0da81fb7"}, {"is_dirty", true}};
  r.model = {{"name", "austen-10m"}};
  r.metrics = {{"speedup", 1.28, "ratio", 1.25, 1.31, 0.95, "over processes, decode only"},
               {"end_to_end_speedup", 1.245, "ratio", 1.22, 1.27, 0.95, "over processes"},
               {"aa_ratio", 1.001, "ratio", 0.993, 1.008, 0.95, "over processes"},
               {"predicted_speedup", 1.282, "ratio", {}, {}, {}, "E/(gc+v)"},
               {"model_gap", 0.998, "ratio", {}, {}, {}, "measured / predicted"},
               {"acceptance_length", 2.274, "1", {}, {}, {}, "1 + accepted / rounds"},
               {"autoregressive_step_ms", 0.608, "ms", {}, {}, {}, ""},
               {"draft_ms", 0.311, "ms", {}, {}, {}, "mean of a round"},
               {"verify_ms", 0.764, "ms", {}, {}, {}, "mean of a round"},
               {"accept_ms", 0.004, "ms", {}, {}, {}, "mean of a round"},
               {"other_ms", 0.002, "ms", {}, {}, {}, "mean of a round: the rest"},
               {"tokens_per_s.autoregressive", 1644.4, "tokens/s", 1607.0, 1680.0, 0.95, ""},
               {"tokens_per_s.speculative", 2104.3, "tokens/s", 2014.0, 2200.0, 0.95, ""},
               {"bytes_per_token.autoregressive", 40383488.0, "bytes", {}, {}, {}, ""},
               {"bytes_per_token.speculative", 29158634.0, "bytes", {}, {}, {}, ""},
               {"read_bandwidth", 153.06, "GB/s", {}, {}, {}, "at the working set"},
               {"bandwidth_share", 0.434, "1", {}, {}, {}, "autoregressive, steady"}};
  r.counters = {{"rounds", 277}};
  r.tables = {{"acceptance_by_position",
               {"position", "judged", "accepted", "conditional", "joint"},
               {{std::int64_t{1}, std::int64_t{273}, std::int64_t{194}, 0.7106, 0.7004},
                {std::int64_t{2}, std::int64_t{190}, std::int64_t{159}, 0.8368, 0.5740}}}};
  NamedTable processes{"process_values",
                       {"process", "log_speedup", "log_e2e_speedup", "log_aa", "log_injected",
                        "log_cost", "blocks", "marked"},
                       {}};
  for (std::int64_t i = 0; i < 10; ++i) {
    const double wave = 0.01 * std::sin(static_cast<double>(i));
    processes.rows.push_back(
        {i, 0.247 + wave, 0.219 + wave, wave / 3, 0.049 + wave / 2, 1.2, std::int64_t{10}, 0.0});
  }
  r.tables.push_back(processes);
  return r;
}

inline Record sweep_record() {
  Record r;
  r.suite = "sweep";
  r.verdict = "best: 3 layers, 2 tokens";
  r.command_line = "specbench --suite sweep";
  NamedTable sweep{
      "sweep",
      {"layers", "draft_tokens", "speedup", "lower", "upper", "predicted", "acceptance_length"},
      {}};
  for (const std::int64_t k : {2, 3, 4, 6}) {
    for (const std::int64_t g : {1, 2, 3, 4, 6, 8}) {
      const double distance =
          std::abs(static_cast<double>(k - 3)) * 0.12 + std::abs(static_cast<double>(g - 2)) * 0.09;
      const double speedup = 1.35 - distance;
      sweep.rows.push_back({k, g, speedup, speedup - 0.04, speedup + 0.04, speedup + 0.01, 2.2});
    }
  }
  r.tables = {sweep};
  return r;
}

// `tilt` 0 is uniform; .1 leaves the band at this n.
inline Record lossless_record(double tilt = 0.0) {
  Record r;
  r.suite = "lossless";
  r.verdict = "INCONCLUSIVE: one test lacks power";
  r.exit_code = 2;
  r.command_line = "specbench --suite lossless --samples 1e6";
  r.metrics = {{"certified_tv", 0.0021, "1", {}, 0.0021, 0.999, "coupled replay"}};
  r.checks = {{"identity.rounds", CheckStatus::kPassed, "agree"},
              {"identity.emitted", CheckStatus::kFailed, "round 7 emitted 3, the log says 4"},
              {"device", CheckStatus::kSkipped, "no GPU"}};
  r.tests = {{"wide.all.ks",
              "h",
              "D",
              64000,
              0.003,
              0.54,
              0.011,
              "distance",
              0.001,
              0.02,
              0.01,
              "PASS",
              "",
              {}},
             {"wide.bonus.ks", "h", "D", 100, 0.1, 0.3, 0.2, "distance", 0.001, 0.02, 0.01,
              "INCONCLUSIVE", "too few tokens", 459},
             {"wide.rejected.ks",
              "h",
              "D",
              6400,
              0.1,
              1e-9,
              0.02,
              "distance",
              0.001,
              0.02,
              0.01,
              "FAIL",
              "the residual is bent",
              {}}};
  NamedTable pit{"pit", {"order", "class", "bin", "count", "expected"}, {}};
  for (const char* outcome : {"all", "accepted", "rejected", "bonus"}) {
    for (const char* order : {"id", "p", "p/q"}) {
      for (std::int64_t bin = 0; bin < 64; ++bin) {
        const double bent = tilt * (static_cast<double>(bin) - 31.5) / 31.5;
        const double noise =
            0.03 * std::sin(static_cast<double>(bin * 7 + (*order == 'i' ? 1 : 4)));
        pit.rows.push_back({std::string(order), std::string(outcome), bin,
                            std::int64_t{std::llround(1000 * (1 + bent + noise))}, 1000.0});
      }
    }
  }
  r.tables = {pit};
  return r;
}

inline Record gate_record() {
  Record r;
  r.suite = "gate";
  r.verdict = "FAIL: the candidate is 5.2 % slower";
  r.exit_code = 1;
  r.command_line = "specbench gate --baseline A.json --candidate B.json";
  r.checks = {{"validity.aa", CheckStatus::kPassed, "The A/A interval covers 0."},
              {"regression", CheckStatus::kFailed, "Slower by 5.2 % (lower bound 3.1 %)."},
              {"drift", CheckStatus::kInconclusive, "certified_tv needs more tokens."}};
  return r;
}

inline Record selftest_record() {
  Record r;
  r.suite = "selftest";
  r.verdict = "FAILED: 1 mutant lives";
  r.exit_code = 1;
  r.command_line = "specbench --suite selftest";
  r.tables = {{"kill_matrix",
               {"id", "caught", "predicted_n", "taken_n", "killed_by"},
               {{"R1", true, std::int64_t{256}, std::int64_t{256}, "edges.ties narrow.all"},
                {"R2", false, std::int64_t{256}, std::int64_t{256}, ""}}},
              {"mutants", {"id", "fault"}, {{"R1", "nothing is subtracted"}, {"R2", "no bonus"}}},
              {"kill_matrix_kinds", {"kind"}, {{"edges.ties"}, {"narrow.all"}, {"wide.all"}}}};
  return r;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The library as the build found it.
inline ReportInput report_of(std::vector<Record> records) {
  return {std::move(records), read_text(SPECBENCH_CHART_JS), ""};
}

inline std::vector<Record> every_record() {
  return {latency_record(), sweep_record(), lossless_record(), gate_record(), selftest_record()};
}

}  // namespace specbench::results
