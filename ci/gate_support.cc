// Small things that every group of checks needs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/gate_checks.h"
#include "results/table.h"

namespace specbench::ci {

GateCheck& Judgement::add(std::string id, Outcome outcome, std::string detail) {
  GateCheck check;
  check.id = std::move(id);
  check.outcome = outcome;
  check.detail = std::move(detail);
  return checks.emplace_back(std::move(check));
}

GateCheck& Judgement::add_validity(std::string id, bool is_valid, std::string detail,
                                   bool may_end) {
  if (!is_valid) {
    is_timed = false;
    is_void_for_good = is_void_for_good || !may_end;
  }
  return add(std::move(id), is_valid ? Outcome::kPass : Outcome::kVoid, std::move(detail));
}

double share_of(double log_ratio) { return std::expm1(log_ratio); }

std::string percent(double share) {
  const double hundredths = std::round(share * 1e4);
  return fmt::format("{:.2f} %", hundredths == 0.0 ? 0.0 : hundredths / 100.0);
}

std::size_t look_of(const Policy& policy, int n_processes) {
  std::size_t look = 0;
  while (look + 1 < policy.looks.size() && policy.looks[look + 1] <= n_processes) ++look;
  return look;
}

FigureSource source_of(const std::string& figure) {
  if (figure == "cost") return {"log_cost", 1.0};
  if (figure == "e2e_speedup") return {"log_e2e_speedup", -1.0};
  return {"log_speedup", -1.0};
}

const results::Value* find_entry(const results::Entries& entries, const std::string& key) {
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [&](const auto& entry) { return entry.first == key; });
  return at == entries.end() ? nullptr : &at->second;
}

std::string entry_text(const results::Entries& entries, const std::string& key) {
  const results::Value* value = find_entry(entries, key);
  return value == nullptr ? "-" : results::format_value(*value);
}

std::optional<double> metric_value(const results::Record& record, const std::string& name) {
  const results::Metric* metric = results::find_metric(record, name);
  if (metric == nullptr || !metric->value || !std::isfinite(*metric->value)) return std::nullopt;
  return metric->value;
}

}  // namespace specbench::ci
