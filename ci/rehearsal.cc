#include "ci/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "ci/gate_checks.h"
#include "ci/looks.h"
#include "stats/binomial.h"
#include "stats/generator.h"
#include "stats/summary.h"

namespace specbench::ci {
namespace {

constexpr const char* kTable = "process_values";
constexpr double kLevel = 0.95;
constexpr Outcome kOutcomes[] = {Outcome::kPass, Outcome::kFail, Outcome::kInconclusive,
                                 Outcome::kVoid};

using Row = std::vector<results::Value>;

// Both sides' rows of every process that both have measured in turn.
struct Pool {
  results::Record baseline, candidate;  // without samples and rows
  std::size_t process_at = 0;           // column that holds the number of the process
  std::vector<std::pair<Row, Row>> pairs;
};

const results::NamedTable& table_of(const results::Record& record) {
  const results::NamedTable* table = results::find_table(record, kTable);
  if (record.suite != "latency" || table == nullptr || table->rows.empty())
    throw std::invalid_argument(
        fmt::format("a record of suite '{}' holds no process values; rehearse with records that a "
                    "gate kept beside its own",
                    record.suite));
  return *table;
}

results::Record without_rows(results::Record record) {
  record.samples.clear();
  for (results::NamedTable& table : record.tables)
    if (table.name == kTable) table.rows.clear();
  return record;
}

void add_pairs(const results::NamedTable& baseline, const results::NamedTable& candidate,
               Pool& pool) {
  for (const Row& row : baseline.rows) {
    const auto other = std::find_if(
        candidate.rows.begin(), candidate.rows.end(),
        [&](const Row& r) { return r.at(pool.process_at) == row.at(pool.process_at); });
    if (other != candidate.rows.end()) pool.pairs.emplace_back(row, *other);
  }
}

Pool pool_of(const RehearsalInput& input) {
  if (input.baseline.size() != input.candidate.size() || input.baseline.empty())
    throw std::invalid_argument(
        fmt::format("there are {} records of the baseline and {} of the candidate; a rehearsal "
                    "takes them in pairs, in the same order",
                    input.baseline.size(), input.candidate.size()));
  Pool pool{without_rows(*input.baseline.front()), without_rows(*input.candidate.front()), 0, {}};
  const auto& columns = table_of(*input.baseline.front()).columns;
  const auto process = std::find(columns.begin(), columns.end(), "process");
  if (process == columns.end())
    throw std::invalid_argument("the process values do not name their process");
  pool.process_at = static_cast<std::size_t>(process - columns.begin());
  for (std::size_t i = 0; i < input.baseline.size(); ++i) {
    const results::NamedTable &a = table_of(*input.baseline[i]), &b = table_of(*input.candidate[i]);
    if (a.columns != columns || b.columns != columns)
      throw std::invalid_argument("the records' process values have different columns");
    add_pairs(a, b, pool);
  }
  if (pool.pairs.empty())
    throw std::invalid_argument("no process was measured on both sides; nothing can be drawn");
  return pool;
}

results::NamedTable& rows_of(results::Record& record) {
  return *std::find_if(record.tables.begin(), record.tables.end(),
                       [](const auto& table) { return table.name == kTable; });
}

// One gate: every look draws what it lacks, as a live gate measures it.
class Play {
 public:
  Play(Pool& pool, stats::Generator& generator) : pool_(pool), generator_(generator) {
    rows_of(pool_.baseline).rows.clear();
    rows_of(pool_.candidate).rows.clear();
  }

  bool draw_until(int n) {
    for (; n_drawn_ < n; ++n_drawn_) {
      auto [before, after] = pool_.pairs[generator_.index(pool_.pairs.size())];
      before[pool_.process_at] = after[pool_.process_at] = std::int64_t{n_drawn_};
      rows_of(pool_.baseline).rows.push_back(std::move(before));
      rows_of(pool_.candidate).rows.push_back(std::move(after));
    }
    return true;
  }

  GateInput input() const { return {&pool_.baseline, &pool_.candidate, nullptr, nullptr, false}; }
  int n_drawn() const { return n_drawn_; }

