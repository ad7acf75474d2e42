// The command line: parse, open what can fail, run one suite or command, write the record, exit.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "build_info.h"
#include "ci/gate.h"
#include "ci/looks.h"
#include "ci/policy.h"
#include "ci/rehearsal.h"
#include "engine/error.h"
#include "results/output.h"
#include "results/record_file.h"
#include "results/record_json.h"
#include "results/table.h"
#include "suites/calibration.h"
#include "suites/context.h"
#include "suites/gate_run.h"
#include "suites/generate.h"
#include "suites/info.h"
#include "suites/kv.h"
#include "suites/latency.h"
#include "suites/lossless.h"
#include "suites/model.h"
#include "suites/processes.h"
#include "suites/read_record.h"
#include "suites/report.h"
#include "suites/selftest.h"
#include "suites/sequential.h"
#include "suites/sweep.h"

namespace {

using namespace specbench;
using suites::ExitCode;

std::atomic<bool> g_stop{false};

/// What is measured is kept. Before that there is nothing to keep, and a signal ends the program at
/// once, whatever it waits for: a model of many gigabytes, a pipe.
std::atomic<bool> g_has_begun{false};
char g_temporaries[2][4096];  // of --out

void remove_at_signal(const std::filesystem::path& record, const std::filesystem::path& samples) {
  std::snprintf(g_temporaries[0], sizeof g_temporaries[0], "%s", record.c_str());
  std::snprintf(g_temporaries[1], sizeof g_temporaries[1], "%s", samples.c_str());
}

/// Of a signal handler, or where a library has ended the program.
[[noreturn]] void end_at_once(std::string_view sentence, ExitCode code) {
  for (const auto& temporary : g_temporaries)
    if (temporary[0] != '\0') ::unlink(temporary);
  (void)!::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(code);
}

extern "C" void on_interrupt(int number) {
  if (!g_has_begun)
    end_at_once("specbench: interrupted before anything was measured.\n", ExitCode::kInterrupted);
  g_stop = true;
  std::signal(number, SIG_DFL);  // a second Ctrl-C ends at once
}

/// One line on standard error, whatever the sentence holds. Not fmt::print, which throws where
/// nobody reads.
void complain(std::string sentence) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  std::fprintf(stderr, "specbench: %s\n", sentence.c_str());
}

/// What the handler of SIGBUS says: made beforehand, since a handler may not make anything.
char g_lost_model[512];
std::atomic_flag g_is_lost;  // every thread may come upon it; one speaks

/// Weights are pages of a file. Where it is cut short while they are used, or its disk fails, the
/// page that is touched cannot be had, and there is nothing to go back to.
extern "C" void on_lost_page(int) {
  while (g_is_lost.test_and_set()) ::pause();
  (void)!::write(STDERR_FILENO, g_lost_model, std::strlen(g_lost_model));
  ::_exit(ExitCode::kUsage);
}

/// From here on a page of the model that is gone ends the program with a sentence.
void expect_lost_pages(const std::string& model) {
  std::snprintf(g_lost_model, sizeof g_lost_model,
                "specbench: the model %.300s was cut short or could not be read while it was in "
                "use; leave its files alone until the run has ended.\n",
                model.c_str());
  std::replace(g_lost_model, g_lost_model + std::strlen(g_lost_model) - 1, '\n', ' ');
  std::signal(SIGBUS, on_lost_page);
}

/// A descriptor below 3 that the caller has closed would go to the next file opened: a model or
/// the record. A read-only one takes its place, so that writing still fails.
void occupy_standard_descriptors() {
  for (int file = 0; file < 3; ++file)
    if (::fcntl(file, F_GETFD) == -1) (void)::open("/dev/null", O_RDONLY);
}

/// OpenMP ends the program where it gets no thread, with the exit code of a failed property.
bool g_has_ended = false;
extern "C" void on_exit_of_a_library() {
  if (!g_has_ended)
    end_at_once("specbench: a library could not go on, as it says above; try fewer --threads.\n",
                ExitCode::kVoid);
}

void listen_to_signals() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is an error of writing, not our end
}

template <typename File>
std::optional<File> open_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return File(path);
  } catch (const std::invalid_argument& error) {
    throw engine::InputError(std::string("--out: ") + error.what() + ".");
  }
}

