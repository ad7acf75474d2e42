#include "suites/gate_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "engine/error.h"
#include "harness/environment.h"
#include "results/record_file.h"
#include "suites/process_values.h"
#include "suites/read_record.h"

namespace specbench::suites {

namespace {

/// Words of the gate's own command line that neither program must see; --suite is given anew.
constexpr std::string_view kGateOptions[] = {
    "--suite",  "--baseline", "--candidate", "--baseline-binary", "--candidate-binary",
    "--policy", "--protocol"};

/// What a part depends on: both programs' bytes, the machine, every word of the command line.
std::string identity_of(const Options& options, std::int64_t lossless_samples) {
  const harness::Environment machine = harness::capture_environment();
  const auto hash = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return harness::fnv1a(std::string{std::istreambuf_iterator<char>(file), {}});
  };
  std::string text = fmt::format("{:016x} {:016x} {} {}", hash(options.baseline_binary),
                                 hash(options.candidate_binary), machine.cpu_model.value_or("?"),
                                 lossless_samples);
  for (const std::string& word : words_for_child(options.arguments, {})) text += '\n' + word;
  return text + '\n';
}

void place(const std::string& path, std::optional<results::Record>& timed,
           std::optional<results::Record>& lossless) {
  results::Record record = read_record(path);
  std::optional<results::Record>& slot = record.suite == "lossless" ? lossless : timed;
  if (slot)
    throw engine::InputError(path + " is a second record of one kind on this side (suite " +
                             record.suite + "); give one of latency and one of lossless.");
  slot = std::move(record);
}

results::Value vector_target(const results::Record& record) {
  for (const auto& [key, value] : record.environment)
    if (key == "vector_target") return value;
  return {};
}

/// One of the baseline's is another or gone; a new one of the candidate's is none of its matter.
bool has_changed_counter(const results::Record& baseline, const results::Record& candidate) {
  return std::any_of(baseline.counters.begin(), baseline.counters.end(), [&](const auto& counter) {
    const std::int64_t* other = results::find_counter(candidate, counter.first);
    return other == nullptr || *other != counter.second;
  });
}

}  // namespace

GateRecords read_gate_records(const Options& options) {
  GateRecords records;
  for (const std::string& path : options.baseline)
    place(path, records.baseline, records.baseline_lossless);
  for (const std::string& path : options.candidate)
    place(path, records.candidate, records.candidate_lossless);
  return records;
}

GateRun::GateRun(const Options& options, std::int64_t lossless_samples, bool are_counters_exact,
                 const std::atomic<bool>& stop, Progress& progress)
    : options_(options),
      lossless_samples_(lossless_samples),
      are_counters_exact_(are_counters_exact),
      stop_(stop),
      progress_(progress),
      parts_((require_specbench(options.baseline_binary, stop),
              require_specbench(options.candidate_binary, stop), options.out),
             identity_of(options, lossless_samples), options.resume) {}

std::vector<std::string> GateRun::words(std::string_view suite) const {
  std::vector<std::string> all{"--suite", std::string(suite)};
  bool is_command_seen = false;  // the first bare "gate" is the command, not a value
  for (std::string& word : words_for_child(options_.arguments, kGateOptions)) {
    if (!is_command_seen && word == "gate")
      is_command_seen = true;
    else
      all.push_back(std::move(word));
  }
  return all;
}

bool GateRun::measure_laws() {
  if (lossless_samples_ == 0) return true;
  progress_.show("judging the candidate's laws", 0, 0);
  Launch launch{options_.candidate_binary, words("lossless"), "candidate-lossless"};
  std::erase(launch.words, "--stop-at-eos");
  launch.words.insert(launch.words.end(), {"--samples", std::to_string(lossless_samples_)});
  records_.candidate_lossless = measure_part(launch, parts_, stop_);
  return records_.candidate_lossless.has_value();
}

bool GateRun::measure_pair(int process) {
  const auto launch = [&](bool is_candidate) {
    Launch one{is_candidate ? options_.candidate_binary : options_.baseline_binary,
               words("latency"),
               fmt::format("{}-{}", is_candidate ? "candidate" : "baseline", process)};
    one.words.insert(one.words.end(), {"--protocol", "gate", "--process", std::to_string(process)});
    return one;
  };
  auto pair = measure_in_turn({launch(false), launch(true)},
                              options_.seed + static_cast<std::uint64_t>(process), parts_, stop_);
  if (!pair) return false;
  if (const auto log_cost = paired_log_cost(pair->first, pair->second)) {
    set_log_cost(0, pair->first);
    set_log_cost(*log_cost, pair->second);
  }
  baseline_.push_back(std::move(pair->first));
  candidate_.push_back(std::move(pair->second));
  return true;
}

void GateRun::keep_records() const {
  if (options_.out.empty()) return;
  const auto keep = [&](const std::optional<results::Record>& record, const char* side) {
    if (!record) return;
    std::filesystem::path path(options_.out);
    results::RecordFile(path.replace_extension(std::string(".") + side + ".json")).commit(*record);
  };
  keep(records_.baseline, "baseline");
  keep(records_.candidate, "candidate");
}

bool GateRun::has_decided() const {
  if (records_.candidate_lossless && records_.candidate_lossless->exit_code == kFailed) return true;
  if (baseline_.empty()) return false;
  const results::Record &before = baseline_.back(), &after = candidate_.back();
  if (before.exit_code == kFailed || after.exit_code == kFailed) return true;
  // Other vector units round otherwise: then acceptance is judged, not counts.
  return are_counters_exact_ && has_changed_counter(before, after) &&
         vector_target(before) == vector_target(after);
}

bool GateRun::measure_until(int n_processes) {
  bool is_whole = !baseline_.empty() || measure_laws();
  for (int p = static_cast<int>(baseline_.size()); is_whole && p < n_processes; ++p) {
    progress_.show(fmt::format("measuring {} pairs of processes", n_processes), p, n_processes);
    is_whole = measure_pair(p);
    if (has_decided()) break;
  }
  if (!is_whole) parts_.keep();
  const std::size_t n = std::min(baseline_.size(), candidate_.size());
  if (n > 0) {
    const auto end = static_cast<std::ptrdiff_t>(n);
    records_.baseline = merge_processes({baseline_.begin(), baseline_.begin() + end});
    records_.candidate = merge_processes({candidate_.begin(), candidate_.begin() + end});
  }
  return is_whole;
}

}  // namespace specbench::suites
