#include "results/export_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "results/table.h"
#include "stats/summary.h"

namespace specbench::results {
namespace {

using Json = nlohmann::ordered_json;

struct Block {
  std::set<int> cases;
  std::int64_t ns = 0;
  std::int64_t n_tokens = 0;
};
using Blocks = std::map<std::pair<int, int>, Block>;  // by process and block

// Tokens that were there when decoding began: of a batch more than one delivery.
std::int64_t first_tokens(const SampleRow& s) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < std::min(s.chunk_end_ns.size(), s.chunk_tokens.size()); ++i) {
    if (s.chunk_end_ns[i] <= s.first_token_ns.value_or(0)) n += s.chunk_tokens[i];
  }
  return std::max<std::int64_t>(n, 1);
}

// ns and tokens of a run; none where the run has no such part.
void add(const SampleRow& s, bool is_decode, Block& block) {
  block.cases.insert(s.case_index);
  if (!is_decode) {
    block.ns += s.wall_ns;
    block.n_tokens += s.n_tokens;
  } else if (s.decode_ns) {
    block.ns += *s.decode_ns;
    block.n_tokens += s.n_tokens - first_tokens(s);
  }
}

// Arms by name.
std::map<std::string, Blocks> blocks_of(const Record& record, bool is_decode) {
  std::map<std::string, Blocks> arms;
  for (const SampleRow& s : record.samples) {
    if (!s.is_warmup) add(s, is_decode, arms[s.arm][{s.process, s.block}]);
  }
  return arms;
}

struct Repetition {
  double ns_per_token;
  std::int64_t n_tokens;
};

// A block that lacks a case was cut by an interruption; its mix of prompts is another.
std::vector<Repetition> repetitions_of(const Blocks& blocks) {
  std::size_t n_cases = 0;
  for (const auto& [key, block] : blocks) n_cases = std::max(n_cases, block.cases.size());
  std::vector<Repetition> all;
  for (const auto& [key, block] : blocks) {
    if (block.cases.size() < n_cases || block.n_tokens <= 0 || block.ns <= 0) continue;
    all.push_back(
        {static_cast<double>(block.ns) / static_cast<double>(block.n_tokens), block.n_tokens});
  }
  return all;
}

const Value* find_entry(const Entries& entries, const std::string& key) {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string text_of(const Entries& entries, const std::string& key) {
  const Value* value = find_entry(entries, key);
  return value == nullptr || std::holds_alternative<std::monostate>(*value) ? ""
                                                                            : format_value(*value);
}

// Machine facts come as text or as numbers.
std::optional<double> number_of(const Entries& entries, const std::string& key) {
  const Value* value = find_entry(entries, key);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(value))
    return std::isfinite(*number) ? std::optional(*number) : std::nullopt;
  const auto* text = std::get_if<std::string>(value);
  double number = 0;
  if (text == nullptr) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end == text->data() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::int64_t whole_of(const Entries& entries, const std::string& key, std::int64_t otherwise) {
  const auto number = number_of(entries, key);
  return number && std::abs(*number) < 1e15 ? std::llround(*number) : otherwise;
}

Json caches_of(const Entries& environment) {
  Json caches = Json::array();
  for (const int level : {2, 3}) {
    const std::int64_t size = whole_of(environment, fmt::format("l{}_bytes", level), 0);
    if (size > 0)
      caches.push_back({{"type", "Unified"}, {"level", level}, {"size", size}, {"num_sharing", 0}});
  }
  return caches;
}

// The names of Google Benchmark 1.7's own reporter first, ours behind them.
Json context_of(const Record& record) {
  const Entries& machine = record.environment;
  const std::string governor = text_of(machine, "governor");
  Json context = {
      {"date", record.started_utc},
      {"host_name", text_of(machine, "host_name")},
      {"executable", text_of(machine, "binary_path")},
      {"num_cpus", whole_of(machine, "n_cores_usable", 0)},
      {"mhz_per_cpu", whole_of(machine, "frequency_mhz", 0)},
      {"cpu_scaling_enabled", !governor.empty() && governor != "performance"},
      {"caches", caches_of(machine)},
      {"load_avg", Json::array()},
      {"library_build_type", text_of(record.build, "type") == "Debug" ? "debug" : "release"},
      {"specbench_suite", record.suite},
      {"specbench_commit", text_of(record.build, "commit")},
      {"specbench_model", text_of(record.model, "name")},
      {"specbench_verdict", record.verdict},
      {"specbench_times", "ns per emitted token; cpu_time is not measured and repeats real_time"}};
  if (const auto load = number_of(machine, "load_average")) context["load_avg"].push_back(*load);
  return context;
}

struct Family {
  std::string name;
  int index;
  std::int64_t threads;
};

Json row_of(const Family& family, const std::string& suffix, const char* run_type,
            std::size_t n_repetitions) {
  return {{"name", family.name + suffix},   {"family_index", family.index},
          {"per_family_instance_index", 0}, {"run_name", family.name},
          {"run_type", run_type},           {"repetitions", n_repetitions}};
}

void put_times(Json& row, std::int64_t iterations, double ns_per_token) {
  row["iterations"] = iterations;
  row["real_time"] = ns_per_token;
  row["cpu_time"] = ns_per_token;
  row["time_unit"] = "ns";
}

void add_family(const Family& family, const std::vector<Repetition>& repetitions, Json& rows) {
  std::vector<double> times;
  for (const Repetition& repetition : repetitions) {
    Json row = row_of(family, "", "iteration", repetitions.size());
    row["repetition_index"] = times.size();
    row["threads"] = family.threads;
    put_times(row, repetition.n_tokens, repetition.ns_per_token);
    rows.push_back(std::move(row));
    times.push_back(repetition.ns_per_token);
  }
  Json row = row_of(family, "_median", "aggregate", repetitions.size());
  row["threads"] = family.threads;
  row["aggregate_name"] = "median";
  row["aggregate_unit"] = "time";
  put_times(row, static_cast<std::int64_t>(repetitions.size()), stats::median(times));
  rows.push_back(std::move(row));
}

}  // namespace

std::string to_google_benchmark(const Record& record) {
  Json rows = Json::array();
  int index = 0;
  const auto decode = blocks_of(record, true);
  const auto whole = blocks_of(record, false);
  for (const auto& [arm, blocks] : whole) {
    for (const bool is_decode : {true, false}) {
      const auto repetitions = repetitions_of(is_decode ? decode.at(arm) : blocks);
      if (repetitions.empty()) continue;
      add_family({fmt::format("{}/{}/{}", record.suite, arm, is_decode ? "decode" : "end_to_end"),
                  index++, whole_of(record.options, "threads", 1)},
                 repetitions, rows);
    }
  }
  if (rows.empty()) {
    throw std::invalid_argument(
        fmt::format("the {} record has no timed block with tokens; export a latency record",
                    record.suite.empty() ? "empty" : record.suite));
  }
  const Json root = {{"context", context_of(record)}, {"benchmarks", std::move(rows)}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace specbench::results
