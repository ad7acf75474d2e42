#include "ci/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "ci/gate_checks.h"

namespace specbench::ci {
namespace {

void need_suite(const char* side, const results::Record* record,
                std::initializer_list<std::string_view> suites) {
  if (record == nullptr) return;
  if (std::find(suites.begin(), suites.end(), record->suite) != suites.end()) return;
  throw std::invalid_argument(fmt::format("the {} record is of suite '{}'; a gate takes {}", side,
                                          record->suite, fmt::join(suites, " or ")));
}

void need_records(const GateInput& input) {
  need_suite("baseline", input.baseline, {"latency", "baseline"});
  need_suite("candidate", input.candidate, {"latency"});
  need_suite("baseline's lossless", input.baseline_lossless, {"lossless"});
  need_suite("candidate's lossless", input.candidate_lossless, {"lossless"});
  if (input.candidate == nullptr && input.candidate_lossless == nullptr)
    throw std::invalid_argument(
        "there is no record of the candidate; give one of suite latency or lossless");
}

bool has(const std::vector<GateCheck>& checks, Outcome outcome) {
  return std::any_of(checks.begin(), checks.end(),
                     [&](const GateCheck& check) { return check.outcome == outcome; });
}

// FAIL first: times are not judged where validity is broken, so what fails then is a property.
Outcome worst_of(const std::vector<GateCheck>& checks) {
  for (const Outcome outcome : {Outcome::kFail, Outcome::kVoid, Outcome::kInconclusive})
    if (has(checks, outcome)) return outcome;
  return Outcome::kPass;
}

// Processes for the next look, if more of them can end the doubt; else 0.
int wanted(const Judgement& j, Outcome outcome) {
  if (j.input.is_last_look || !j.has_times() || j.is_void_for_good) return 0;
  const bool is_open = outcome == Outcome::kVoid || outcome == Outcome::kInconclusive;
  const bool is_in_times =
      std::any_of(j.checks.begin(), j.checks.end(), [](const GateCheck& check) {
        return check.outcome != Outcome::kPass && check.outcome != Outcome::kFail &&
               (check.id.rfind("slowdown.", 0) == 0 || check.id.rfind("floor.", 0) == 0);
      });
  if (!is_open || !is_in_times) return 0;
  for (const int n : j.policy.looks)
    if (n > j.pairs.n()) return n;
  return 0;
}

std::string pass_sentence(const Judgement& j) {
  std::string text = "PASS: ";
  if (j.figures.empty()) text += "counters and laws hold, time was not judged";
  for (const GateCheck& check : j.checks) {
    if (check.id.rfind("slowdown.", 0) != 0 || !check.upper) continue;
    text += fmt::format("{}{} at most {} slower", text.size() > 6 ? ", " : "", check.id.substr(9),
                        percent(std::max(0.0, *check.upper)));
  }
  if (!j.figures.empty()) text += fmt::format(" ({} processes a side)", j.pairs.n());
  if (j.input.candidate_lossless == nullptr) text += "; laws were not judged";
  return text + fmt::format("; all {} checks passed.", j.checks.size());
}

std::string sentence_of(const Judgement& j, Outcome outcome) {
  if (outcome == Outcome::kPass) return pass_sentence(j);
  std::string text = outcome_name(outcome);
  std::size_t n_more = 0;
  bool is_first = true;
  for (const GateCheck& check : j.checks) {
    // What was not judged because of another check is no reason of its own.
    if (check.outcome != outcome) continue;
    if (is_first) text += ": " + check.id + ". " + check.detail;
    n_more += !is_first && check.detail.rfind("Not judged", 0) != 0;
    is_first = false;
  }
  if (n_more > 0) text += fmt::format(" ({} more)", n_more);
  return text;
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "PASS";
    case Outcome::kFail:
      return "FAIL";
    case Outcome::kInconclusive:
      return "INCONCLUSIVE";
    case Outcome::kVoid:
      break;
  }
  return "VOID";
}

GateVerdict judge(const GateInput& input, const Policy& policy) {
  need_records(input);
  Judgement j{input, policy, {}, true, true, false, {}, {}};
  check_records(j);
  check_processes(j);
  check_instrument(j);
  check_properties(j);
  check_counters(j);
  check_floor(j);
  check_slowdowns(j);
  check_drift(j);
  check_identities(j);
  GateVerdict verdict;
  verdict.outcome = worst_of(j.checks);
  verdict.sentence = sentence_of(j, verdict.outcome);
  verdict.n_wanted = wanted(j, verdict.outcome);
  verdict.checks = std::move(j.checks);
  verdict.figures = std::move(j.figures);
  return verdict;
}

}  // namespace specbench::ci
