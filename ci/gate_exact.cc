// What needs no statistics: the candidate's own checks, its exact counters, its identities.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "ci/gate_checks.h"

namespace specbench::ci {
namespace {

using results::Check;
using results::CheckStatus;
using results::Record;

constexpr std::size_t kMaxNamed = 5;  // of what differs; the rest is counted

bool starts_with(const std::string& text, std::string_view start) {
  return text.rfind(start, 0) == 0;
}

bool is_identity(const Check& check) {
  return starts_with(check.id, "identity.") || starts_with(check.id, "equal.");
}

std::string joined(const std::vector<std::string>& items) {
  std::vector<std::string> named(
      items.begin(),
      items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), kMaxNamed)));
  std::string text = fmt::format("{}", fmt::join(named, "; "));
  if (items.size() > kMaxNamed) text += fmt::format("; and {} more", items.size() - kMaxNamed);
  return text;
}

// "name: 3 instead of 5", one a counter that is not equal.
std::vector<std::string> counter_changes(const Record& baseline, const Record& candidate) {
  std::vector<std::string> changes;
  for (const auto& [name, count] : baseline.counters) {
    const std::int64_t* other = results::find_counter(candidate, name);
    if (other == nullptr)
      changes.push_back(fmt::format("{}: missing instead of {}", name, count));
    else if (*other != count)
      changes.push_back(fmt::format("{}: {} instead of {}", name, *other, count));
  }
  return changes;
}

void compare_exactly(Judgement& j, const Record& baseline, const Record& candidate) {
  const std::vector<std::string> changes = counter_changes(baseline, candidate);
  const bool is_named = j.policy.counters == CounterRule::kName;
  if (changes.empty()) {
    j.add("counters.exact", Outcome::kPass,
          fmt::format("All {} exact counters are equal.", baseline.counters.size()));
    return;
  }
  const std::string what = fmt::format("{} of {} exact counters changed: {}", changes.size(),
                                       baseline.counters.size(), joined(changes));
  GateCheck& check =
      j.add("counters.exact", is_named ? Outcome::kPass : Outcome::kFail,
            is_named ? what + ". The policy asks for their names only."
                     : what +
                           ". Other tokens or other work under the same seed: if that is meant, "
                           "use \"counters\": \"name\" in the policy.");
  check.value = static_cast<double>(changes.size());
  check.threshold = 0.0;
}

void check_record_properties(Judgement& j, const std::string& side, const Record& record) {
  std::vector<std::string> broken;
  bool has_failed = false;
  for (const Check& check : record.checks) {
    if (check.status != CheckStatus::kFailed) continue;
    has_failed = true;
    if (!is_identity(check)) broken.push_back(check.id + " (" + check.detail + ")");
  }
  if (broken.empty() && !has_failed && record.exit_code == 1) broken.push_back(record.verdict);
  if (broken.empty()) {
    if (!has_failed)
      j.add("property." + side, Outcome::kPass,
            fmt::format("None of the {}'s own {} checks failed.", side, record.checks.size()));
    return;
  }
  j.add("property." + side, Outcome::kFail,
        fmt::format("The {} broke: {}. Repeat it: {}", side, joined(broken), record.command_line));
}

}  // namespace

void check_properties(Judgement& j) {
  // A lossless record's exit code and laws are judged by check_drift.
  if (j.input.candidate != nullptr) check_record_properties(j, "candidate", *j.input.candidate);
}

void check_counters(Judgement& j) {
  if (j.input.baseline == nullptr || j.input.candidate == nullptr) return;
  const Record& baseline = *j.input.baseline;
  const Record& candidate = *j.input.candidate;
  if (!j.is_comparable) {
    j.add("counters.exact", Outcome::kVoid,
          "Not judged: the two sides did not run the same work; see validity.");
    return;
  }
  if (baseline.counters.empty()) {
    j.add("counters.exact", j.is_timeless() ? Outcome::kPass : Outcome::kVoid,
          j.is_timeless()
              ? "Not applicable: the baseline holds no counters, being of suite lossless."
              : "The baseline holds no counters; measure it anew.");
    return;
  }
  const std::string target = entry_text(baseline.environment, "vector_target");
  const std::string other = entry_text(candidate.environment, "vector_target");
  if (target == other) return compare_exactly(j, baseline, candidate);
  compare_acceptance(j, "counters.acceptance", baseline, candidate,
                     fmt::format("Across vector targets ({} and {}) counters may differ by "
                                 "rounding. ",
                                 target, other));
}

void check_identities(Judgement& j) {
  const std::pair<const Record*, const Record*> sides[] = {
      {j.input.baseline, j.input.candidate},
      {j.input.baseline_lossless, j.input.candidate_lossless}};
  int n_passed = 0;
  std::vector<std::string> broken, missing;
  for (const auto& [baseline, candidate] : sides) {
    if (candidate == nullptr) continue;
    std::set<std::string> judged;
    for (const Check& check : candidate->checks) {
      if (!is_identity(check)) continue;
      if (check.status != CheckStatus::kSkipped) judged.insert(check.id);
      n_passed += check.status == CheckStatus::kPassed;
      if (check.status == CheckStatus::kFailed)
        broken.push_back(check.id + " (" + check.detail + ")");
    }
    if (baseline == nullptr) continue;
    for (const Check& check : baseline->checks)
      if (is_identity(check) && check.status == CheckStatus::kPassed && judged.count(check.id) == 0)
        missing.push_back(check.id);
  }
  if (!broken.empty())
    j.add("identities", Outcome::kFail,
          "Broken: " + joined(broken) + ". Counters that contradict each other are a bug.");
  else if (!missing.empty())
    j.add("identities", Outcome::kVoid,
          "The baseline asserts what the candidate does not: " + joined(missing) +
              "; a check that is gone is not a check that holds.");
  else if (n_passed == 0)
    j.add("identities", Outcome::kVoid,
          "The candidate's records assert no identity; measure them anew.");
  else
    j.add("identities", Outcome::kPass, fmt::format("{} identities hold.", n_passed));
}

}  // namespace specbench::ci
