// Has the law of the output drifted? The candidate's own proof, and its acceptance against the
// baseline's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ci/gate_checks.h"

namespace specbench::ci {
namespace {

using results::Record;
using results::TestRow;

// The record that holds the baseline's laws; null if none does.
const Record* ruler_of(const Judgement& j) {
  if (j.input.baseline_lossless != nullptr) return j.input.baseline_lossless;
  return j.is_timeless() ? j.input.baseline : nullptr;
}

void check_verdict(Judgement& j, const Record& candidate) {
  const int code = candidate.exit_code;
  if (code == 1)
    j.add("drift.lossless", Outcome::kFail,
          fmt::format("{} Repeat it: {}", candidate.verdict, candidate.command_line));
  else if (code == 2)
    j.add("drift.lossless", Outcome::kInconclusive, candidate.verdict);
  else if (code == 0 && !candidate.was_interrupted)
    j.add("drift.lossless", Outcome::kPass, candidate.verdict);
  else
    j.add("drift.lossless", Outcome::kVoid,
          fmt::format("The run has no verdict: {}", candidate.verdict));
}

void check_laws(Judgement& j, const Record& candidate, const Record* ruler) {
  std::set<std::string> ids;
  std::vector<std::string> failing;
  for (const TestRow& row : candidate.tests) {
    ids.insert(row.id);
    if (row.verdict == "FAIL") failing.push_back(row.id);
  }
  std::vector<std::string> missing;
  if (ruler != nullptr) {
    for (const TestRow& row : ruler->tests)
      if (ids.count(row.id) == 0) missing.push_back(row.id);
  }
  if (!failing.empty()) {
    const auto worst = std::find_if(candidate.tests.begin(), candidate.tests.end(),
                                    [&](const TestRow& row) { return row.id == failing.front(); });
    GateCheck& check = j.add("drift.laws", Outcome::kFail,
                             fmt::format("{} of {} laws fail, {} first: {}", failing.size(),
                                         candidate.tests.size(), worst->id, worst->reason));
    check.value = static_cast<double>(failing.size());
    check.threshold = 0.0;
  } else if (!missing.empty()) {
    j.add("drift.laws", Outcome::kVoid,
          fmt::format("{} of the baseline's laws were not tested, {} first; a law that is not "
                      "looked at does not hold. Make the baseline anew if they were renamed.",
                      missing.size(), missing.front()));
  } else {
    j.add("drift.laws", Outcome::kPass,
          fmt::format("None of {} laws fails.", candidate.tests.size()));
  }
}

// Where the baseline reaches the bound and the candidate does not, the candidate drifted; where
// neither does, both were measured too briefly.
void check_certified(Judgement& j, const Record& candidate, const Record* ruler) {
  const double most = j.policy.max_certified_tv;
  const auto value = metric_value(candidate, "certified_tv");
  if (!value) {
    j.add("drift.certified_tv", Outcome::kVoid,
          "The candidate's lossless record has no finite certified_tv; measure it anew.")
        .threshold = most;
    return;
  }
  const auto other = ruler == nullptr ? std::nullopt : metric_value(*ruler, "certified_tv");
  const bool is_within = *value <= most;
  const bool has_drifted = !is_within && other && *other <= most;
  const Outcome outcome = is_within     ? Outcome::kPass
                          : has_drifted ? Outcome::kFail
                                        : Outcome::kInconclusive;
  GateCheck& check = j.add(
      "drift.certified_tv", outcome,
      fmt::format("The replay certifies a drift of at most {:.2g} a token, {:.2g} is allowed{}{}",
                  *value, most, other ? fmt::format(", the baseline's is {:.2g}", *other) : "",
                  is_within     ? "."
                  : has_drifted ? ": replays differ that did not."
                                : ": raise lossless_samples."));
  check.value = value;
  check.upper = value;
  check.threshold = most;
}

void check_acceptance(Judgement& j, const Record& candidate, const Record& ruler) {
  if (!j.is_comparable) {
    j.add("drift.acceptance_length", Outcome::kVoid,
          "Not judged: the two sides did not run the same work; see validity.");
    return;
  }
  const auto value = metric_value(candidate, "acceptance_length");
  const auto other = metric_value(ruler, "acceptance_length");
  if (!value || !other) {
    j.add("drift.acceptance_length", Outcome::kVoid,
          "A record has no finite acceptance_length; measure it anew.");
    return;
  }
  compare_acceptance(
      j, "drift.acceptance_length", ruler, candidate,
      fmt::format("Acceptance length is {:.4f}, the baseline's {:.4f}. ", *value, *other));
}

void report_absence(Judgement& j) {
  const bool is_wanted = j.policy.require_lossless || j.input.baseline_lossless != nullptr;
  j.add("drift.lossless", is_wanted ? Outcome::kVoid : Outcome::kPass,
        is_wanted ? "There is no record of suite lossless of the candidate; give one with "
                    "--candidate."
                  : "Not judged: no record of suite lossless was given.");
}

}  // namespace

void check_drift(Judgement& j) {
  const Record* candidate = j.input.candidate_lossless;
  if (candidate == nullptr) return report_absence(j);
  const Record* ruler = ruler_of(j);
  check_verdict(j, *candidate);
  check_laws(j, *candidate, ruler);
  check_certified(j, *candidate, ruler);
  if (j.input.baseline_lossless != nullptr)
    check_acceptance(j, *candidate, *j.input.baseline_lossless);
}

}  // namespace specbench::ci
