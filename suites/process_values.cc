#include "suites/process_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "stats/summary.h"
#include "suites/latency_report.h"

namespace specbench::suites {

namespace {

constexpr const char* kTable = "process_values";

/// One measured ratio and its column.
struct Column {
  const char* name;
  std::optional<double> ProcessValues::*member;
};
constexpr Column kColumns[] = {{"log_speedup", &ProcessValues::log_speedup},
                               {"log_e2e_speedup", &ProcessValues::log_e2e_speedup},
                               {"log_aa", &ProcessValues::log_aa},
                               {"log_injected", &ProcessValues::log_injected},
                               {"log_cost", &ProcessValues::log_cost}};

int find_arm(const harness::Series& series, std::string_view name) {
  const auto at = std::find(series.arm_names.begin(), series.arm_names.end(), name);
  return at == series.arm_names.end() ? -1 : static_cast<int>(at - series.arm_names.begin());
}

/// What is compared of an arm in a block.
enum class Cost { kDecodePerToken, kEndToEndPerToken };

/// ns a token of an arm in each whole block, sum over sum; 0 where there was nothing.
std::vector<double> block_costs(const Measured& measured, int arm, Cost cost) {
  const auto n_blocks = static_cast<std::size_t>(measured.series.blocks_done);
  std::vector<double> ns(n_blocks), tokens(n_blocks);
  for (const harness::Sample& sample : measured.series.samples) {
    if (sample.is_warmup || sample.arm != arm || sample.block >= measured.series.blocks_done)
      continue;
    const auto block = static_cast<std::size_t>(sample.block);
    const bool is_decode = cost == Cost::kDecodePerToken;
    const int n_first =
        is_decode ? measured.n_sequences[static_cast<std::size_t>(sample.case_index)] : 0;
    ns[block] += static_cast<double>(is_decode ? sample.decode_ns.value_or(0) : sample.wall_ns);
    tokens[block] += static_cast<double>(sample.n_tokens - n_first);
  }
  for (std::size_t b = 0; b < n_blocks; ++b) ns[b] = tokens[b] > 0 ? ns[b] / tokens[b] : 0.0;
  return ns;
}

/// Median over blocks of ln(above / below).
std::optional<double> log_ratio(const std::vector<double>& above,
                                const std::vector<double>& below) {
  std::vector<double> logs;
  for (std::size_t b = 0; b < above.size(); ++b)
    if (above[b] > 0 && below[b] > 0) logs.push_back(std::log(above[b] / below[b]));
  if (logs.empty()) return std::nullopt;
  return stats::median(logs);
}

std::optional<double> number(const results::Value& value) {
  if (const double* real = std::get_if<double>(&value)) return *real;
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*whole);
  return std::nullopt;
}

}  // namespace

ProcessValues process_values(const Measured& measured, int process, double marked) {
  const harness::Series& series = measured.series;
  const auto costs = [&](std::string_view name, Cost cost) {
    const int arm = find_arm(series, name);
    return arm < 0 ? std::vector<double>(static_cast<std::size_t>(series.blocks_done))
                   : block_costs(measured, arm, cost);
  };
  const auto speculative = costs(kArmNames[kSpeculative], Cost::kDecodePerToken);
  ProcessValues values;
  values.process = process;
  values.log_speedup =
      log_ratio(costs(kArmNames[kAutoregressive], Cost::kDecodePerToken), speculative);
  values.log_e2e_speedup = log_ratio(costs(kArmNames[kAutoregressive], Cost::kEndToEndPerToken),
                                     costs(kArmNames[kSpeculative], Cost::kEndToEndPerToken));
  values.log_aa = log_ratio(costs(kArmNames[kTwin], Cost::kDecodePerToken), speculative);
  values.log_injected = log_ratio(costs(kArmNames[kInjected], Cost::kDecodePerToken), speculative);
  values.n_blocks = series.blocks_done;
  values.marked = marked;
  return values;
}

std::optional<double> paired_log_cost(const results::Record& baseline,
                                      const results::Record& candidate) {
  using Key = std::tuple<std::string, int, int>;  // arm, case, block
  const auto runs = [](const results::Record& record) {
    std::map<Key, double> ns_a_token;
    for (const results::SampleRow& s : record.samples) {
      const bool is_speculative = s.arm == kArmNames[kSpeculative] || s.arm == kArmNames[kTwin];
      if (is_speculative && !s.is_warmup && s.decode_ns && *s.decode_ns > 0 && s.n_tokens > 0)
        ns_a_token[{s.arm, s.case_index, s.block}] =
            static_cast<double>(*s.decode_ns) / static_cast<double>(s.n_tokens);
    }
    return ns_a_token;
  };
  const auto before = runs(baseline), after = runs(candidate);
  std::vector<double> logs;
  for (const auto& [key, ns] : before)
    if (const auto at = after.find(key); at != after.end())
      logs.push_back(std::log(at->second / ns));
  if (logs.empty()) return std::nullopt;
  return stats::median(logs);
}

void set_log_cost(double log_cost, results::Record& record) {
  std::vector<ProcessValues> values = read_process_table(record);
  for (ProcessValues& one : values) one.log_cost = log_cost;
  for (results::NamedTable& table : record.tables)
    if (table.name == kTable) table = process_table(values);
}

results::NamedTable process_table(std::span<const ProcessValues> values) {
  results::NamedTable table{kTable, {"process"}, {}};
  for (const Column& column : kColumns) table.columns.push_back(column.name);
  table.columns.insert(table.columns.end(), {"blocks", "marked"});
  for (const ProcessValues& one : values) {
    std::vector<results::Value>& row = table.rows.emplace_back();
    row.emplace_back(std::int64_t{one.process});
    for (const Column& column : kColumns) {
      row.emplace_back();
      if (const auto& value = one.*column.member) row.back() = *value;
    }
    row.emplace_back(std::int64_t{one.n_blocks});
    row.emplace_back(one.marked);
  }
  return table;
}

std::vector<ProcessValues> read_process_table(const results::Record& record) {
  const results::NamedTable* table = results::find_table(record, kTable);
  if (table == nullptr) return {};
  if (table->columns != process_table({}).columns)
    throw std::invalid_argument("the table process_values has other columns than this build's");
  std::vector<ProcessValues> all;
  for (const auto& row : table->rows) {
    const auto process = number(row[0]), blocks = number(row[row.size() - 2]);
    const auto marked = number(row.back());
    if (!process || !blocks || !marked)
      throw std::invalid_argument("a row of process_values lacks its process, blocks or marked");
    ProcessValues values;
    values.process = static_cast<int>(*process);
    values.n_blocks = static_cast<int>(*blocks);
    values.marked = *marked;
    for (std::size_t c = 0; c < std::size(kColumns); ++c)
      values.*kColumns[c].member = number(row[c + 1]);
    all.push_back(values);
  }
  return all;
}

std::vector<double> present(std::span<const ProcessValues> values,
                            std::optional<double> ProcessValues::*member) {
  std::vector<double> there;
  for (const ProcessValues& one : values)
    if (one.*member) there.push_back(*(one.*member));
  return there;
}

}  // namespace specbench::suites
