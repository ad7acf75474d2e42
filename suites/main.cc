// The command line: parse, open what can fail, run one suite or command, write the record, exit.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "build_info.h"
#include "engine/error.h"
#include "results/output.h"
#include "results/record_json.h"
#include "results/table.h"
#include "suites/calibration.h"
#include "suites/context.h"
#include "suites/generate.h"
#include "suites/info.h"
#include "suites/kv.h"
#include "suites/latency.h"
#include "suites/lossless.h"
#include "suites/selftest.h"
#include "suites/sequential.h"

namespace {

using namespace specbench;
using suites::ExitCode;

std::atomic<bool> g_stop{false};

extern "C" void on_interrupt(int number) {
  g_stop = true;
  std::signal(number, SIG_DFL);  // a second Ctrl-C ends at once
}

/// One line on standard error, whatever the sentence holds. Not fmt::print, which throws where
/// nobody reads.
void complain(std::string sentence) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  std::fprintf(stderr, "specbench: %s\n", sentence.c_str());
}

/// A descriptor below 3 that the caller has closed would go to the next file opened: a model or
/// the record. A read-only one takes its place, so that writing still fails.
void occupy_standard_descriptors() {
  for (int file = 0; file < 3; ++file)
    if (::fcntl(file, F_GETFD) == -1) (void)::open("/dev/null", O_RDONLY);
}

void listen_to_signals() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is an error of writing, not our end
}

std::optional<results::OutputFile> open_record_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return results::OutputFile(path);
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
    case suites::Command::kSuite:
      break;
  }
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

/// False, with a sentence on standard error, where the record could not be kept.
bool keep(std::optional<results::OutputFile>& file, const std::string& json) {
  try {
    if (file) file->commit(json);
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

/// Keeps the record before anything is printed, and returns the exit code.
int finish(const suites::Options& options, const results::Record& record,
           std::optional<results::OutputFile>& file) {
  const std::string json = results::to_json(record);
  const bool is_generated_text = record.suite == "generate" && options.format == "text";
  const bool is_kept = keep(file, json);
  const bool is_shown = show(options.format == "json" ? json
                             : is_generated_text      ? suites::generated_text(record)
                                                      : results::render_record(record));
  if (is_generated_text && record.exit_code != ExitCode::kPassed) complain(record.verdict);
  if ((is_kept && is_shown) || record.exit_code == ExitCode::kFailed) return record.exit_code;
  return ExitCode::kVoid;
}

int run_program(int argc, char** argv) {
  suites::Options options;
  if (!suites::parse_options(argc, argv, options))
    return show("") ? ExitCode::kPassed : ExitCode::kVoid;
  std::optional<results::OutputFile> file = open_record_file(options.out);
  suites::Progress progress(options.quiet);
  const auto begin = std::chrono::steady_clock::now();
  const suites::Context context = suites::open_context(options, g_stop, progress);
  results::Record record = suites::start_record(context);
  record.build = describe_build();
  run_to_verdict(context, record);
  progress.clear();
  record.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (g_stop) note_interrupt(record);
  return finish(options, record, file);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  listen_to_signals();
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
