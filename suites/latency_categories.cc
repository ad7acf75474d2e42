#include "suites/latency_categories.h"

#include <algorithm>
#include <cmath>

#include "stats/summary.h"
#include "suites/latency_report.h"

namespace specbench::suites {

namespace {

constexpr const char* kTable = "categories";
constexpr std::size_t kSpeedup = 2, kLower = 3, kUpper = 4;  // columns
constexpr double kLevel = 0.95;

results::Value value_or_absent(const std::optional<double>& value) {
  return value ? results::Value(*value) : results::Value();
}

/// The samples of those cases, which are numbered anew. Deliveries are left out.
harness::Series series_of(const harness::Series& all, std::span<const int> cases) {
  harness::Series part;
  part.arm_names = all.arm_names;
  part.phase_names = all.phase_names;
  part.blocks_done = all.blocks_done;
  for (const harness::Sample& sample : all.samples) {
    const auto at = std::find(cases.begin(), cases.end(), sample.case_index);
    if (at == cases.end()) continue;
    harness::Sample one;
    one.arm = sample.arm;
    one.case_index = static_cast<int>(at - cases.begin());
    one.block = sample.block;
    one.is_warmup = sample.is_warmup;
    one.wall_ns = sample.wall_ns;
    one.decode_ns = sample.decode_ns;
    one.n_tokens = sample.n_tokens;
    part.samples.push_back(std::move(one));
  }
  return part;
}

std::vector<results::Value> row_of(const Measured& measured, const std::string& category,
                                   std::span<const int> cases, std::span<const CaseRounds> rounds) {
  const harness::Series part = series_of(measured.series, cases);
  std::vector<int> n_sequences;
  CaseRounds sum;
  for (const int c : cases) {
    const auto at = static_cast<std::size_t>(c);
    n_sequences.push_back(measured.n_sequences[at]);
    sum.n_rounds += rounds[at].n_rounds;
    sum.n_accepted += rounds[at].n_accepted;
  }
  const auto ratio =
      speedup({part, n_sequences, measured.seed}, kAutoregressive, kSpeculative, Timed::kDecode);
  const bool has_interval = ratio && cases.size() > 1;
  std::optional<double> estimate, lower, upper, length;
  if (ratio) estimate = ratio->estimate;
  if (has_interval) lower = ratio->lower;
  if (has_interval) upper = ratio->upper;
  if (sum.n_rounds > 0)
    length = 1.0 + static_cast<double>(sum.n_accepted) / static_cast<double>(sum.n_rounds);
  return {category,
          static_cast<std::int64_t>(cases.size()),
          value_or_absent(estimate),
          value_or_absent(lower),
          value_or_absent(upper),
          value_or_absent(length)};
}

/// ln of the row's speed-up in each record that has one. Rows are the same in all: the same
/// prompts.
std::vector<double> log_speedups(std::span<const results::Record> records, std::size_t row) {
  std::vector<double> logs;
  for (const results::Record& record : records) {
    const results::NamedTable* const table = results::find_table(record, kTable);
    if (table == nullptr || row >= table->rows.size()) continue;
    if (const double* const value = std::get_if<double>(&table->rows[row][kSpeedup]))
      logs.push_back(std::log(*value));
  }
  return logs;
}

}  // namespace

std::optional<results::NamedTable> category_table(const Measured& measured,
                                                  std::span<const std::string> categories,
                                                  std::span<const CaseRounds> rounds) {
  std::vector<std::string> names;
  for (const std::string& category : categories)
    if (std::find(names.begin(), names.end(), category) == names.end()) names.push_back(category);
  if (names.size() < 2) return std::nullopt;
  results::NamedTable table{
      kTable, {"category", "prompts", "speedup", "lower", "upper", "acceptance_length"}, {}};
  for (const std::string& name : names) {
    std::vector<int> cases;
    for (std::size_t c = 0; c < categories.size(); ++c)
      if (categories[c] == name) cases.push_back(static_cast<int>(c));
    table.rows.push_back(row_of(measured, name, cases, rounds));
  }
  return table;
}

void merge_categories(std::span<const results::Record> records, results::Record& merged) {
  const auto table = std::find_if(merged.tables.begin(), merged.tables.end(),
                                  [](const auto& one) { return one.name == kTable; });
  if (table == merged.tables.end() || records.size() < 2) return;
  for (std::size_t r = 0; r < table->rows.size(); ++r) {
    std::vector<results::Value>& row = table->rows[r];
    const std::vector<double> logs = log_speedups(records, r);
    if (logs.empty()) continue;
    row[kSpeedup] = std::exp(stats::median(logs));
    const auto interval = stats::median_interval(logs, kLevel);
    row[kLower] = interval ? results::Value(std::exp(interval->lower)) : results::Value();
    row[kUpper] = interval ? results::Value(std::exp(interval->upper)) : results::Value();
  }
}

}  // namespace specbench::suites