void run_lossless_mode(const suites::Context& context, results::Record& record) {
  if (context.options.analyze_calibration) return suites::run_calibration(context, record);
  if (context.options.sequential) return suites::run_sequential(context, record);
  suites::run_lossless(context, record);
}

void run(const suites::Context& context, results::Record& record) {
  switch (context.options.command) {
    case suites::Command::kGenerate:
      return suites::run_generate(context, record);
    case suites::Command::kInfo:
      return suites::run_info(context, record);
    default:
      break;
  }
  if (context.options.suite == "sweep") return suites::run_sweep(context, record);
  if (context.options.suite == "model") return suites::run_model(context, record);
  if (context.options.suite == "latency") return suites::run_latency(context, record);
  if (context.options.suite == "selftest") return suites::run_selftest(context, record);
  if (context.options.suite == "lossless") return run_lossless_mode(context, record);
  return suites::run_kv(context, record);
}

/// Runs what was asked for; a broken invariant becomes a verdict.
void run_to_verdict(const suites::Context& context, results::Record& record) {
  try {
    run(context, record);
  } catch (const engine::StateViolation& violation) {
    record.exit_code = ExitCode::kFailed;
    record.verdict = std::string("FAILED: an invariant of decoding is broken. ") + violation.what();
    record.checks.push_back({"state", results::CheckStatus::kFailed, violation.what()});
  }
}

results::Entries describe_build() {
  return {{"commit", std::string(kBuildCommit)},
          {"is_dirty", kBuildDirty},
          {"compiler", std::string(kBuildCompiler)},
          {"type", std::string(kBuildType)},
          {"flags", std::string(kBuildFlags)}};
}

/// Ctrl-C is told by the exit code, but never in place of a failure.
void note_interrupt(results::Record& record) {
  record.was_interrupted = true;
  record.verdict = "INTERRUPTED; what was measured is kept. " + record.verdict;
  if (record.exit_code != ExitCode::kFailed) record.exit_code = ExitCode::kInterrupted;
}

/// False, with a sentence on standard error, where the result could not be kept.
template <typename File, typename Content>
bool keep(std::optional<File>& file, const Content& content) {
  try {
    if (file) file->commit(content);
    return true;
  } catch (const std::runtime_error& error) {
    complain(std::string("--out: ") + error.what() + ".");
    return false;
  }
}

/// False, with a sentence on standard error, where standard output did not take the text.
bool show(const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                          std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written)
    complain(
        "Standard output could not be written; a record asked for with --out is not affected.");
  return is_written;
}

/// Colour is for people: on a terminal, and where https://no-color.org is not asked for.
bool wants_colour() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         terminal != nullptr && std::string_view(terminal) != "dumb";
}

/// Keeps the record before anything is printed, and returns the exit code.
int finish(const suites::Options& options, const results::Record& record,
           std::optional<results::RecordFile>& file) {
  const bool is_generated_text = record.suite == "generate" && options.format == "text";
  const bool is_kept = keep(file, record);
  const bool is_shown =
      show(options.format == "json" ? results::to_json(record)
           : is_generated_text      ? suites::generated_text(record)
           : record.suite == "model"
               ? results::render_record(suites::without_tokens(record), wants_colour())
               : results::render_record(record, wants_colour()));
  if (is_generated_text && record.exit_code != ExitCode::kPassed) complain(record.verdict);
  if ((is_kept && is_shown) || record.exit_code == ExitCode::kFailed) return record.exit_code;
  return ExitCode::kVoid;
}

results::Record measure_here(const suites::Options& options, suites::Progress& progress) {
  expect_lost_pages(options.model.empty() ? "austen-10m" : options.model);
  const suites::Context context = suites::open_context(options, g_stop, progress);
  g_has_begun = true;
  results::Record record = suites::start_record(context);
  record.build = describe_build();
  run_to_verdict(context, record);
  return record;
}

ci::GateInput input_of(const suites::GateRecords& records) {
  const auto at = [](const auto& side) { return side ? &*side : nullptr; };
  ci::GateInput input;
  input.baseline = at(records.baseline);
  input.candidate = at(records.candidate);
  input.baseline_lossless = at(records.baseline_lossless);
  input.candidate_lossless = at(records.candidate_lossless);
  return input;
}

