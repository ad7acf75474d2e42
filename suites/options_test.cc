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
  EXPECT_EQ(o.drafter, "layer-skip");
  EXPECT_EQ(o.draft_layers, 0);
  EXPECT_EQ(o.verifier, "token");
  EXPECT_EQ(o.sampling.temperature, 1.0);
  EXPECT_EQ(o.protocol, "standard");
  EXPECT_EQ(o.format, "text");
  EXPECT_FALSE(o.stop_at_eos);
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

}  // namespace
}  // namespace specbench::suites
