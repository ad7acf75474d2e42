// Acceptance against the baseline where counts need not be equal: by interval.
#include <fmt/format.h>

#include "ci/gate_checks.h"
#include "stats/binomial.h"

namespace specbench::ci {
namespace {

// Exact two-sided interval of accepted / drafted.
struct Acceptance {
  std::int64_t accepted = -1;  // -1: a counter is missing or impossible
  std::int64_t drafted = 0;
  double rate = 0.0;
  double lower = 0.0;
  double upper = 1.0;
};

Acceptance acceptance_of(const results::Record& record, double miss) {
  const std::int64_t* accepted = results::find_counter(record, "accepted");
  const std::int64_t* drafted = results::find_counter(record, "drafted");
  Acceptance a;
  if (accepted == nullptr || drafted == nullptr || *accepted < 0 || *accepted > *drafted) return a;
  a.accepted = *accepted;
  a.drafted = *drafted;
  if (a.drafted == 0) return a;
  a.rate = static_cast<double>(a.accepted) / static_cast<double>(a.drafted);
  a.lower = stats::clopper_pearson_lower(a.accepted, a.drafted, 0.5 * miss);
  a.upper = stats::clopper_pearson_upper(a.accepted, a.drafted, 0.5 * miss);
  return a;
}

struct Finding {
  Outcome outcome;
  const char* words;
};

// A fall always fails. A rise is what a better drafter shows, and a rule that accepts too much.
Finding compare(const Acceptance& baseline, const Acceptance& candidate, CounterRule rule) {
  if (candidate.upper < baseline.lower)
    return {Outcome::kFail, "it fell; find out why, or make the baseline anew"};
  if (candidate.lower <= baseline.upper) return {Outcome::kPass, "the intervals overlap"};
  if (rule == CounterRule::kName)
    return {Outcome::kPass, "it rose, which the policy asks to name only"};
  return {Outcome::kFail,
          "it rose: a better drafter (then use \"counters\": \"name\" in the policy) or a rule "
          "that accepts too much"};
}

}  // namespace

void compare_acceptance(Judgement& j, const std::string& id, const results::Record& baseline,
                        const results::Record& candidate, const std::string& reason) {
  const Acceptance a = acceptance_of(baseline, j.policy.acceptance_miss);
  const Acceptance b = acceptance_of(candidate, j.policy.acceptance_miss);
  if (a.accepted < 0 || b.accepted < 0) {
    j.add(id, Outcome::kVoid,
          reason + "A record has no legal counters accepted and drafted; measure it anew.");
    return;
  }
  if (a.drafted == 0 || b.drafted == 0) {
    j.add(id, a.drafted == b.drafted ? Outcome::kPass : Outcome::kFail,
          fmt::format("{}The baseline drafted {} tokens, the candidate {}.", reason, a.drafted,
                      b.drafted));
    return;
  }
  const Finding found = compare(a, b, j.policy.counters);
  GateCheck& check =
      j.add(id, found.outcome,
            fmt::format("{}The share of drafts accepted is {:.4f} ({:.4f}..{:.4f}), the baseline's "
                        "{:.4f} ({:.4f}..{:.4f}): {}.",
                        reason, b.rate, b.lower, b.upper, a.rate, a.lower, a.upper, found.words));
  check.value = b.rate;
  check.lower = b.lower;
  check.upper = b.upper;
  check.threshold = a.rate;
}

}  // namespace specbench::ci
