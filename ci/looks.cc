#include "ci/looks.h"

#include <fmt/format.h>

#include <algorithm>

namespace specbench::ci {
namespace {

bool has_record(const GateInput& input) {
  return input.candidate != nullptr || input.candidate_lossless != nullptr;
}

// A property that is broken stays broken, however early the run ended; a slowdown does not count,
// as this was no planned look.
bool has_broken_property(const GateVerdict& verdict) {
  return std::any_of(verdict.checks.begin(), verdict.checks.end(), [](const GateCheck& check) {
    return check.outcome == Outcome::kFail && check.id.rfind("slowdown.", 0) != 0 &&
           check.id.rfind("floor.", 0) != 0;
  });
}

GateVerdict interrupted_verdict(const GateInput& input, const Policy& policy, int n_processes) {
  GateVerdict verdict;
  if (has_record(input)) verdict = judge(input, policy);
  verdict.was_interrupted = true;
  verdict.n_wanted = 0;
  if (has_broken_property(verdict)) {
    verdict.sentence = "INTERRUPTED; what was measured is judged. " + verdict.sentence;
    return verdict;
  }
  const std::string detail = fmt::format(
      "The run was interrupted before both sides had {} processes; repeat it, or go on with "
      "--resume.",
      n_processes);
  GateCheck check;
  check.id = "validity.interrupted";
  check.detail = detail;
  verdict.checks.insert(verdict.checks.begin(), std::move(check));
  verdict.outcome = Outcome::kVoid;
  verdict.sentence = "VOID: " + detail;
  return verdict;
}

}  // namespace

GateVerdict run_looks(const Policy& policy, const std::function<bool(int)>& measure_until,
                      const std::function<GateInput()>& input) {
  for (std::size_t look = 0;; ++look) {
    const bool is_whole = measure_until(policy.looks[look]);
    GateInput records = input();
    records.is_last_look = !is_whole || look + 1 == policy.looks.size();
    if (!is_whole) return interrupted_verdict(records, policy, policy.looks[look]);
    GateVerdict verdict = judge(records, policy);
    if (verdict.n_wanted == 0 || records.is_last_look) return verdict;
  }
}

}  // namespace specbench::ci
