#include "ci/policy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace specbench::ci {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_policy(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Policy, TheFileHoldsEveryDefault) {
  const std::filesystem::path file =
      std::filesystem::path(SPECBENCH_SOURCE_DIR) / "ci/gates/policy.json";
  EXPECT_EQ(policy_entries(read_policy(file)), policy_entries(Policy{}));
  // A file without a key would read the same: each must stand there by name.
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  for (const auto& [key, value] : policy_entries(Policy{}))
    EXPECT_NE(text.find('"' + key + "\":"), std::string::npos) << key;
}

TEST(Policy, ReadsEveryKeyAndComments) {
  const Policy p = parse_policy(R"(// why
    {"looks": [6, 12], "misses": [0.02, 0.03], /* wider */ "fail_above": 0.005,
     "pass_below": 0.02, "speedup_floor": 1.2, "figures": ["cost", "speedup", "e2e_speedup"],
     "max_aa_width": 0.2, "max_aa_bias": 0.03, "max_marked_share": 0.5, "counters": "name", "acceptance_miss": 1e-4,
     "max_certified_tv": 0.01, "require_lossless": true, "lossless_samples": 1e6, "power": 0.8})");
  EXPECT_EQ(p.looks, (std::vector<int>{6, 12}));
  EXPECT_EQ(p.misses, (std::vector<double>{0.02, 0.03}));
  EXPECT_EQ(p.fail_above, 0.005);
  EXPECT_EQ(p.pass_below, 0.02);
  EXPECT_EQ(p.speedup_floor, 1.2);
  EXPECT_EQ(p.figures, (std::vector<std::string>{"cost", "speedup", "e2e_speedup"}));
  EXPECT_EQ(p.max_aa_width, 0.2);
  EXPECT_EQ(p.max_aa_bias, 0.03);
  EXPECT_EQ(p.max_marked_share, 0.5);
  EXPECT_EQ(p.counters, CounterRule::kName);
  EXPECT_EQ(p.acceptance_miss, 1e-4);
  EXPECT_EQ(p.max_certified_tv, 0.01);
  EXPECT_TRUE(p.require_lossless);
  EXPECT_EQ(p.lossless_samples, 1000000);
  EXPECT_EQ(p.power, 0.8);
  EXPECT_EQ(parse_policy("{}").looks, Policy{}.looks);
}

TEST(Policy, RefusesWithTheValueAndTheRule) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"[1]", "one JSON object"},
      {"{\"fail_above\": 0.02", "not JSON"},
      {"{\"fail_abov\": 0.02}", "'fail_abov' is no key of a policy; there are looks, misses"},
      {"{\"power\": 0.9, \"power\": 0.8}", "'power' is given twice"},
      {"{\"fail_above\": \"2 %\"}",
       "'fail_above' must be a number above 0 and below 1, not \"2 %\""},
      {"{\"fail_above\": 2}", "'fail_above'"},
      {"{\"fail_above\": 0}", "'fail_above'"},
      {"{\"fail_above\": null}", "'fail_above'"},
      {"{\"fail_above\": 0.06}", "must lie below 'pass_below'"},
      {"{\"looks\": []}", "'looks'"},
      {"{\"looks\": [10, 10, 20]}", "'looks'"},
      {"{\"looks\": [10.5]}", "'looks' must be a whole number"},
      {"{\"looks\": [10, 20]}", "'looks' has 2 entries and 'misses' 3"},
      {"{\"misses\": [0.002, 0.003, 0.5]}", "'misses'"},
      {"{\"misses\": 0.002}", "'misses'"},
      {"{\"figures\": []}", "'figures'"},
      {"{\"figures\": [\"speed\"]}", "'figures'"},
      {"{\"figures\": [\"speedup\", \"speedup\"]}", "'figures'"},
      {"{\"figures\": [[\"speedup\"]]}", "'figures'"},
      {"{\"counters\": \"warn\"}", "'counters' must be \"fail\" or \"name\", not \"warn\""},
      {"{\"require_lossless\": 1}", "'require_lossless' must be true or false, not 1"},
      {"{\"lossless_samples\": -1}", "'lossless_samples'"},
      {"{\"lossless_samples\": 1e400}", "not JSON"},
      {"{\"speedup_floor\": -1}", "'speedup_floor'"},
      {"{\"figures\": [[[[1]]]]}", "nested too deeply"},
  };
  for (const auto& [text, words] : cases)
    EXPECT_NE(refusal(text).find(words), std::string::npos) << text << " -> " << refusal(text);
}

TEST(Policy, NamesAFileThatCannotBeRead) {
  for (const char* path : {"/nowhere/policy.json", "/"}) {
    try {
      read_policy(path);
      ADD_FAILURE() << path << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace specbench::ci
