// The processes' values: are they there, and can the instrument that took them be trusted?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ci/gate_checks.h"
#include "stats/summary.h"

namespace specbench::ci {
namespace {

constexpr const char* kTable = "process_values";
// Two-sided, of what the instrument can resolve: of ten values the third and the eighth.
constexpr double kInstrumentLevel = 0.89;
constexpr const char* kRepair = "measure anew with --protocol gate";

using Row = std::map<std::string, double>;  // column -> value
using Rows = std::map<std::int64_t, Row>;   // process -> row

std::set<std::string> needed_columns(const Policy& policy) {
  std::set<std::string> columns{"log_speedup", "log_aa", "log_injected", "marked"};
  for (const std::string& figure : policy.figures) columns.insert(source_of(figure).column);
  return columns;
}

std::optional<double> finite_number(const results::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || !std::isfinite(*real)) return std::nullopt;
  return *real;
}

std::optional<std::size_t> column_index(const results::NamedTable& table, const std::string& name) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), name);
  if (at == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - table.columns.begin());
}

// Fills `rows`; returns what is wrong, empty if nothing is.
std::string read_rows(const results::Record& record, const Policy& policy, Rows& rows) {
  const results::NamedTable* table = results::find_table(record, kTable);
  if (table == nullptr) return fmt::format("has no table {}", kTable);
  const auto process_at = column_index(*table, "process");
  if (!process_at) return fmt::format("has a table {} without the column process", kTable);
  for (const std::string& name : needed_columns(policy)) {
    const auto at = column_index(*table, name);
    if (!at) return fmt::format("has a table {} without the column {}", kTable, name);
    for (const auto& cells : table->rows) {
      if (cells.size() != table->columns.size())
        return fmt::format("has a table {} with a row cut short", kTable);
      const auto* process = std::get_if<std::int64_t>(&cells[*process_at]);
      if (process == nullptr) return fmt::format("has a row of {} that names no process", kTable);
      const auto value = finite_number(cells[*at]);
      if (!value) return fmt::format("has no finite {} of process {}", name, *process);
      if (!rows[*process].emplace(name, *value).second)
        return fmt::format("holds process {} twice", *process);
    }
  }
  return "";
}

std::string missing_metric(const results::Record& record) {
  for (const char* name : {"speedup", "aa_ratio", "acceptance_length", "draft_acceptance_rate"})
    if (!metric_value(record, name)) return fmt::format("has no finite metric {}", name);
  for (const char* name : {"drafted", "accepted", "emitted", "rounds"})
    if (results::find_counter(record, name) == nullptr)
      return fmt::format("has no counter {}", name);
  return "";
}

bool check_side(Judgement& j, const std::string& side, const results::Record& record, Rows& rows) {
  std::string fault = missing_metric(record);
  if (fault.empty()) fault = read_rows(record, j.policy, rows);
  j.add_validity("validity.values." + side, fault.empty(),
                 fault.empty() ? fmt::format("The {} record has every value of {} processes.", side,
                                             rows.size())
                               : fmt::format("The {} record {}; {}.", side, fault, kRepair));
  return fault.empty();
}

ProcessPairs pair_rows(const Rows& baseline, const Rows& candidate) {
  ProcessPairs pairs;
  for (const auto& [process, row] : baseline) {
    const auto other = candidate.find(process);
    if (other == candidate.end()) continue;
    pairs.process.push_back(process);
    for (const auto& [name, value] : row) pairs.baseline[name].push_back(value);
    for (const auto& [name, value] : other->second) pairs.candidate[name].push_back(value);
  }
  return pairs;
}

// Wide enough to blame chance: bounds that miss at the first look's level. Of a quality they are
// too wide a measure: ten values give none but their extremes.
std::optional<stats::Interval> certain_interval(const Judgement& j,
                                                const std::vector<double>& logs) {
  return stats::median_interval(logs, 1.0 - 2.0 * j.policy.misses.front());
}
std::optional<stats::Interval> usual_interval(const std::vector<double>& logs) {
  return stats::median_interval(logs, kInstrumentLevel);
}

