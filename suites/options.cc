#include "suites/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "engine/error.h"

namespace specbench::suites {

namespace {

constexpr int kMaxTokens = 1'000'000;  ///< lengths and their sums stay far below what an int holds
constexpr int kArticleTokens = 128;    ///< fixed by that protocol

/// The library wraps -1 and 2^64 round in silence; a seed is only what it says.
std::string complain_of_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && read_to == end) return {};
  return "'" + text + "' is not a whole number from 0 to 18446744073709551615.";
}

void add_model_options(CLI::App& app, Options& o) {
  app.add_option("--model", o.model,
                 "Hugging Face directory (config.json, *.safetensors, tokenizer.json); default: "
                 "embedded austen-10m");
  app.add_option("--backend", o.backend, "cpu or reference")->capture_default_str();
  app.add_option("--threads", o.threads, "threads; 0: every core this process may use")
      ->capture_default_str();
}

void add_decoding_options(CLI::App& app, Options& o) {
  app.add_option("--drafter", o.drafter, "layer-skip, or a control: null, oracle, uniform")
      ->capture_default_str();
  app.add_option("--draft-layers", o.draft_layers,
                 "layers the draft runs through; 0: a quarter of the model")
      ->capture_default_str();
  app.add_option("--draft-tokens", o.draft_tokens, "tokens drafted a round at most")
      ->capture_default_str();
  app.add_option("--verifier", o.verifier, "token, greedy, one-hot or coupled")
      ->capture_default_str();
  app.add_option("--temperature", o.sampling.temperature, "0: greedy")->capture_default_str();
  app.add_option("--top-k", o.sampling.top_k, "keep the k likeliest tokens; 0: all")
      ->capture_default_str();
  app.add_option("--top-p", o.sampling.top_p, "keep the likeliest tokens with this mass; 1: all")
      ->capture_default_str();
  app.add_option("--min-p", o.sampling.min_p,
                 "keep tokens with this share of the likeliest; 0: all")
      ->capture_default_str();
  app.add_option("--max-tokens", o.max_tokens, "tokens emitted at most; 0: the suite's choice")
      ->capture_default_str();
  app.add_option("--batch", o.batch, "sequences decoded together; 0: the suite's choice")
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of every random number")
      ->capture_default_str()
      ->check(CLI::Validator(complain_of_seed, ""));
}

void add_output_options(CLI::App& app, Options& o) {
  app.add_option("--out", o.out, "write the record (JSON) to this file")
      ->check(CLI::Validator(
          [](const std::string& path) { return path.empty() ? "is empty; name a file." : ""; },
          ""));
  app.add_option("--format", o.format, "standard output: text or json")->capture_default_str();
  app.add_flag("--quiet", o.quiet, "no progress on standard error");
}

void check(const Options& o) {
  const auto need = [](bool is_right, const std::string& sentence) {
    if (!is_right) throw engine::InputError(sentence);
  };
  need(o.command != Command::kSuite || o.suite == "latency" || o.suite == "lossless" ||
           o.suite == "kv",
       "--suite is '" + o.suite + "'; this build has latency, lossless and kv.");
  need(o.format == "text" || o.format == "json",
       "--format is '" + o.format + "'; it must be text or json.");
  need(o.protocol == "standard" || o.protocol == "article",
       "--protocol is '" + o.protocol + "'; it must be standard or article.");
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
  need(std::isfinite(o.samples) && o.samples >= 1 && o.samples <= 1e12,
       fmt::format("--samples is {}; it must be 1 to 1e12.", o.samples));
  engine::validate(o.sampling);
}

}  // namespace

bool parse_options(int argc, const char* const* argv, Options& o) {
  CLI::App app{"specbench: is a speculative decoder faster, and is it still lossless?"};
  app.set_version_flag("--version", "specbench 0.1.0");
  app.footer(
      "Exit codes: 0 passed, 1 the property failed, 2 inconclusive, 3 could not be measured here, "
      "4 wrong usage or input, "
      "130 interrupted.");
  app.add_option("--suite", o.suite, "latency, lossless or kv");
  app.add_option("--samples", o.samples, "lossless: verified token draws, for instance 1e6")
      ->capture_default_str();
  app.add_option("--prompts", o.prompts,
                 "JSON lines with id, category and prompt; default: the embedded set");
  app.add_option("--protocol", o.protocol,
                 "latency: standard or article (3 warm-ups, median of 5, 128 tokens)")
      ->capture_default_str();
  app.add_flag("--stop-at-eos", o.stop_at_eos, "latency: end timed texts at EOS");
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
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return false;
  } catch (const CLI::ParseError& error) {
    throw engine::InputError(std::string(error.what()) + " (see specbench --help)");
  }
  for (int i = 0; i < argc; ++i) o.command_line += (i > 0 ? " " : "") + std::string(argv[i]);
  if (generate->parsed()) o.command = Command::kGenerate;
  if (info->parsed()) o.command = Command::kInfo;
  if (o.command == Command::kSuite && o.suite.empty())
    throw engine::InputError(
        "Nothing to do: give --suite latency, lossless or kv, or the command generate or info (see "
        "specbench --help).");
  if (o.command != Command::kSuite && !o.suite.empty())
    throw engine::InputError("--suite and a command exclude each other; give one of them.");
  check(o);
  return true;
}

}  // namespace specbench::suites
