// The gate's verdict as a record, for tables, reports and exports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/gate_checks.h"
#include "stats/detectable.h"
#include "stats/summary.h"

namespace specbench::ci {
namespace {

using results::CheckStatus;
using results::Record;
using results::Value;

CheckStatus status_of(const GateCheck& check) {
  switch (check.outcome) {
    case Outcome::kPass:
      // What does not apply is no success.
      return check.detail.rfind("Not ", 0) == 0 ? CheckStatus::kSkipped : CheckStatus::kPassed;
    case Outcome::kFail:
      return CheckStatus::kFailed;
    case Outcome::kInconclusive:
    case Outcome::kVoid:
      break;
  }
  return CheckStatus::kInconclusive;
}

Value cell(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Value(*value) : Value();
}

results::NamedTable gate_table(const GateVerdict& verdict) {
  results::NamedTable table{
      "gate", {"check", "outcome", "value", "lower", "upper", "threshold"}, {}};
  for (const GateCheck& check : verdict.checks)
    table.rows.push_back({check.id, std::string(outcome_name(check.outcome)), cell(check.value),
                          cell(check.lower), cell(check.upper), cell(check.threshold)});
  return table;
}

// ln slowdown of every process, so that a verdict can be judged anew.
results::NamedTable pair_table(const std::vector<GateFigure>& figures) {
  results::NamedTable table{"gate_pairs", {"process"}, {}};
  for (const GateFigure& figure : figures) table.columns.push_back("ln_slowdown." + figure.name);
  for (std::size_t i = 0; i < figures.front().process.size(); ++i) {
    std::vector<Value> row{figures.front().process[i]};
    for (const GateFigure& figure : figures) row.emplace_back(figure.differences[i]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_slowdown(const GateFigure& figure, Record& record) {
  results::Metric metric{"slowdown." + figure.name, {}, "1", {}, {}, {}, ""};
  metric.value = share_of(stats::median(figure.differences));
  metric.note =
      fmt::format("share of the baseline's cost, {} processes", figure.differences.size());
  if (const auto interval = stats::median_interval(figure.differences, 1.0 - 2.0 * figure.miss)) {
    metric.lower = share_of(interval->lower);
    metric.upper = share_of(interval->upper);
    metric.level = interval->level;
  }
  record.metrics.push_back(std::move(metric));
}

void add_detectable(const GateFigure& figure, bool is_first, const Policy& policy, Record& record) {
  stats::DetectablePlan plan;
  plan.miss = figure.miss;
  plan.threshold = std::log1p(policy.fail_above);
  plan.power = policy.power;
  const auto shift = stats::min_detectable_shift(figure.differences, plan);
  results::Metric metric{
      "min_detectable_slowdown" + (is_first ? "" : "." + figure.name), {}, "1", {}, {}, {}, ""};
  if (shift) {
    metric.value = share_of(*shift);
    metric.note = fmt::format("a slowdown of {} in {} would have been seen with probability {}",
                              percent(*metric.value), figure.name, policy.power);
  } else {
    metric.note = "too few processes for a bound";
  }
  if (shift) record.notes.push_back("A" + metric.note.substr(1) + ".");
  record.metrics.push_back(std::move(metric));
}

}  // namespace

Record gate_record(const GateVerdict& verdict, const GateInput& input, const Policy& policy) {
  Record record;
  record.suite = "gate";
  record.verdict = verdict.sentence;
  record.exit_code = verdict.was_interrupted && verdict.outcome != Outcome::kFail
                         ? 130
                         : static_cast<int>(verdict.outcome);
  record.was_interrupted = verdict.was_interrupted;
  record.options = policy_entries(policy);
  const Record* measured = input.candidate != nullptr ? input.candidate : input.candidate_lossless;
  if (measured != nullptr) {
    record.environment = measured->environment;
    record.build = measured->build;
    record.model = measured->model;
  }
  for (const GateCheck& check : verdict.checks) {
    const std::string prefix = check.outcome == Outcome::kVoid ? "VOID: " : "";
    record.checks.push_back({check.id, status_of(check), prefix + check.detail});
  }
  record.tables.push_back(gate_table(verdict));
  if (!verdict.figures.empty()) record.tables.push_back(pair_table(verdict.figures));
  for (const GateFigure& figure : verdict.figures) {
    add_slowdown(figure, record);
    add_detectable(figure, &figure == &verdict.figures.front(), policy, record);
  }
  return record;
}

}  // namespace specbench::ci