// Doubt about the instrument that further processes may end is VOID, with a wish for them; a twin
// that certainly differs from its arm is VOID for good.
void check_twin(Judgement& j, const std::string& side, const std::vector<double>& logs) {
  const auto certain = certain_interval(j, logs);
  const auto usual = usual_interval(logs);
  const std::string id = "validity.aa." + side;
  if (!certain || !usual) {
    j.add_validity(id, false,
                   fmt::format("{} processes bound the A/A ratio at no such level as {}; raise it "
                               "or the first look.",
                               logs.size(), j.policy.misses.front()));
    return;
  }
  const double width = share_of(usual->upper - usual->lower);
  const double allowed = j.policy.max_aa_bias;
  const bool is_equal = share_of(certain->lower) <= allowed && share_of(certain->upper) >= -allowed;
  const bool is_narrow = width < j.policy.max_aa_width;
  std::string detail =
      fmt::format("The {}'s twin differs by {} ({}..{}, width {}, allowed {})", side,
                  percent(share_of(usual->estimate)), percent(share_of(usual->lower)),
                  percent(share_of(usual->upper)), percent(width), percent(j.policy.max_aa_width));
  if (!is_equal)
    detail += fmt::format(
        ": two equal arms are timed differently, by more than {} with certainty; look for a bias "
        "of order or memory.",
        percent(allowed));
  else if (!is_narrow)
    detail += ": too wide; quiet the machine or measure more processes.";
  else
    detail += ".";
  GateCheck& check = j.add_validity(id, is_equal && is_narrow, detail, /*may_end=*/is_equal);
  check.value = width;
  check.lower = share_of(usual->lower);
  check.upper = share_of(usual->upper);
  check.threshold = j.policy.max_aa_width;
}

void check_injected(Judgement& j, const std::string& side, const std::vector<double>& logs) {
  const auto certain = certain_interval(j, logs);
  const auto usual = usual_interval(logs);
  const std::string id = "validity.injected." + side;
  if (!certain || !usual) return;  // check_twin has said so
  const bool is_seen = usual->lower > 0.0;
  const std::string what =
      fmt::format("The {}'s arm with work added is {} slower ({}..{})", side,
                  percent(share_of(usual->estimate)), percent(share_of(usual->lower)),
                  percent(share_of(usual->upper)));
  GateCheck& check = j.add_validity(
      id, is_seen,
      is_seen ? what + ": it is seen."
              : what +
                    ": work that was added is not seen, so a slowdown would not be either; "
                    "quiet the machine or measure more processes.",
      /*may_end=*/certain->upper > 0.0);
  check.value = share_of(usual->estimate);
  check.lower = share_of(usual->lower);
  check.upper = share_of(usual->upper);
  check.threshold = 0.0;
}

void check_marked(Judgement& j, const std::string& side, const std::vector<double>& shares) {
  const double share = stats::mean(shares);
  const bool is_legal =
      std::all_of(shares.begin(), shares.end(), [](double x) { return x >= 0.0 && x <= 1.0; });
  const bool is_valid = is_legal && share <= j.policy.max_marked_share;
  const std::string what = fmt::format("{} of the {}'s samples are marked doubtful, {} are allowed",
                                       percent(share), side, percent(j.policy.max_marked_share));
  // A disturbance may have been one of the first processes'; the next may dilute it.
  GateCheck& check = j.add_validity(
      "validity.marked." + side, is_valid,
      is_valid ? what + "." : what + "; end other work on the machine.", /*may_end=*/true);
  check.value = share;
  check.threshold = j.policy.max_marked_share;
}

}  // namespace

void check_processes(Judgement& j) {
  // A floor is the candidate's own matter: it is judged beside a baseline without times too.
  const bool is_alone = j.is_timeless() && j.policy.speedup_floor > 0.0;
  if (j.input.candidate == nullptr || (!j.has_times() && !is_alone)) return;
  Rows baseline, candidate;
  bool is_whole = check_side(j, "candidate", *j.input.candidate, candidate);
  if (!is_alone) is_whole = check_side(j, "baseline", *j.input.baseline, baseline) && is_whole;
  if (!is_whole) return;
  j.pairs = pair_rows(is_alone ? candidate : baseline, candidate);
  if (is_alone) j.pairs.baseline.clear();
  const int n_needed = j.policy.looks.front();
  const bool is_enough = j.pairs.n() >= n_needed;
  const std::string what =
      fmt::format("{} processes are there on both sides, {} are needed", j.pairs.n(), n_needed);
  GateCheck& check = j.add_validity(
      "validity.processes", is_enough,
      is_enough ? what + "." : fmt::format("{}; measure with --processes {}.", what, n_needed));
  check.value = j.pairs.n();
  check.threshold = n_needed;
}

void check_instrument(Judgement& j) {
  if (j.pairs.n() < j.policy.looks.front()) return;
  for (const bool is_candidate : {false, true}) {
    const std::string side = is_candidate ? "candidate" : "baseline";
    const auto& columns = is_candidate ? j.pairs.candidate : j.pairs.baseline;
    if (columns.empty()) continue;
    check_twin(j, side, columns.at("log_aa"));
    check_injected(j, side, columns.at("log_injected"));
    check_marked(j, side, columns.at("marked"));
  }
}

}  // namespace specbench::ci
