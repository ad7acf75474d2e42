// Which options go together, and in what range each must lie.
#include <fmt/format.h>

#include <cmath>

#include "engine/error.h"
#include "engine/sampling.h"
#include "suites/options.h"

namespace specbench::suites {

namespace {

constexpr int kMaxTokens = 1'000'000;  ///< lengths and their sums stay far below what an int holds
constexpr int kMaxSeeds = 1'000'000;
constexpr int kMaxPrompts = 100'000;
constexpr int kArticleTokens = 128;  ///< fixed by that protocol
constexpr int kMaxProcesses = 1000;
constexpr int kMaxRehearsed = 1'000'000;

void need(bool is_right, const std::string& sentence) {
  if (!is_right) throw engine::InputError(sentence);
}

void check_model(const Options& o) {
  need(o.dtype == "stored" || o.dtype == "f32" || o.dtype == "f16" || o.dtype == "bf16" ||
           o.dtype == "q8_0",
       "--dtype is '" + o.dtype + "'; it must be stored, f32, f16, bf16 or q8_0.");
  need(o.kv_dtype == "f32" || o.kv_dtype == "f16",
       "--kv-dtype is '" + o.kv_dtype + "'; it must be f32 or f16.");
  need(o.max_prompts >= 0 && o.max_prompts <= kMaxPrompts,
       fmt::format("--max-prompts is {}; it must be 0 (the suite's choice) to {}.", o.max_prompts,
                   kMaxPrompts));
}

void check_lossless(const Options& o) {
  need(std::isfinite(o.samples) && o.samples >= 1 && o.samples <= 1e12,
       fmt::format("--samples is {}; it must be 1 to 1e12.", o.samples));
  need(o.alpha > 0.0 && o.alpha < 1.0,
       fmt::format("--alpha is {}; it must be above 0 and below 1.", o.alpha));
  need(o.seeds >= 0 && o.seeds <= kMaxSeeds,
       fmt::format("--seeds is {}; it must be 0 (the suite's choice) to {}.", o.seeds, kMaxSeeds));
  need(o.mutant.empty() || o.suite == "lossless" || o.suite == "latency",
       fmt::format("--mutant is '{}', but only --suite lossless and latency plant faults; leave it "
                   "out, or use one of them.",
                   o.mutant));
  need(!o.sequential || o.suite == "lossless",
       "--sequential is for --suite lossless only; leave it out, or use that suite.");
  need(!o.analyze_calibration || o.suite == "lossless",
       "--analyze-calibration is for --suite lossless only; leave it out, or use that suite.");
  need(!o.sequential || !o.state.empty(),
       "--sequential needs --state FILE, which carries the run from call to call.");
  need(o.state.empty() || o.sequential,
       "--state is for --sequential only; give both, or leave it out.");
  need(o.alpha == Options{}.alpha || o.sequential,
       "--alpha is for --sequential only: the level of a single run is fixed.");
  need(!o.sequential || !o.analyze_calibration,
       "--sequential and --analyze-calibration exclude each other; give one of them.");
  need(o.mutant.empty() || !o.analyze_calibration,
       "--mutant and --analyze-calibration exclude each other: nothing may be planted there.");
  need(!o.sequential || !o.sampling.is_greedy(),
       "--sequential needs --temperature above 0: greedy output has no law to test.");
}

void check_processes(const Options& o) {
  const bool is_latency = o.command == Command::kSuite && o.suite == "latency";
  need(o.processes >= 1 && o.processes <= kMaxProcesses,
       fmt::format("--processes is {}; it must be 1 to {}.", o.processes, kMaxProcesses));
  need(o.process >= 0, fmt::format("--process is {}; it must be 0 or more.", o.process));
  need(o.processes == 1 || is_latency, "--processes is for --suite latency only; leave it out.");
  need(o.processes == 1 || !o.vary_seed,
       "--vary-seed and --processes exclude each other: all processes must do the same work.");
  need(std::isfinite(o.inject) && o.inject >= 0 && o.inject <= 1000,
       fmt::format("--inject is {}; it must be 0 to 1000 percent.", o.inject));
  need(o.inject == 0 || is_latency, "--inject is for --suite latency only; leave it out.");
  need(!o.resume || (!o.out.empty() && (o.processes > 1 || !o.candidate_binary.empty())),
       "--resume goes on with a run over several processes: it needs --out, and --processes or "
       "the gate's two programs.");
}

void check_gate(const Options& o) {
  const bool has_records = !o.baseline.empty() || !o.candidate.empty();
  const bool has_programs = !o.baseline_binary.empty() || !o.candidate_binary.empty();
  need(has_records != has_programs,
       "The gate compares either --baseline FILE with --candidate FILE, or --baseline-binary with "
       "--candidate-binary; give one of these pairs.");
  need(has_records ? !o.baseline.empty() && !o.candidate.empty()
                   : !o.baseline_binary.empty() && !o.candidate_binary.empty(),
       "The gate needs both sides: a baseline and a candidate.");
  need(o.suite.empty() || o.suite == "latency",
       "--suite is '" + o.suite + "'; the gate runs latency (and lossless, by its policy).");
  need(!o.vary_seed, "--vary-seed would make the two sides do different work; leave it out.");
  need(o.rehearse >= 0 && o.rehearse <= kMaxRehearsed,
       fmt::format("--rehearse is {}; it must be 0 (judge the records) to {} gates.", o.rehearse,
                   kMaxRehearsed));
  need(o.rehearse == 0 || has_records,
       "--rehearse draws from records: give --baseline and --candidate, as often as there are "
       "gates at hand.");
}

void check_report(const Options& o) {
  const bool takes_several = o.to == "html" || o.to == "baseline";
  need(takes_several || o.to == "markdown" || o.to == "junit" || o.to == "google-benchmark",
       "--to is '" + o.to + "'; it must be html, markdown, junit, google-benchmark or baseline.");
  need(takes_several || o.records.size() == 1, "--to " + o.to + " takes one record, not several.");
}

}  // namespace

void check_options(const Options& o) {
  need(o.command != Command::kSuite || o.suite == "latency" || o.suite == "lossless" ||
           o.suite == "kv" || o.suite == "sweep" || o.suite == "model" || o.suite == "selftest",
       "--suite is '" + o.suite +
           "'; this build has latency, lossless, kv, sweep, model and selftest.");
  check_model(o);
  check_processes(o);
  if (o.command == Command::kGate) check_gate(o);
  if (o.command == Command::kReport) check_report(o);
  need(o.format == "text" || o.format == "json",
       "--format is '" + o.format + "'; it must be text or json.");
  need(o.protocol == "standard" || o.protocol == "article" || o.protocol == "gate",
       "--protocol is '" + o.protocol + "'; it must be standard, article or gate.");
  need(o.threads >= 0 && o.threads <= 1024,
       "--threads is " + std::to_string(o.threads) + "; it must be 0 to 1024.");
  need(o.batch >= 0 && o.batch <= 4096,
       "--batch is " + std::to_string(o.batch) + "; it must be 0 to 4096.");
  need(o.draft_layers >= 0,
       "--draft-layers is " + std::to_string(o.draft_layers) + "; it must be 0 or more.");
  need(o.draft_tokens >= 0 && o.draft_tokens <= engine::kMaxDraft,
       "--draft-tokens is " + std::to_string(o.draft_tokens) + "; it must be 0 to " +
           std::to_string(engine::kMaxDraft) + ".");
  need(o.max_tokens >= 0 && o.max_tokens <= kMaxTokens,
       fmt::format("--max-tokens is {}; it must be 0 to {}.", o.max_tokens, kMaxTokens));
  need(
      o.protocol != "article" || o.max_tokens == 0 || o.max_tokens == kArticleTokens,
      fmt::format("--max-tokens is {}, but --protocol article fixes it at {}; leave it out, or use "
                  "--protocol standard.",
                  o.max_tokens, kArticleTokens));
  need(o.max_tokens == 0 || o.sampling.min_tokens <= o.max_tokens,
       fmt::format("--min-tokens is {}, more than the {} of --max-tokens; lower it.",
                   o.sampling.min_tokens, o.max_tokens));
  check_lossless(o);
  engine::validate(o.sampling);
}

}  // namespace specbench::suites
