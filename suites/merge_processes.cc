#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "stats/detectable.h"
#include "stats/summary.h"
#include "stats/wilcoxon.h"
#include "suites/latency_categories.h"
#include "suites/process_values.h"
#include "suites/processes.h"

namespace specbench::suites {

namespace {

constexpr double kLevel = 0.95;

/// Metric `name` from the processes' values: exp of their median, exact by order statistics.
struct Ratio {
  const char* name;
  std::optional<double> ProcessValues::*member;
};
constexpr Ratio kRatios[] = {{"speedup", &ProcessValues::log_speedup},
                             {"end_to_end_speedup", &ProcessValues::log_e2e_speedup},
                             {"aa_ratio", &ProcessValues::log_aa},
                             {"injected_ratio", &ProcessValues::log_injected}};

results::Metric ratio_over_processes(const char* name, const std::vector<double>& logs) {
  results::Metric metric{name, {}, "ratio", {}, {}, {}, "no process measured it"};
  if (logs.empty()) return metric;
  metric.value = std::exp(stats::median(logs));
  metric.note = fmt::format("{} processes", logs.size());
  // A/A is the twin's time over the arm's, speed-ups are times over times: all e^value.
  if (const auto interval = stats::median_interval(logs, kLevel)) {
    metric.lower = std::exp(interval->lower);
    metric.upper = std::exp(interval->upper);
    metric.level = interval->level;
    metric.note += ", order statistics";
  } else {
    metric.note += ", too few for an interval";
  }
  if (const auto ranks = stats::wilcoxon_interval(logs, kLevel))
    metric.note += fmt::format("; signed ranks {:.4f}..{:.4f}", std::exp(ranks->lower),
                               std::exp(ranks->upper));
  return metric;
}

/// How small an effect on the time a token these processes would have shown.
void add_detectable(const std::vector<double>& log_speedups, results::Record& merged) {
  stats::DetectablePlan plan;
  plan.miss = (1.0 - kLevel) / 2.0;
  const auto shift =
      log_speedups.empty() ? std::nullopt : stats::min_detectable_shift(log_speedups, plan);
  results::Metric metric{"min_detectable_slowdown", {}, "1", {}, {}, {}, ""};
  if (shift) {
    metric.value = std::expm1(*shift);
    metric.note =
        fmt::format("a slowdown or speed-up of {:.1f} % would have been seen with probability {}",
                    100 * *metric.value, plan.power);
    merged.notes.push_back("A" + metric.note.substr(1) + ".");
  } else {
    metric.note = "too few processes for a bound";
  }
  merged.metrics.push_back(std::move(metric));
}

/// The same metric of every process, as median with its interval.
results::Metric median_metric(const results::Metric& first,
                              const std::vector<results::Record>& records) {
  std::vector<double> values;
  for (const results::Record& record : records)
    if (const auto* metric = results::find_metric(record, first.name); metric && metric->value)
      values.push_back(*metric->value);
  results::Metric merged = first;
  if (values.empty()) return merged;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  merged.value = stats::median(values);
  merged.lower = merged.upper = merged.level = std::nullopt;
  if (*least == *most) return merged;  // exact figures have no spread
  if (const auto interval = stats::median_interval(values, kLevel)) {
    merged.lower = interval->lower;
    merged.upper = interval->upper;
    merged.level = interval->level;
  }
  return merged;
}

/// One check of each id: the worst, with the process it comes from.
std::vector<results::Check> merge_checks(const std::vector<results::Record>& records) {
  const auto badness = [](results::CheckStatus status) {
    switch (status) {
      case results::CheckStatus::kFailed:
        return 3;
      case results::CheckStatus::kInconclusive:
        return 2;
      case results::CheckStatus::kSkipped:
        return 1;
      case results::CheckStatus::kPassed:
        break;
    }
    return 0;
  };
  std::vector<results::Check> merged = records.front().checks;
  for (std::size_t p = 1; p < records.size(); ++p) {
    for (const results::Check& check : records[p].checks) {
      auto at = std::find_if(merged.begin(), merged.end(),
                             [&](const auto& other) { return other.id == check.id; });
      if (at == merged.end()) at = merged.insert(at, check);
      if (badness(check.status) <= badness(at->status)) continue;
      *at = check;
      at->detail = fmt::format("Process {}: {}", p, check.detail);
    }
  }
  return merged;
}

/// Same options, same seed, same program: the exact counters must agree.
results::Check check_counters(const std::vector<results::Record>& records) {
  results::Check check{"identity.processes", results::CheckStatus::kPassed,
                       fmt::format("{} processes did the same work.", records.size())};
  for (std::size_t p = 1; p < records.size(); ++p) {
    for (const auto& [name, count] : records.front().counters) {
      const std::int64_t* other = results::find_counter(records[p], name);
      if (other != nullptr && *other == count) continue;
      check.status = results::CheckStatus::kFailed;
      check.detail = fmt::format(
          "Process {} counted {} {}, process 0 counted {}; decoding is not "
          "deterministic.",
          p, other ? std::to_string(*other) : "no", name, count);
      return check;
    }
  }
  return check;
}

std::vector<std::string> merge_notes(const std::vector<results::Record>& records) {
  std::vector<std::string> order;
  std::map<std::string, int> seen;
  for (const results::Record& record : records)
    for (const std::string& note : record.notes)
      if (seen[note]++ == 0) order.push_back(note);
  for (std::string& note : order)
    if (const int n = seen[note]; records.size() > 1 && n < static_cast<int>(records.size()))
      note += fmt::format(" ({} of {} processes)", n, records.size());
  return order;
}

std::string text_of(const results::Metric* metric) {
  return metric != nullptr && metric->value ? fmt::format("{:.3f}", *metric->value) : "-";
}

void conclude(results::Record& record, std::size_t n_processes) {
  const auto failed =
      std::find_if(record.checks.begin(), record.checks.end(),
                   [](const auto& check) { return check.status == results::CheckStatus::kFailed; });
  if (failed != record.checks.end()) {
    record.exit_code = kFailed;
    record.verdict = "FAILED: " + failed->id + ". " + failed->detail;
    return;
  }
  const results::Metric* speedup = results::find_metric(record, "speedup");
  if (speedup == nullptr || !speedup->value) {
    record.exit_code = kVoid;
    record.verdict = "VOID: no process measured a speed-up. " + record.verdict;
    return;
  }
  record.exit_code = kPassed;
  const std::string interval = speedup->lower
                                   ? fmt::format("{:.1f} % {:.3f}..{:.3f}, ", 100 * *speedup->level,
                                                 *speedup->lower, *speedup->upper)
                                   : "";
  record.verdict = fmt::format(
      "speculative is {:.3f} x autoregressive ({}{} processes); predicted {}; "
      "acceptance_length {}",
      *speedup->value, interval, n_processes,
      text_of(results::find_metric(record, "predicted_speedup")),
      text_of(results::find_metric(record, "acceptance_length")));
}

}  // namespace

results::Record merge_processes(std::vector<results::Record> records) {
  results::Record merged = records.front();
  std::vector<ProcessValues> values;
  merged.samples.clear();
  for (results::Record& record : records) {
    for (const ProcessValues& one : read_process_table(record)) values.push_back(one);
    std::move(record.samples.begin(), record.samples.end(), std::back_inserter(merged.samples));
    merged.was_interrupted = merged.was_interrupted || record.was_interrupted;
  }
  for (results::Metric& metric : merged.metrics) metric = median_metric(metric, records);
  for (const Ratio& ratio : kRatios) {
    const results::Metric metric = ratio_over_processes(ratio.name, present(values, ratio.member));
    const auto at = std::find_if(merged.metrics.begin(), merged.metrics.end(),
                                 [&](const auto& other) { return other.name == metric.name; });
    if (at != merged.metrics.end())
      *at = metric;
    else if (metric.value)
      merged.metrics.push_back(metric);
  }
  merged.checks = merge_checks(records);
  merged.checks.push_back(check_counters(records));
  merged.notes = merge_notes(records);
  add_detectable(present(values, &ProcessValues::log_speedup), merged);
  for (results::NamedTable& table : merged.tables)
    if (table.name == "process_values") table = process_table(values);
  merge_categories(records, merged);
  merged.options.emplace_back("processes", static_cast<std::int64_t>(records.size()));
  conclude(merged, records.size());
  return merged;
}

}  // namespace specbench::suites
