#include "results/record.h"

#include <algorithm>

namespace specbench::results {

const char* check_status_name(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPassed:
      return "passed";
    case CheckStatus::kFailed:
      return "failed";
    case CheckStatus::kInconclusive:
      return "inconclusive";
    case CheckStatus::kSkipped:
      break;
  }
  return "skipped";
}

const Metric* find_metric(const Record& record, const std::string& name) {
  const auto at = std::find_if(record.metrics.begin(), record.metrics.end(),
                               [&](const Metric& metric) { return metric.name == name; });
  return at == record.metrics.end() ? nullptr : &*at;
}

const std::int64_t* find_counter(const Record& record, const std::string& name) {
  const auto at = std::find_if(record.counters.begin(), record.counters.end(),
                               [&](const auto& counter) { return counter.first == name; });
  return at == record.counters.end() ? nullptr : &at->second;
}

const NamedTable* find_table(const Record& record, const std::string& name) {
  const auto at = std::find_if(record.tables.begin(), record.tables.end(),
                               [&](const NamedTable& table) { return table.name == name; });
  return at == record.tables.end() ? nullptr : &*at;
}

}  // namespace specbench::results