 private:
  Pool& pool_;
  stats::Generator& generator_;
  int n_drawn_ = 0;
};

// The first figure over every pair at hand, whatever the looks ask for.
std::vector<double> differences_of(Pool& pool, Policy policy) {
  rows_of(pool.baseline).rows.clear();
  rows_of(pool.candidate).rows.clear();
  for (std::size_t i = 0; i < pool.pairs.size(); ++i) {
    auto [before, after] = pool.pairs[i];
    before[pool.process_at] = after[pool.process_at] = static_cast<std::int64_t>(i);
    rows_of(pool.baseline).rows.push_back(std::move(before));
    rows_of(pool.candidate).rows.push_back(std::move(after));
  }
  policy.looks = {1};
  policy.misses = {0.4};
  const GateVerdict verdict =
      judge({&pool.baseline, &pool.candidate, nullptr, nullptr, true}, policy);
  return verdict.figures.empty() ? std::vector<double>{} : verdict.figures.front().differences;
}

std::string name_in_lower_case(Outcome outcome) {
  std::string name = outcome_name(outcome);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

results::Metric share_metric(const Rehearsal& rehearsal, Outcome outcome) {
  const std::int64_t count = rehearsal.count(outcome), n = rehearsal.n_gates;
  results::Metric metric{"share." + name_in_lower_case(outcome), {}, "1", {}, {}, {}, ""};
  metric.value = static_cast<double>(count) / static_cast<double>(n);
  metric.lower = stats::clopper_pearson_lower(count, n, (1.0 - kLevel) / 2.0);
  metric.upper = stats::clopper_pearson_upper(count, n, (1.0 - kLevel) / 2.0);
  metric.level = kLevel;
  metric.note = fmt::format("{} of {} gates", count, n);
  return metric;
}

results::NamedTable ending_table(const Rehearsal& rehearsal, const Policy& policy) {
  results::NamedTable table{"rehearsal", {"look", "pairs", "outcome", "gates"}, {}};
  for (std::size_t look = 0; look < rehearsal.ended.size(); ++look)
    for (const Outcome outcome : kOutcomes)
      if (const std::int64_t n = rehearsal.ended[look][static_cast<std::size_t>(outcome)]; n > 0)
        table.rows.push_back({static_cast<std::int64_t>(look + 1), std::int64_t{policy.looks[look]},
                              std::string(outcome_name(outcome)), n});
  return table;
}

}  // namespace

std::int64_t Rehearsal::count(Outcome outcome) const {
  std::int64_t n = 0;
  for (const auto& look : ended) n += look[static_cast<std::size_t>(outcome)];
  return n;
}

Rehearsal rehearse(const RehearsalInput& input, const Policy& policy, std::int64_t n_gates,
                   std::uint64_t seed) {
  if (n_gates < 1) throw std::invalid_argument("a rehearsal plays one gate or more");
  Pool pool = pool_of(input);
  stats::Generator generator(seed);
  Rehearsal rehearsal;
  rehearsal.n_pairs = static_cast<std::int64_t>(pool.pairs.size());
  rehearsal.n_gates = n_gates;
  rehearsal.ended.resize(policy.looks.size());
  rehearsal.differences = differences_of(pool, policy);
  for (std::int64_t i = 0; i < n_gates; ++i) {
    Play play(pool, generator);
    const GateVerdict verdict = run_looks(
        policy, [&](int n) { return play.draw_until(n); }, [&] { return play.input(); });
    const std::size_t look = look_of(policy, play.n_drawn());
    const auto outcome = static_cast<std::size_t>(verdict.outcome);
    if (rehearsal.count(verdict.outcome) == 0) rehearsal.first_sentence[outcome] = verdict.sentence;
    ++rehearsal.ended[look][outcome];
  }
  return rehearsal;
}

results::Record rehearsal_record(const Rehearsal& rehearsal, const RehearsalInput& input,
                                 const Policy& policy) {
  results::Record record;
  record.suite = "rehearsal";
  record.options = policy_entries(policy);
  const results::Record& measured = *input.candidate.front();
  record.environment = measured.environment;
  record.build = measured.build;
  record.model = measured.model;
  for (const Outcome outcome : kOutcomes)
    record.metrics.push_back(share_metric(rehearsal, outcome));
  if (rehearsal.differences.size() >= 2) {
    record.metrics.push_back(
        {"spread." + policy.figures.front(),
         std::sqrt(stats::variance(rehearsal.differences)),
         "1",
         {},
         {},
         {},
         fmt::format("standard deviation of ln over {} pairs", rehearsal.n_pairs)});
    record.metrics.push_back({"slowdown." + policy.figures.front(),
                              share_of(stats::median(rehearsal.differences)),
                              "1",
                              {},
                              {},
                              {},
                              fmt::format("median over {} pairs", rehearsal.n_pairs)});
  }
  record.tables.push_back(ending_table(rehearsal, policy));
  record.verdict = fmt::format(
      "{} gates drawn from {} pairs: {} PASS, {} FAIL, {} INCONCLUSIVE, {} VOID", rehearsal.n_gates,
      rehearsal.n_pairs, rehearsal.count(Outcome::kPass), rehearsal.count(Outcome::kFail),
      rehearsal.count(Outcome::kInconclusive), rehearsal.count(Outcome::kVoid));
  for (const Outcome outcome : {Outcome::kFail, Outcome::kInconclusive, Outcome::kVoid})
    if (const auto& sentence = rehearsal.first_sentence[static_cast<std::size_t>(outcome)];
        !sentence.empty())
      record.notes.push_back("For example, " + sentence);
  record.notes.push_back(
      "The intervals are of the drawing alone: a disturbance that none of the pairs at hand met is "
      "in no drawn gate either.");
  return record;
}

}  // namespace specbench::ci