ci::Policy policy_of(const suites::Options& options) {
  try {
    return options.policy.empty() ? ci::Policy{} : ci::read_policy(options.policy);
  } catch (const std::invalid_argument& error) {
    throw engine::InputError(std::string("--policy: ") + error.what() + ".");
  }
}

/// How often would this policy have been right with the pairs that the records hold?
results::Record rehearse_gate(const suites::Options& options, const ci::Policy& policy) {
  const std::vector<results::Record> baseline = suites::read_records(options.baseline);
  const std::vector<results::Record> candidate = suites::read_records(options.candidate);
  ci::RehearsalInput input;
  for (const results::Record& record : baseline) input.baseline.push_back(&record);
  for (const results::Record& record : candidate) input.candidate.push_back(&record);
  try {
    return ci::rehearsal_record(ci::rehearse(input, policy, options.rehearse, options.seed), input,
                                policy);
  } catch (const std::invalid_argument& error) {
    throw engine::InputError(std::string(error.what()) + ".");
  }
}

/// Records at hand are judged as they are; programs are measured in looks.
results::Record run_gate(const suites::Options& options, suites::Progress& progress) {
  ci::Policy policy = policy_of(options);
  if (options.rehearse > 0) return rehearse_gate(options, policy);
  if (!options.baseline.empty()) {
    // Records measured apart have no cost; a policy of one's own stands as it is.
    if (options.policy.empty()) policy.figures = {"speedup"};
    const suites::GateRecords records = suites::read_gate_records(options);
    ci::GateInput input = input_of(records);
    input.is_last_look = true;
    try {
      return ci::gate_record(ci::judge(input, policy), input, policy);
    } catch (const std::invalid_argument& error) {
      throw engine::InputError(std::string(error.what()) + ".");
    }
  }
  g_has_begun = true;
  const bool are_counters_exact = policy.counters == ci::CounterRule::kFail;
  suites::GateRun run(options, policy.lossless_samples, are_counters_exact, g_stop, progress);
  const auto measure = [&](int n_processes) { return run.measure_until(n_processes); };
  const auto input = [&] { return input_of(run.records()); };
  const ci::GateVerdict verdict = ci::run_looks(policy, measure, input);
  run.keep_records();
  return ci::gate_record(verdict, input(), policy);
}

results::Record run_record(const suites::Options& options, suites::Progress& progress) {
  results::Record record;
  if (options.command == suites::Command::kGate)
    record = run_gate(options, progress);
  else if (options.processes == 1)
    return measure_here(options, progress);
  else {
    g_has_begun = true;
    record = suites::run_latency_processes(options, g_stop, progress);
  }
  record.command_line = options.command_line;
  if (record.build.empty()) record.build = describe_build();
  return record;
}

int write_report(const suites::Options& options) {
  auto file = open_file<results::OutputFile>(options.out);
  if (file) remove_at_signal(file->temporary(), {});
  const std::string text = suites::run_report(options);
  if (file) return keep(file, text) ? ExitCode::kPassed : ExitCode::kVoid;
  return show(text) ? ExitCode::kPassed : ExitCode::kVoid;
}

int run_program(int argc, char** argv) {
  suites::Options options;
  if (!suites::parse_options(argc, argv, options))
    return show("") ? ExitCode::kPassed : ExitCode::kVoid;
  if (options.command == suites::Command::kReport) return write_report(options);
  auto file = open_file<results::RecordFile>(options.out);
  if (file) remove_at_signal(file->temporary(), file->samples_temporary());
  suites::Progress progress(options.quiet);
  const auto begin = std::chrono::steady_clock::now();
  results::Record record = run_record(options, progress);
  progress.clear();
  record.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (g_stop) note_interrupt(record);
  return finish(options, record, file);
}

int run_to_exit_code(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const engine::InputError& error) {
    complain(error.what());
    return ExitCode::kUsage;
  } catch (const std::bad_alloc&) {
    complain(
        "there is not enough memory for this model, batch and length; lower --batch or "
        "--max-tokens.");
    return ExitCode::kVoid;
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what());
    return ExitCode::kVoid;
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  listen_to_signals();
  std::atexit(on_exit_of_a_library);
  const int code = run_to_exit_code(argc, argv);
  g_has_ended = true;
  return code;
}
