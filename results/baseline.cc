#include "results/baseline.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace specbench::results {

namespace {

constexpr std::string_view kMetrics[] = {
    "acceptance_length", "draft_acceptance_rate", "acceptance_probability", "expected_acceptance",
    "coverage",          "certified_tv"};

const Value* find_entry(const Entries& entries, std::string_view key) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == key; });
  return at == entries.end() ? nullptr : &at->second;
}

void check(std::span<const Record> records) {
  if (records.empty() || records.size() > 2)
    throw std::invalid_argument(
        "a baseline is made of one latency record, one lossless record or one of each");
  for (const Record& record : records) {
    if (record.suite != "latency" && record.suite != "lossless")
      throw std::invalid_argument("a record of suite '" + record.suite +
                                  "' makes no baseline; give latency and lossless");
    if (record.exit_code == 1 || record.was_interrupted)
      throw std::invalid_argument("the " + record.suite +
                                  " record failed or was interrupted; measure it again");
    if (record.model != records.front().model)
      throw std::invalid_argument("the records are of two models; measure both with one");
  }
  if (records.size() == 2 && records[0].suite == records[1].suite)
    throw std::invalid_argument("both records are of suite " + records[0].suite +
                                "; give one latency and one lossless record");
}

/// Law by law its verdict and how small a drift it excludes; p-values belong to one seed.
void add_laws(const Record& lossless, Record& baseline) {
  for (TestRow row : lossless.tests) {
    row.statistic = row.p_value = std::nullopt;
    row.hypothesis.clear();  // a thousand sentences that the id stands for
    row.reason.clear();
    baseline.tests.push_back(std::move(row));
  }
}

/// The kill matrix has no times; it loses where and when it was made.
Record kill_matrix(Record selftest) {
  if (selftest.exit_code != 0)
    throw std::invalid_argument("the selftest did not pass; its matrix is no baseline");
  selftest.environment.clear();
  selftest.build.clear();
  selftest.started_utc.clear();
  selftest.wall_s = std::nullopt;
  return selftest;
}

}  // namespace

Record to_baseline(std::span<const Record> records) {
  if (records.size() == 1 && records[0].suite == "selftest") return kill_matrix(records[0]);
  check(records);
  Record baseline;
  baseline.suite = "baseline";
  baseline.verdict = "counters, acceptance and laws; no times";
  baseline.model = records.front().model;
  for (const Record& record : records) {
    const bool is_latency = record.suite == "latency";
    if (is_latency || baseline.options.empty()) baseline.options = record.options;
    if (is_latency) baseline.counters = record.counters;
    if (!is_latency) add_laws(record, baseline);
    for (const std::string_view name : kMetrics) {
      const Metric* metric = find_metric(record, std::string(name));
      if (metric != nullptr && find_metric(baseline, metric->name) == nullptr)
        baseline.metrics.push_back(*metric);
    }
    if (const NamedTable* table = find_table(record, "acceptance_by_position"))
      if (find_table(baseline, table->name) == nullptr) baseline.tables.push_back(*table);
    if (const Value* target = find_entry(record.environment, "vector_target"))
      baseline.environment = {{"vector_target", *target}};
  }
  return baseline;
}

}  // namespace specbench::results
