// Records made up for the gate's tests: what a latency and a lossless run would have left, with
// scripted process values. For *_test.cc only.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ci/gate.h"
#include "results/record.h"

namespace specbench::ci::testing {

// Normal numbers of variance 1, each a function of its key; Box and Muller (1958).
inline double keyed_normal(std::uint64_t seed, std::uint64_t process, std::uint64_t use) {
  const auto mix = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  };
  const std::uint64_t key = mix(mix(mix(seed) ^ process) ^ use);
  const auto uniform = [](std::uint64_t x) { return static_cast<double>(x >> 11) * 0x1.0p-53; };
  return std::sqrt(-2.0 * std::log(1.0 - uniform(mix(key ^ 1)))) *
         std::cos(2.0 * M_PI * uniform(mix(key ^ 2)));
}

// A side of a gate. Spread between builds: two sides' independent noise, root 2 of `noise`.
struct Script {
  int n_processes = 10;
  std::uint64_t seed = 1;
  double noise = 0.005;    // deviation of each ln value
  double slowdown = 0.0;   // share of the time a token
  double injected = 0.05;  // share of work added in that arm
  double bias = 0.0;       // ln by which the twin differs
};

inline results::NamedTable process_table(const Script& script) {
  results::NamedTable table{"process_values",
                            {"process", "log_speedup", "log_e2e_speedup", "log_aa", "log_injected",
                             "log_cost", "blocks", "marked"},
                            {}};
  for (int p = 0; p < script.n_processes; ++p) {
    const auto noise = [&](std::uint64_t use) {
      return script.noise * keyed_normal(script.seed, static_cast<std::uint64_t>(p), use);
    };
    const double slower = std::log1p(script.slowdown);
    table.rows.push_back({std::int64_t{p}, std::log(1.3) - slower + noise(1),
                          std::log(1.25) - slower + noise(2), script.bias + noise(3),
                          std::log1p(script.injected) + noise(4), slower + noise(5),
                          std::int64_t{10}, 0.0});
  }
  return table;
}

inline results::Metric metric(const std::string& name, double value) {
  return {name, value, "1", {}, {}, {}, ""};
}

inline results::Record latency_record(const Script& script = {}) {
  results::Record record;
  record.suite = "latency";
  record.verdict = "speculative is 1.300 x autoregressive";
  record.command_line = "specbench --suite latency";
  record.options = {{"backend", std::string("cpu")},   {"draft_tokens", std::int64_t{2}},
                    {"seed", std::string("1")},        {"max_tokens", std::int64_t{64}},
                    {"protocol", std::string("gate")}, {"processes", std::int64_t{10}}};
  record.environment = {{"cpu_model", std::string("A")},
                        {"kernel", std::string("Linux 6")},
                        {"boot_id", std::string("b")},
                        {"vector_target", std::string("AVX2")}};
  record.model = {{"name", std::string("m")}, {"hash", std::string("a95c")}};
  record.metrics = {metric("speedup", 1.3), metric("aa_ratio", 1.0),
                    metric("acceptance_length", 2.3), metric("draft_acceptance_rate", 0.65)};
  record.checks = {{"identity.rounds", results::CheckStatus::kPassed, "equal"},
                   {"equal.counts", results::CheckStatus::kPassed, "equal"},
                   {"counters.token_layers", results::CheckStatus::kPassed, "equal"},
                   {"equal.tokens", results::CheckStatus::kSkipped, "sampled"}};
  record.counters = {{"rounds", 277},
                     {"drafted", 5420},
                     {"accepted", 3530},
                     {"emitted", 640},
                     {"token_layers.speculative", 13548}};
  record.tables = {process_table(script)};
  return record;
}

inline results::TestRow law(const std::string& id, const std::string& verdict) {
  results::TestRow row;
  row.id = id;
  row.verdict = verdict;
  row.reason = "p = .3";
  return row;
}

inline results::Record lossless_record() {
  results::Record record = latency_record();
  record.suite = "lossless";
  record.verdict = "LOSSLESS (certified TV <= 0.00045)";
  record.command_line = "specbench --suite lossless";
  record.options.emplace_back("samples", std::int64_t{100000});
  record.metrics = {metric("certified_tv", 0.00045), metric("acceptance_length", 2.31)};
  record.checks = {{"identity.rounds", results::CheckStatus::kPassed, "equal"},
                   {"replay.law", results::CheckStatus::kPassed, "equal"}};
  record.counters = {{"drafted", 85742}, {"accepted", 56542}};
  record.tests = {law("real.all.id.ks", "PASS"), law("wide.all.p", "PASS")};
  record.tables.clear();
  return record;
}

// Both sides' records, to be bent by a test.
struct Sides {
  results::Record baseline = latency_record({.seed = 1});
  results::Record candidate = latency_record({.seed = 2});
  results::Record baseline_lossless = lossless_record();
  results::Record candidate_lossless = lossless_record();

  GateInput input(bool is_last_look = true) const {
    return {&baseline, &candidate, &baseline_lossless, &candidate_lossless, is_last_look};
  }
};

inline const GateCheck* find_check(const GateVerdict& verdict, const std::string& id) {
  for (const GateCheck& check : verdict.checks)
    if (check.id == id) return &check;
  return nullptr;
}

}  // namespace specbench::ci::testing
