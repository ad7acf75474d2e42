#include "suites/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>

#include "engine/error.h"

namespace specbench::suites {

namespace {

constexpr const char* kSuites = "latency, lossless, kv, sweep, model or selftest";

/// The number that the whole text is; nothing where it is none.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && read_to == end) return number;
  return std::nullopt;
}

/// The library wraps -1 and 2^64 round in silence; a seed is only what it says.
std::string complain_of_seed(const std::string& text) {
  if (number_of<std::uint64_t>(text)) return {};
  return "'" + text + "' is not a whole number from 0 to 18446744073709551615.";
}

std::optional<std::pair<engine::TokenId, double>> bias_of(std::string_view text) {
  const std::size_t middle = std::min(text.find('='), text.size());
  const auto id = number_of<engine::TokenId>(text.substr(0, middle));
  const auto bias = number_of<double>(text.substr(std::min(middle + 1, text.size())));
  if (!id || !bias) return std::nullopt;
  return std::pair(*id, *bias);
}
std::string complain_of_bias(const std::string& text) {
  if (bias_of(text)) return {};
  return "'" + text + "' is not a token id and a number, as in 318=-2.5.";
}
std::string complain_of_id(const std::string& text) {
  if (number_of<engine::TokenId>(text)) return {};
  return "'" + text + "' is not a token id.";
}

CLI::Validator not_empty(const std::string& advice) {
  return CLI::Validator(
      [advice](const std::string& text) { return text.empty() ? "is empty; " + advice + "." : ""; },
      "");
}

/// An option that may be given several times, one value each. Not the library's vector, which
/// takes the words behind it too and reads {} as nothing.
CLI::Option* add_repeatable(CLI::App& app, const std::string& name, const std::string& value_name,
                            const std::string& help, const CLI::Validator& check,
                            std::function<void(const std::string&)> keep) {
  return app
      .add_option(
          name,
          [keep = std::move(keep)](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) keep(text);
            return true;
          },
          help + "; may be repeated")
      ->type_name(value_name)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(check);
}

void add_model_options(CLI::App& app, Options& o) {
  app.add_option(
         "--model", o.model,
         "GGUF file, Hugging Face directory (config.json, *.safetensors, tokenizer.json), or "
         "synthetic:<shape>[-<type>][:seed=N][:later=X]; default: embedded austen-10m")
      ->check(not_empty("name a model, or leave --model out for the embedded one"));
  app.add_option("--dtype", o.dtype,
                 "run the weights as stored, or converted to f32, f16, bf16 or q8_0 when read")
      ->capture_default_str();
  app.add_option("--kv-dtype", o.kv_dtype, "keys and values of the cache: f32 or f16")
      ->capture_default_str();
  app.add_option("--backend", o.backend, "cpu or reference")->capture_default_str();
  app.add_option("--threads", o.threads, "threads; 0: every core this process may use")
      ->capture_default_str();
}

void add_processor_options(CLI::App& app, Options& o) {
  engine::SamplingParams& s = o.sampling;
  add_repeatable(app, "--logit-bias", "ID=BIAS", "added to the logit of that token id",
                 CLI::Validator(complain_of_bias, ""),
                 [&s](const std::string& text) { s.logit_bias.push_back(*bias_of(text)); });
  add_repeatable(
      app, "--ban", "ID", "never emit that token id", CLI::Validator(complain_of_id, ""),
      [&s](const std::string& text) { s.banned.push_back(*number_of<engine::TokenId>(text)); });
  app.add_option("--min-tokens", s.min_tokens,
                 "EOS is forbidden and stop strings are ignored before so many")
      ->capture_default_str();
  app.add_option("--repetition-penalty", s.repetition_penalty,
                 "above 1: what prompt or text holds becomes less likely; 1: off")
      ->capture_default_str();
  app.add_option("--presence-penalty", s.presence_penalty,
                 "taken off the logit of a token the text holds; 0: off")
      ->capture_default_str();
  app.add_option("--frequency-penalty", s.frequency_penalty,
                 "the same, for each time the text holds it; 0: off")
      ->capture_default_str();
  add_repeatable(app, "--stop", "STRING", "end the text before this string",
                 not_empty("give a text"),
                 [&o](const std::string& text) { o.stop_texts.push_back(text); });
}

