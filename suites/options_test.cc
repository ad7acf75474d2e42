// The command line: defaults, every option heard, every misuse refused with a sentence that names
// it.
#include "suites/options.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/error.h"

namespace specbench::suites {
namespace {

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "specbench");
  Options options;
  EXPECT_TRUE(parse_options(static_cast<int>(words.size()), words.data(), options));
  return options;
}

std::string complaint(const std::vector<const char*>& words) {
  try {
    parse(words);
  } catch (const engine::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, DefaultsAreThoseOfTheDesign) {
  const Options o = parse({"--suite", "latency"});
  EXPECT_EQ(o.command, Command::kSuite);
  EXPECT_EQ(o.suite, "latency");
  EXPECT_EQ(o.backend, "cpu");
  EXPECT_EQ(o.dtype, "stored");
  EXPECT_EQ(o.kv_dtype, "f32");
  EXPECT_EQ(o.max_prompts, 0);
  EXPECT_EQ(o.drafter, "layer-skip");
  EXPECT_EQ(o.draft_layers, 0);
  EXPECT_EQ(o.verifier, "token");
  EXPECT_EQ(o.sampling.temperature, 1.0);
  EXPECT_EQ(o.protocol, "standard");
  EXPECT_EQ(o.format, "text");
  EXPECT_FALSE(o.stop_at_eos);
  EXPECT_FALSE(o.sampling.has_processors());
  EXPECT_TRUE(o.stop_texts.empty());
  EXPECT_EQ(o.seed, 1U);
  EXPECT_FALSE(o.vary_seed);
  EXPECT_EQ(o.alpha, 1e-6);
  EXPECT_EQ(o.seeds, 0);
  EXPECT_EQ(o.mutant, "");
  EXPECT_FALSE(o.sequential);
  EXPECT_EQ(o.state, "");
  EXPECT_FALSE(o.analyze_calibration);
  EXPECT_EQ(o.command_line, "specbench --suite latency");
}

TEST(Options, EveryOptionIsHeard) {
  const Options o = parse({"--suite",
                           "lossless",
                           "--samples",
                           "1e6",
                           "--model",
                           "m",
                           "--backend",
                           "reference",
                           "--threads",
                           "3",
                           "--drafter",
                           "oracle",
                           "--draft-layers",
                           "4",
                           "--draft-tokens",
                           "5",
                           "--verifier",
                           "coupled",
                           "--temperature",
                           "0.7",
                           "--top-k",
                           "50",
                           "--top-p",
                           "0.9",
                           "--min-p",
                           "0.05",
                           "--max-tokens",
                           "128",
                           "--batch",
                           "8",
                           "--seed",
                           "18446744073709551615",
                           "--prompts",
                           "p",
                           "--protocol",
                           "article",
                           "--stop-at-eos",
                           "--out",
                           "f",
                           "--format",
                           "json",
                           "--quiet"});
  EXPECT_EQ(o.suite, "lossless");
  EXPECT_EQ(o.samples, 1e6);
  EXPECT_EQ(o.model, "m");
  EXPECT_EQ(o.backend, "reference");
  EXPECT_EQ(o.threads, 3);
  EXPECT_EQ(o.drafter, "oracle");
  EXPECT_EQ(o.draft_layers, 4);
  EXPECT_EQ(o.draft_tokens, 5);
  EXPECT_EQ(o.verifier, "coupled");
  EXPECT_EQ(o.sampling.temperature, 0.7);
  EXPECT_EQ(o.sampling.top_k, 50);
  EXPECT_EQ(o.sampling.top_p, 0.9);
  EXPECT_EQ(o.sampling.min_p, 0.05);
  EXPECT_EQ(o.max_tokens, 128);
  EXPECT_EQ(o.batch, 8);
  EXPECT_EQ(o.seed, 18446744073709551615ULL);
  EXPECT_EQ(o.prompts, "p");
  EXPECT_EQ(o.protocol, "article");
  EXPECT_TRUE(o.stop_at_eos);
  EXPECT_EQ(o.out, "f");
  EXPECT_EQ(o.format, "json");
  EXPECT_TRUE(o.quiet);
}

TEST(Options, ProcessorsAreHeardEachTimeTheyAreNamed) {
  const Options o = parse({"generate",
                           "--prompt",
                           "x",
                           "--logit-bias",
                           "5=-2.5",
                           "--logit-bias=7=1e2",
                           "--ban",
                           "3",
                           "--ban",
                           "9",
                           "--min-tokens",
                           "4",
                           "--repetition-penalty",
                           "1.2",
                           "--presence-penalty",
                           "-0.5",
                           "--frequency-penalty",
                           "0.25",
                           "--stop",
                           ", and",
                           "--stop",
                           "{}",
                           "--stop=[a]",
                           "--stop",
                           "\n"});
  const std::vector<std::pair<engine::TokenId, double>> biases{{5, -2.5}, {7, 100.0}};
  EXPECT_EQ(o.sampling.logit_bias, biases);
  EXPECT_EQ(o.sampling.banned, (std::vector<engine::TokenId>{3, 9}));
  EXPECT_EQ(o.sampling.min_tokens, 4);
  EXPECT_EQ(o.sampling.repetition_penalty, 1.2);
  EXPECT_EQ(o.sampling.presence_penalty, -0.5);
  EXPECT_EQ(o.sampling.frequency_penalty, 0.25);
  EXPECT_EQ(o.stop_texts, (std::vector<std::string>{", and", "{}", "[a]", "\n"}));
}

TEST(Options, WeightTypesAndPromptsAreHeard) {
  const Options o = parse({"--suite", "model", "--model", "synthetic:tiny", "--dtype", "q8_0",
                           "--kv-dtype", "f16", "--max-prompts", "80"});
  EXPECT_EQ(o.suite, "model");
  EXPECT_EQ(o.model, "synthetic:tiny");
  EXPECT_EQ(o.dtype, "q8_0");
  EXPECT_EQ(o.kv_dtype, "f16");
  EXPECT_EQ(o.max_prompts, 80);
  EXPECT_EQ(parse({"info", "--dtype", "f32"}).dtype, "f32");
}

TEST(Options, TheVerdictsOptionsAreHeard) {
  const Options night = parse(
      {"--suite", "lossless", "--mutant", "R1", "--sequential", "--state", "f", "--alpha", "0.01"});
  EXPECT_EQ(night.mutant, "R1");
  EXPECT_TRUE(night.sequential);
  EXPECT_EQ(night.state, "f");
  EXPECT_EQ(night.alpha, 0.01);
  const Options calibration =
      parse({"--suite", "lossless", "--analyze-calibration", "--seeds", "20"});
  EXPECT_TRUE(calibration.analyze_calibration);
  EXPECT_EQ(calibration.seeds, 20);
  EXPECT_EQ(parse({"--suite", "selftest"}).suite, "selftest");
}

// What would be ignored is refused.
TEST(Options, TheVerdictsOptionsDoNotContradictEachOther) {
  const auto refused = [](std::vector<const char*> words) {
    words.insert(words.begin(), {"--suite", "lossless"});
    try {
      parse(words);
    } catch (const engine::InputError&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused({"--state", "f"}));
  EXPECT_TRUE(refused({"--alpha", "0.01"}));
  EXPECT_TRUE(refused({"--sequential", "--state", "f", "--analyze-calibration"}));
  EXPECT_TRUE(refused({"--mutant", "R1", "--analyze-calibration"}));
  EXPECT_TRUE(refused({"--sequential", "--state", "f", "--temperature", "0"}));
  EXPECT_FALSE(refused({"--sequential", "--state", "f"}));
}

// The line of the record repeats the run: it names the seed that was drawn.
TEST(Options, AVariedSeedIsFreshAndNamed) {
  const Options first = parse({"--suite", "kv", "--vary-seed", "--quiet"});
  const Options second = parse({"--suite", "kv", "--vary-seed", "--quiet"});
  EXPECT_TRUE(first.vary_seed);
  EXPECT_NE(first.seed, 1U);
  EXPECT_NE(first.seed, second.seed);  // equal by chance once in 2^64 runs
  EXPECT_EQ(first.command_line,
            "specbench --suite kv --seed " + std::to_string(first.seed) + " --quiet");
  EXPECT_EQ(parse({"--suite", "kv", "--quiet"}).command_line, "specbench --suite kv --quiet");
}

TEST(Options, CommandsTakeTheirOwnOptions) {
  const Options generate = parse({"generate", "--prompt", "It was", "--draft-tokens", "3"});
  EXPECT_EQ(generate.command, Command::kGenerate);
  EXPECT_EQ(generate.prompt, "It was");
  EXPECT_EQ(generate.draft_tokens, 3);
  EXPECT_EQ(parse({"info", "--model", "m"}).command, Command::kInfo);
}

TEST(Options, MisuseIsRefusedByName) {
  const struct {
    std::vector<const char*> words;
    const char* says;
  } faults[] = {
      {{}, "Nothing to do"},
      {{"--suite", "latency", "--format", "xml"}, "--format is 'xml'"},
      {{"--suite", "latency", "--protocol", "best"}, "--protocol is 'best'"},
      {{"--suite", "latency", "--threads", "-1"}, "--threads is -1"},
      {{"--suite", "latency", "--batch", "5000"}, "--batch is 5000"},
      {{"--suite", "latency", "--draft-layers", "-1"}, "--draft-layers is -1"},
      {{"--suite", "latency", "--draft-tokens", "64"}, "--draft-tokens is 64"},
      {{"--suite", "latency", "--draft-tokens", "x"}, "--draft-tokens"},
      {{"--suite", "latency", "--max-tokens", "-3"}, "--max-tokens is -3"},
      {{"--suite", "speed"}, "--suite is 'speed'"},
      {{"--suite", "latency", "--max-tokens", "1000001"}, "--max-tokens is 1000001"},
      {{"--suite", "latency", "--max-tokens", "2147483648"}, "--max-tokens"},
      {{"--suite", "latency", "--protocol", "article", "--max-tokens", "64"},
       "--max-tokens is 64, but --protocol article fixes it at 128"},
      {{"--suite", "latency", "--seed", "-1"}, "'-1' is not a whole number"},
      {{"--suite", "latency", "--seed", "18446744073709551616"}, "'18446744073709551616'"},
      {{"--suite", "latency", "--seed", "1.5"}, "'1.5' is not a whole number"},
      {{"--suite", "lossless", "--samples", "0"}, "--samples is 0;"},
      {{"--suite", "lossless", "--samples", "0.5"}, "--samples is 0.5;"},
      {{"--suite", "lossless", "--samples", "-3"}, "--samples is -3;"},
      {{"--suite", "lossless", "--samples", "1e300"}, "--samples is 1e+300;"},
      {{"--suite", "lossless", "--samples", "inf"}, "--samples is inf;"},
      {{"--suite", "lossless", "--samples", "nan"}, "--samples is nan;"},
      {{"--suite", "latency", "--temperature", "-1"}, "--temperature"},
      {{"--suite", "latency", "--top-p", "1.5"}, "--top-p"},
      {{"--suite", "latency", "--logit-bias", "5"}, "--logit-bias: '5' is not a token id and"},
      {{"--suite", "latency", "--logit-bias", "x=1"}, "'x=1' is not a token id and"},
      {{"--suite", "latency", "--logit-bias", "1=1x"}, "'1=1x' is not a token id and"},
      {{"--suite", "latency", "--logit-bias", "="}, "'=' is not a token id and"},
      {{"--suite", "latency", "--logit-bias", ""}, "'' is not a token id and"},
      {{"--suite", "latency", "--logit-bias", "5=nan"}, "--logit-bias is nan;"},
      {{"--suite", "latency", "--logit-bias", "5=-inf"}, "--logit-bias is -inf;"},
      {{"--suite", "latency", "--ban", "1.5"}, "--ban: '1.5' is not a token id"},
      {{"--suite", "latency", "--ban", "1", "2"}, "2"},
      {{"--suite", "latency", "--min-tokens", "-1"}, "--min-tokens is -1;"},
      {{"--suite", "latency", "--min-tokens", "9", "--max-tokens", "8"},
       "--min-tokens is 9, more than the 8 of --max-tokens"},
      {{"--suite", "latency", "--repetition-penalty", "0"}, "--repetition-penalty is 0;"},
      {{"--suite", "latency", "--presence-penalty", "nan"}, "--presence-penalty is nan;"},
      {{"--suite", "latency", "--frequency-penalty", "101"}, "--frequency-penalty is 101;"},
      {{"--suite", "latency", "--stop", ""}, "--stop: is empty"},
      {{"--suite", "latency", "--vary-seed", "--seed", "3"}, "excludes"},
      {{"--suite", "lossless", "--alpha", "0"}, "--alpha is 0; it must be above 0 and below 1."},
      {{"--suite", "lossless", "--alpha", "1"}, "--alpha is 1;"},
      {{"--suite", "lossless", "--alpha", "nan"}, "--alpha is nan;"},
      {{"--suite", "lossless", "--seeds", "-1"}, "--seeds is -1;"},
      {{"--suite", "lossless", "--seeds", "1000001"}, "--seeds is 1000001;"},
      {{"--suite", "latency", "--analyze-calibration"},
       "--analyze-calibration is for --suite lossless only"},
      {{"--suite", "lossless", "--sequential"}, "--sequential needs --state"},
      {{"--suite", "latency", "--sequential", "--state", "f"}, "--suite lossless only"},
      {{"--suite", "lossless", "--state", ""}, "--state: is empty"},
      {{"--suite", "lossless", "--mutant", ""}, "--mutant: is empty"},
      {{"--suite", "kv", "--mutant", "R1"}, "--mutant is 'R1', but only --suite lossless"},
      {{"generate", "--prompt", "x", "--mutant", "R1"}, "--mutant"},
      {{"--suite", "latency", "--frobnicate"}, "--frobnicate"},
      {{"--suite", "latency", "info"}, "exclude each other"},
      {{"generate"}, "--prompt"}};
  for (const auto& fault : faults) {
    const std::string message = complaint(fault.words);
    EXPECT_NE(message.find(fault.says), std::string::npos)
        << fault.says << " is not in: " << message;
  }
}

TEST(Options, HelpAndVersionLeaveNothingToDo) {
  for (const char* word : {"--help", "--version"}) {
    const char* const words[] = {"specbench", word};
    Options options;
    EXPECT_FALSE(parse_options(2, words, options)) << word;
  }
}

TEST(Options, GateTakesRecordsOrPrograms) {
  const Options records = parse({"gate", "--baseline", "a.json", "--baseline", "b.json",
                                 "--candidate", "c.json", "--policy", "p.json"});
  EXPECT_EQ(records.command, Command::kGate);
  EXPECT_EQ(records.baseline, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_EQ(records.candidate, (std::vector<std::string>{"c.json"}));
  EXPECT_EQ(records.policy, "p.json");
  const Options programs = parse({"gate", "--baseline-binary", "old", "--candidate-binary", "new",
                                  "--suite", "latency", "--draft-tokens", "3"});
  EXPECT_EQ(programs.baseline_binary, "old");
  EXPECT_EQ(programs.candidate_binary, "new");
  EXPECT_EQ(programs.draft_tokens, 3);
  EXPECT_EQ(programs.arguments.front(), "gate");
}

TEST(Options, GateMisuseIsNamed) {
  const struct {
    std::vector<const char*> words;
    const char* said;
  } cases[] = {
      {{"gate"}, "one of these pairs"},
      {{"gate", "--baseline", "a"}, "both sides"},
      {{"gate", "--candidate-binary", "a"}, "both sides"},
      {{"gate", "--baseline", "a", "--candidate-binary", "b"}, "one of these pairs"},
      {{"gate", "--baseline-binary", "a", "--candidate-binary", "b", "--suite", "kv"}, "'kv'"},
      {{"--suite", "latency", "--resume"}, "--out"},
      {{"--suite", "kv", "--processes", "3"}, "latency only"},
      {{"--suite", "latency", "--processes", "0"}, "--processes is 0"},
      {{"--suite", "lossless", "--inject", "8"}, "latency only"},
      {{"--suite", "latency", "--inject", "-1"}, "--inject is -1"},
      {{"--suite", "latency", "--protocol", "quick"}, "'quick'"},
      {{"report"}, "records"},
      {{"report", "a.json", "--to", "pdf"}, "'pdf'"},
      {{"report", "a.json", "b.json", "--to", "junit"}, "one record"}};
  for (const auto& one : cases)
    EXPECT_NE(complaint(one.words).find(one.said), std::string::npos)
        << one.said << " not in: " << complaint(one.words);
}

TEST(Options, ReportNamesItsRecords) {
  const Options o = parse({"report", "a.json", "b.json", "--out", "r.html"});
  EXPECT_EQ(o.command, Command::kReport);
  EXPECT_EQ(o.records, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_EQ(o.to, "html");
  EXPECT_EQ(o.out, "r.html");
}

}  // namespace
}  // namespace specbench::suites
