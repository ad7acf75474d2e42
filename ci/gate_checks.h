// The parts of judge(), one group of checks each. For ci/gate*.cc and their tests; decides nothing
// about the order of outcomes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/gate.h"
#include "ci/policy.h"
#include "results/record.h"

namespace specbench::ci {

// Both sides' values of the processes that both have, in rising order of process.
struct ProcessPairs {
  std::vector<std::int64_t> process;                     // [n_pairs]
  std::map<std::string, std::vector<double>> baseline;   // column -> [n_pairs]
  std::map<std::string, std::vector<double>> candidate;  // column -> [n_pairs]
  int n() const { return static_cast<int>(process.size()); }
};

struct Judgement {
  const GateInput& input;
  const Policy& policy;
  std::vector<GateCheck> checks;
  bool is_comparable = true;      // same model, options, suite: counters may be compared
  bool is_timed = true;           // and times too
  bool is_void_for_good = false;  // no number of processes would help
  ProcessPairs pairs;
  std::vector<GateFigure> figures;

  bool has_times() const {
    return input.candidate != nullptr && input.baseline != nullptr &&
           input.baseline->suite == "latency";
  }
  // The baseline holds counters, acceptance and laws but no times.
  bool is_timeless() const {
    return input.baseline != nullptr && input.baseline->suite == "baseline";
  }
  // Adds a check and returns it, for the numbers.
  GateCheck& add(std::string id, Outcome outcome, std::string detail);
  // The same; VOID also ends the comparison of times, for good unless `may_end` says that further
  // processes can end it.
  GateCheck& add_validity(std::string id, bool is_valid, std::string detail, bool may_end = false);
};

// gate_validity.cc: records of one kind, machine, model, options; whole and not void themselves.
void check_records(Judgement& judgement);
// gate_processes.cc: the table process_values is there, finite and long enough on both sides; fills
// pairs.
void check_processes(Judgement& judgement);
// gate_processes.cc: A/A, injected arm and marked samples of each side. Requires check_processes.
void check_instrument(Judgement& judgement);
// gate_exact.cc: checks the candidate's own run failed; exact counters; identities.
void check_properties(Judgement& judgement);
void check_counters(Judgement& judgement);
void check_identities(Judgement& judgement);
// gate_acceptance.cc: accepted / drafted by binomial intervals; `reason` opens the sentence.
void compare_acceptance(Judgement& judgement, const std::string& id,
                        const results::Record& baseline, const results::Record& candidate,
                        const std::string& reason);
// gate_slowdown.cc: what is judged of times; listed as not judged where they are void.
void check_floor(Judgement& judgement);
void check_slowdowns(Judgement& judgement);
// gate_drift.cc: laws, certified_tv and acceptance against the baseline.
void check_drift(Judgement& judgement);

// The share that a logarithm of a ratio stands for: .05 for ln 1.05.
double share_of(double log_ratio);
std::string percent(double share);  // "1.23 %"

// The last look whose processes are there; 0 before the first.
std::size_t look_of(const Policy& policy, int n_processes);
// Column of process_values and sign that make a figure's ln cost: cost = sign * value.
struct FigureSource {
  const char* column;
  double sign;
};
FigureSource source_of(const std::string& figure);

// The entry of that key; null if there is none.
const results::Value* find_entry(const results::Entries& entries, const std::string& key);
// "a", "-" for an absent one.
std::string entry_text(const results::Entries& entries, const std::string& key);
// Metric's value; absent where the metric, its value or its finiteness is missing.
std::optional<double> metric_value(const results::Record& record, const std::string& name);

}  // namespace specbench::ci