void add_decoding_options(CLI::App& app, Options& o) {
  app.add_option("--drafter", o.drafter, "layer-skip, or a control: null, oracle, uniform")
      ->capture_default_str();
  app.add_option("--draft-layers", o.draft_layers,
                 "layers the draft runs through; 0: a quarter of the model")
      ->capture_default_str();
  app.add_option("--draft-tokens", o.draft_tokens, "tokens drafted a round at most")
      ->capture_default_str();
  app.add_option("--verifier", o.verifier, "token, block, greedy, one-hot or coupled")
      ->capture_default_str();
  app.add_option("--temperature", o.sampling.temperature, "0: greedy")->capture_default_str();
  app.add_option("--top-k", o.sampling.top_k, "keep the k likeliest tokens; 0: all")
      ->capture_default_str();
  app.add_option("--top-p", o.sampling.top_p, "keep the likeliest tokens with this mass; 1: all")
      ->capture_default_str();
  app.add_option("--min-p", o.sampling.min_p,
                 "keep tokens with this share of the likeliest; 0: all")
      ->capture_default_str();
  add_processor_options(app, o);
  app.add_option("--max-tokens", o.max_tokens,
                 "tokens emitted (model: scored) at most; 0: the suite's choice")
      ->capture_default_str();
  app.add_option("--batch", o.batch, "sequences decoded together; 0: the suite's choice")
      ->capture_default_str();
  CLI::Option* seed = app.add_option("--seed", o.seed, "of every random number")
                          ->capture_default_str()
                          ->check(CLI::Validator(complain_of_seed, ""));
  app.add_flag("--vary-seed", o.vary_seed,
               "a fresh seed from the clock and the system's entropy, printed and recorded")
      ->excludes(seed);
}

/// Of a latency run, also where the gate asks for it.
void add_timing_options(CLI::App& app, Options& o) {
  app.add_option("--prompts", o.prompts,
                 "JSON lines with id, category and prompt (or question_id and turns, as Spec-Bench "
                 "has them); default: the embedded set")
      ->check(not_empty("name a file, or leave --prompts out for the embedded set"));
  app.add_option("--max-prompts", o.max_prompts,
                 "prompts taken (latency: from each category in turn, whole batches; model: the "
                 "first ones); 0: the suite's choice")
      ->capture_default_str();
  app.add_flag("--stop-at-eos", o.stop_at_eos, "latency: end timed texts at EOS");
  app.add_flag("--resume", o.resume,
               "go on where an interrupted run over several processes ended; needs --out");
}

void add_suite_options(CLI::App& app, Options& o) {
  app.add_option("--suite", o.suite, kSuites);
  add_timing_options(app, o);
  app.add_option("--protocol", o.protocol,
                 "latency: standard, article (3 warm-ups, median of 5, 128 tokens) or gate (short, "
                 "with an arm of injected work)")
      ->capture_default_str();
  app.add_option("--processes", o.processes,
                 "latency: measure in so many processes; intervals are then over processes")
      ->capture_default_str();
  app.add_option("--process", o.process, "which process of them this is")->group("");
  app.add_option("--turns", o.turns, "descriptors to say idle on and to wait for a turn on")
      ->expected(2)
      ->group("");
  app.add_option("--inject", o.inject,
                 "latency: percent of work added to the speculative arms, to see a gate catch it")
      ->capture_default_str();
}

void add_gate_options(CLI::App& app, Options& o) {
  app.add_option("--suite", o.suite, "latency: what both programs run");
  add_repeatable(app, "--baseline", "FILE", "record of the unchanged program, or of its laws",
                 not_empty("name a file"),
                 [&o](const std::string& text) { o.baseline.push_back(text); });
  add_repeatable(app, "--candidate", "FILE", "record of the changed program",
                 not_empty("name a file"),
                 [&o](const std::string& text) { o.candidate.push_back(text); });
  app.add_option("--baseline-binary", o.baseline_binary, "unchanged program, measured in turn")
      ->check(not_empty("name a program"));
  app.add_option("--candidate-binary", o.candidate_binary, "changed program")
      ->check(not_empty("name a program"));
  app.add_option("--policy", o.policy, "JSON file with levels and thresholds; see ci/gates")
      ->check(not_empty("name a file"));
  app.add_option(
         "--rehearse", o.rehearse,
         "play so many gates with pairs drawn from the records: how often is it right here?")
      ->capture_default_str();
  add_timing_options(app, o);
}

void add_report_options(CLI::App& app, Options& o) {
  app.add_option("records", o.records, "record files (JSON)")->required();
  app.add_option("--to", o.to, "html, markdown, junit, google-benchmark or baseline")
      ->capture_default_str();
}

