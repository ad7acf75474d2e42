// What a run leaves behind: plain structs between the suites that fill them and the JSON, tables
// and gate that read them. Absence is typed; nothing here computes. Meanings and units: schema.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace specbench::results {

inline constexpr int kSchemaVersion = 2;

// A scalar of any type; std::monostate is an absent one (null in JSON).
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Entries = std::vector<std::pair<std::string, Value>>;  // ordered, keys unique

struct Metric {
  std::string name;             // as in METRICS.md
  std::optional<double> value;  // absent: could not be measured, `note` says why
  std::string unit;             // "ms", "tokens/s", "ratio", "1"
  std::optional<double> lower;  // interval
  std::optional<double> upper;
  std::optional<double> level;  // of the interval, 0..1
  std::string note;             // for example "within-process"
};

enum class CheckStatus { kPassed, kFailed, kInconclusive, kSkipped };

struct Check {
  std::string id;
  CheckStatus status = CheckStatus::kSkipped;
  std::string detail;  // one sentence
};

struct TestRow {
  std::string id;
  std::string hypothesis;
  std::string statistic_name;
  std::int64_t n = 0;  // independent observations
  std::optional<double> statistic;
  std::optional<double> p_value;
  std::optional<double> min_detectable;  // drift found with probability 1 - beta
  std::string drift_kind;  // what min_detectable and tau are measured in, for example "tv"
  std::optional<double> alpha;
  std::optional<double> tau;  // drift that matters
  std::optional<double> beta;
  std::string verdict;
  std::string reason;
  std::optional<std::int64_t> required_n;  // for a powered verdict
};

// One timed run. Times in ns; events count from the start of the run.
struct SampleRow {
  std::string arm;
  int process = 0;
  int case_index = 0;
  int block = 0;
  int order = 0;
  bool is_warmup = false;
  std::int64_t wall_ns = 0;
  std::optional<std::int64_t> first_token_ns;
  std::optional<std::int64_t> decode_ns;
  std::vector<std::int64_t> phase_ns;      // [phase_names]
  std::vector<std::int64_t> chunk_end_ns;  // [n_chunks]
  std::vector<std::int32_t> chunk_tokens;  // [n_chunks]
  std::int64_t n_tokens = 0;
  std::uint64_t fingerprint = 0;
  std::string mark;  // empty: a clean sample; else why it is doubtful
};

struct NamedTable {
  std::string name;                      // "acceptance_by_position"
  std::vector<std::string> columns;      // unique
  std::vector<std::vector<Value>> rows;  // each [columns]
};

struct Record {
  int schema_version = kSchemaVersion;
  std::string suite;
  std::string command_line;
  std::string started_utc;       // ISO 8601
  std::optional<double> wall_s;  // of the whole run
  std::string verdict;           // one sentence, the first thing a reader sees
  int exit_code = 0;             // DESIGN.md section 5
  bool was_interrupted = false;
  Entries options;  // every effective option
  Entries environment;
  Entries build;
  Entries model;
  std::vector<Metric> metrics;
  std::vector<Check> checks;
  std::vector<TestRow> tests;
  std::vector<std::pair<std::string, std::int64_t>> counters;  // exact ones, keys unique
  std::vector<NamedTable> tables;
  std::vector<std::string> phase_names;  // of SampleRow::phase_ns
  std::vector<SampleRow> samples;
  std::vector<std::string> notes;
};

// "passed", "failed", "inconclusive", "skipped".
const char* check_status_name(CheckStatus status);

// The metric, counter or table of that name; null if there is none.
const Metric* find_metric(const Record& record, const std::string& name);
const std::int64_t* find_counter(const Record& record, const std::string& name);
const NamedTable* find_table(const Record& record, const std::string& name);

}  // namespace specbench::results
