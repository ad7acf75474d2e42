// The command line: parse, open what can fail, run one suite or command, write the record, exit.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <optional>

#include "build_info.h"
#include "engine/error.h"
#include "results/output.h"
#include "results/record_json.h"
#include "results/table.h"
#include "suites/context.h"
#include "suites/generate.h"
#include "suites/info.h"
#include "suites/kv.h"
#include "suites/latency.h"
#include "suites/lossless.h"

namespace {

using namespace specbench;
using suites::ExitCode;

std::atomic<bool> g_stop{false};

extern "C" void on_interrupt(int) {
  g_stop = true;
  std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends at once
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
  if (context.options.suite == "lossless") return suites::run_lossless(context, record);
  if (context.options.suite == "kv") return suites::run_kv(context, record);
  throw engine::InputError("--suite is '" + context.options.suite +
                           "'; this build has latency, lossless and kv.");
}

void finish(const suites::Options& options, results::Record& record,
            std::optional<results::OutputFile>& file) {
  if (g_stop) {
    record.was_interrupted = true;
    record.exit_code = ExitCode::kInterrupted;
    record.verdict = "INTERRUPTED; what was measured is kept. " + record.verdict;
  }
  const std::string json = results::to_json(record);
  if (options.format == "json")
    fmt::print("{}", json);
  else
    fmt::print("{}", record.suite == "generate" ? suites::generated_text(record)
                                                : results::render_record(record));
  std::fflush(stdout);
  if (file) file->commit(json);
}

int run_program(int argc, char** argv) {
  suites::Options options;
  if (!suites::parse_options(argc, argv, options)) return ExitCode::kPassed;
  std::optional<results::OutputFile> file;
  if (!options.out.empty()) file.emplace(options.out);
  std::signal(SIGINT, on_interrupt);
  suites::Progress progress(options.quiet);
  const auto begin = std::chrono::steady_clock::now();
  const suites::Context context = suites::open_context(options, g_stop, progress);
  results::Record record = suites::start_record(context);
  record.build = {{"commit", std::string(kBuildCommit)},
                  {"is_dirty", kBuildDirty},
                  {"compiler", std::string(kBuildCompiler)},
                  {"type", std::string(kBuildType)},
                  {"flags", std::string(kBuildFlags)}};
  try {
    run(context, record);
  } catch (const engine::StateViolation& violation) {
    record.exit_code = ExitCode::kFailed;
    record.verdict = std::string("FAILED: an invariant of decoding is broken. ") + violation.what();
    record.checks.push_back({"state", results::CheckStatus::kFailed, violation.what()});
  }
  progress.clear();
  record.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  finish(options, record, file);
  return record.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "specbench: {}\n", error.what());
    return ExitCode::kUsage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "specbench: there is not enough memory for this model, batch and length; lower "
               "--batch or --max-tokens.\n");
    return ExitCode::kVoid;
  } catch (const std::exception& error) {
    fmt::print(stderr, "specbench: {}\n", error.what());
    return ExitCode::kVoid;
  }
}