void add_lossless_options(CLI::App& app, Options& o) {
  app.add_option("--samples", o.samples, "lossless: verified token draws, for instance 1e6")
      ->capture_default_str();
  app.add_option("--alpha", o.alpha,
                 "sequential: false alarm over the whole life of the state, at most")
      ->capture_default_str();
  app.add_option("--seeds", o.seeds, "runs with a seed of their own; 0: the suite's choice")
      ->capture_default_str();
  app.add_option("--mutant", o.mutant,
                 "lossless, latency: plant a known fault of the selftest, to see it caught")
      ->check(not_empty("name a fault"));
  app.add_flag("--sequential", o.sequential,
               "lossless: looks at the data more than once, by plan; needs --state");
  app.add_option("--state", o.state, "file that carries a sequential run from call to call")
      ->check(not_empty("name a file"));
  app.add_flag("--analyze-calibration", o.analyze_calibration, "judge the tests themselves");
}

void add_output_options(CLI::App& app, Options& o) {
  app.add_option("--out", o.out, "write the record (JSON) to this file")
      ->check(not_empty("name a file"));
  app.add_option("--format", o.format, "standard output: text or json")->capture_default_str();
  app.add_flag("--quiet", o.quiet, "no progress on standard error");
}

/// From the system's entropy; from the clock where there is none.
std::uint64_t fresh_seed() {
  std::uint64_t seed = 0;
  if (::getentropy(&seed, sizeof seed) == 0) return seed;
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

/// As typed; but a varied seed is spelled out, so that the line repeats the run.
void keep_command_line(int argc, const char* const* argv, Options& o) {
  o.command_line = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_flag = o.vary_seed && (word == "--vary-seed" || word.starts_with("--vary-seed="));
    o.arguments.push_back(is_flag ? "--seed=" + std::to_string(o.seed) : std::string(word));
    o.command_line += is_flag ? " --seed " + std::to_string(o.seed) : " " + std::string(word);
  }
}

}  // namespace

bool parse_options(int argc, const char* const* argv, Options& o) {
  CLI::App app{"specbench: is a speculative decoder faster, and is it still lossless?"};
  app.set_version_flag("--version", "specbench 0.1.0");
  app.footer(
      "Exit codes: 0 passed, 1 the property failed, 2 inconclusive, 3 could not be measured here, "
      "4 wrong usage or input, "
      "130 interrupted.");
  add_suite_options(app, o);
  add_lossless_options(app, o);
  add_model_options(app, o);
  add_decoding_options(app, o);
  add_output_options(app, o);
  CLI::App* generate = app.add_subcommand("generate", "print a continuation of one prompt");
  generate->add_option("--prompt", o.prompt, "text to go on from")->required();
  add_model_options(*generate, o);
  add_decoding_options(*generate, o);
  add_output_options(*generate, o);
  CLI::App* info = app.add_subcommand("info", "print what a model is and what this machine has");
  add_model_options(*info, o);
  add_output_options(*info, o);
  CLI::App* gate = app.add_subcommand(
      "gate", "compare two builds, or their records: passed, failed, in doubt or void");
  add_gate_options(*gate, o);
  add_model_options(*gate, o);
  add_decoding_options(*gate, o);
  add_output_options(*gate, o);
  CLI::App* report =
      app.add_subcommand("report", "one page of a record, or the record for another tool");
  add_report_options(*report, o);
  report->add_option("--out", o.out, "write to this file; else to standard output")
      ->check(not_empty("name a file"));
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return false;
  } catch (const CLI::ParseError& error) {
    throw engine::InputError(std::string(error.what()) + " (see specbench --help)");
  }
  if (generate->parsed()) o.command = Command::kGenerate;
  if (info->parsed()) o.command = Command::kInfo;
  if (gate->parsed()) o.command = Command::kGate;
  if (report->parsed()) o.command = Command::kReport;
  if (o.command == Command::kSuite && o.suite.empty())
    throw engine::InputError(
        "Nothing to do: give --suite latency, lossless, kv, sweep, model or selftest, or a "
        "command: gate, "
        "report, generate or info (see specbench --help).");
  if (o.command != Command::kSuite && o.command != Command::kGate && !o.suite.empty())
    throw engine::InputError("--suite and a command exclude each other; give one of them.");
  check_options(o);
  if (o.vary_seed) o.seed = fresh_seed();
  keep_command_line(argc, argv, o);
  return true;
}

}  // namespace specbench::suites
