// Are the records of one kind, machine, model and set of options, and whole?
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "ci/gate_checks.h"

namespace specbench::ci {
namespace {

using results::Record;

// They say which process this is or what was planted on purpose: finding that is the gate's task.
constexpr std::string_view kFreeOptions[] = {"process", "processes", "inject", "mutant"};
// Options of time alone: a baseline of counters holds whatever they are.
constexpr std::string_view kTimingOptions[] = {"threads",     "protocol",    "blocks",
                                               "min_warmups", "max_warmups", "warmup_tolerance"};
// A baseline's options are those of its latency run; a lossless run has its own amounts.
constexpr std::string_view kAmounts[] = {"max_tokens", "prompts", "n_prompts", "batch", "samples"};

template <std::size_t kSize>
bool is_in(const std::string& key, const std::string_view (&keys)[kSize]) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

struct Differences {
  std::vector<std::string> values;    // "draft_tokens (2 and 3)"
  std::vector<std::string> one_side;  // keys that only one side knows
};

Differences option_differences(const Record& baseline, const Record& candidate, bool is_lossless) {
  Differences found;
  const bool is_timeless = baseline.suite == "baseline";
  for (const auto& [key, value] : baseline.options) {
    if (is_in(key, kFreeOptions) || (is_timeless && is_in(key, kTimingOptions))) continue;
    if (is_timeless && is_lossless && is_in(key, kAmounts)) continue;
    const results::Value* other = find_entry(candidate.options, key);
    if (other == nullptr)
      found.one_side.push_back(key);
    else if (*other != value)
      found.values.push_back(fmt::format("{} ({} and {})", key, entry_text(baseline.options, key),
                                         entry_text(candidate.options, key)));
  }
  for (const auto& [key, value] : candidate.options)
    if (find_entry(baseline.options, key) == nullptr && !is_in(key, kFreeOptions) && !is_timeless)
      found.one_side.push_back(key);
  return found;
}

// An option that only one build knows is no difference of the run: a new option has a default.
void check_options(Judgement& j, const std::string& kind, const Record& a, const Record& b,
                   bool is_lossless) {
  const Differences found = option_differences(a, b, is_lossless);
  std::string detail;
  if (!found.values.empty()) {
    detail = fmt::format("Options differ: {}; measure both sides with the same ones.",
                         fmt::join(found.values, ", "));
  } else if (a.options.empty() || b.options.empty()) {
    detail = "A record holds no options; measure both sides anew.";
  } else {
    detail = "The options are the same.";
    if (!found.one_side.empty())
      detail += fmt::format(" One side alone has {}.", fmt::join(found.one_side, ", "));
  }
  const bool is_same = found.values.empty() && !a.options.empty() && !b.options.empty();
  if (!is_same) j.is_comparable = false;
  j.add_validity("validity.options" + kind, is_same, detail);
}

void check_model(Judgement& j, const std::string& kind, const Record& a, const Record& b) {
  const std::string hash_a = entry_text(a.model, "hash"), hash_b = entry_text(b.model, "hash");
  const bool is_same = hash_a != "-" && hash_a == hash_b;
  if (!is_same) j.is_comparable = false;
  j.add_validity("validity.model" + kind, is_same,
                 is_same ? fmt::format("Both sides ran the model of hash {}.", hash_a)
                         : fmt::format("The models' hashes are {} and {}; measure both sides with "
                                       "one model.",
                                       hash_a, hash_b));
}

// Fields may have changed their meaning between versions.
void check_schema(Judgement& j, const std::string& kind, const Record& a, const Record& b) {
  const bool is_same = a.schema_version == b.schema_version;
  if (!is_same) j.is_comparable = false;
  j.add_validity("validity.schema" + kind, is_same,
                 is_same ? fmt::format("Both records have schema version {}.", a.schema_version)
                         : fmt::format("The records have schema versions {} and {}; make both with "
                                       "programs of one version.",
                                       a.schema_version, b.schema_version));
}

// Times of two machines, or of one before and after a reboot, say nothing about each other.
void check_machine(Judgement& j, const Record& a, const Record& b) {
  std::vector<std::string> differences;
  bool is_known = false;
  for (const char* key : {"cpu_model", "kernel", "boot_id"}) {
    const std::string text_a = entry_text(a.environment, key);
    const std::string text_b = entry_text(b.environment, key);
    const bool is_optional = std::string_view(key) == "boot_id";
    is_known = is_known || (text_a == text_b && text_a != "-");
    if (text_a == text_b || (is_optional && (text_a == "-" || text_b == "-"))) continue;
    differences.push_back(fmt::format("{} ({} and {})", key, text_a, text_b));
  }
  if (!is_known && differences.empty()) differences.push_back("neither record names its machine");
  j.add_validity("validity.machine", differences.empty(),
                 differences.empty()
                     ? "Both sides ran on one machine."
                     : fmt::format("The machines differ: {}; measure both sides in one job on one "
                                   "machine.",
                                   fmt::join(differences, ", ")));
}

// Void means that its times cannot be believed; where none are judged, its counts still can.
bool is_usable_without_times(const Judgement& j, const Record& record) {
  return j.is_timeless() && !(j.policy.speedup_floor > 0) && record.suite == "latency" &&
         !record.counters.empty() && results::find_metric(record, "acceptance_length") != nullptr;
}

// A candidate's exit code 1 is a finding (check_properties); a baseline's makes it no ruler.
void check_whole(Judgement& j, const std::string& side, const Record& record, bool is_baseline) {
  std::string fault;
  if (record.schema_version > results::kSchemaVersion)
    fault = fmt::format("has schema version {}, this gate reads up to {}", record.schema_version,
                        results::kSchemaVersion);
  else if (record.was_interrupted || record.exit_code == 130)
    fault = "was interrupted";
  else if ((record.exit_code == 3 || record.exit_code == 4) && !is_usable_without_times(j, record))
    fault = fmt::format("is void itself ({})", record.verdict);
  else if (is_baseline && record.exit_code == 1)
    fault = fmt::format("found its own program broken ({})", record.verdict);
  const std::string id = "validity.record." + side;
  if (fault.empty())
    j.add_validity(id, true, fmt::format("The {} record is whole.", side));
  else
    j.add_validity(id, false, fmt::format("The {} record {}; measure it anew.", side, fault));
}

void check_failed_baseline_checks(Judgement& j) {
  const Record& record = *j.input.baseline;
  for (const results::Check& check : record.checks) {
    if (check.status != results::CheckStatus::kFailed) continue;
    j.add_validity("validity.baseline_checks", false,
                   fmt::format("The baseline broke {} ({}); repair it or choose another.", check.id,
                               check.detail));
    return;
  }
}

void check_lossless_pair(Judgement& j) {
  const Record* a = j.input.baseline_lossless;
  const Record* b = j.input.candidate_lossless;
  if (b != nullptr) check_whole(j, "candidate-lossless", *b, false);
  if (a != nullptr) check_whole(j, "baseline-lossless", *a, true);
  const Record* ruler = a;
  if (ruler == nullptr && j.is_timeless()) ruler = j.input.baseline;
  if (ruler == nullptr || b == nullptr) return;
  check_schema(j, ".lossless", *ruler, *b);
  check_options(j, ".lossless", *ruler, *b, true);
  check_model(j, ".lossless", *ruler, *b);
}

}  // namespace

void check_records(Judgement& j) {
  const Record* a = j.input.baseline;
  const Record* b = j.input.candidate;
  if (b != nullptr) check_whole(j, "candidate", *b, false);
  if (a != nullptr) {
    check_whole(j, "baseline", *a, true);
    check_failed_baseline_checks(j);
  }
  if (a != nullptr && b != nullptr) {
    check_schema(j, "", *a, *b);
    check_options(j, "", *a, *b, false);
    check_model(j, "", *a, *b);
    if (j.has_times()) check_machine(j, *a, *b);
  } else if (b != nullptr) {
    j.add_validity("validity.pair", false,
                   "There is no baseline record of suite latency; give one with --baseline.");
  } else if (a != nullptr && a->suite == "latency") {
    j.add_validity("validity.pair", false,
                   "There is no candidate record of suite latency; give one with --candidate.");
  }
  if (a == nullptr && b == nullptr && j.input.baseline_lossless == nullptr)
    j.add_validity("validity.pair", false,
                   "There is no record of the baseline; give one with --baseline.");
  check_lossless_pair(j);
}

}  // namespace specbench::ci
