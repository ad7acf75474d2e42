#include "engine/model/config_rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

/// What `json` says for heads of 8: at theta 10000 the four pairs turn by 1, .1, .01 and .001.
ModelConfig read(const std::string& json, int max_positions = 2048) {
  const std::string file = "config.json";
  const JsonValue root = parse_json(json, file);
  ModelConfig config;
  config.head_dim = 8;
  read_rope(JsonView(file, root), max_positions, config);
  return config;
}

double last_frequency(const std::string& json, int max_positions = 2048) {
  const ModelConfig config = read(json, max_positions);
  EXPECT_EQ(config.rope_frequencies.size(), 4U) << json;
  return config.rope_frequencies.empty() ? 0.0 : config.rope_frequencies.back();
}

/// `scaling` under both names that files give it.
std::vector<std::string> both_spellings(const std::string& scaling) {
  return {R"({"rope_scaling":)" + scaling + "}", R"({"rope_parameters":)" + scaling + "}"};
}

TEST(ConfigRope, ReadsUnscaledRope) {
  EXPECT_EQ(read("{}").rope_theta, 10000.0);
  EXPECT_EQ(read(R"({"rope_theta":500000})").rope_theta, 500000.0);
  EXPECT_EQ(read(R"({"rope_theta":3,"rope_parameters":{"rope_theta":2000}})").rope_theta, 2000.0);
  const ModelConfig both = read(
      R"({"rope_parameters":{"rope_type":"default","rope_theta":2e3},"rope_scaling":{"type":"default"}})");
  EXPECT_EQ(both.rope_theta, 2000.0);
  EXPECT_TRUE(both.rope_frequencies.empty());
  EXPECT_EQ(both.rope_magnitude, 1.0);
}

TEST(ConfigRope, ReadsScalings) {
  const auto expect = [](const std::string& scaling, double frequency) {
    for (const std::string& json : both_spellings(scaling))
      EXPECT_NEAR(last_frequency(json), frequency, 1e-15) << json;
  };
  expect(R"({"type":"linear","factor":4})", 0.001 / 4);
  expect(R"({"rope_type":"linear","type":"linear","factor":4.0})", 0.001 / 4);
  expect(R"({"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,
             "original_max_position_embeddings":1024})",
         0.001 / 8);
  expect(R"({"type":"yarn","factor":4,"original_max_position_embeddings":1024})", 0.001 / 4);
  EXPECT_NEAR(last_frequency(R"({"rope_theta":16,"rope_scaling":{"type":"linear","factor":2}})"),
              0.125 / 2, 1e-15);
  EXPECT_NEAR(
      last_frequency(
          R"({"rope_theta":16,"rope_parameters":{"type":"linear","factor":2,"rope_theta":10000}})"),
      0.001 / 2, 1e-15);
}

// Of the whole file before that of the scaling, max_position_embeddings where there is neither.
// The last pair turns once in 6283 positions; Llama 3 keeps it from four turns on.
TEST(ConfigRope, FindsTheLengthOfTraining) {
  const std::string llama3 =
      R"("rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4)";
  const std::string inner = R"("rope_scaling":{"original_max_position_embeddings":6000,)" + llama3;
  const double kept = std::pow(10000.0, -0.75);
  EXPECT_EQ(last_frequency(R"({"rope_scaling":{)" + llama3 + "}}", 100000), kept);
  EXPECT_EQ(last_frequency("{" + inner + "}}", 100000), kept / 8);
  EXPECT_EQ(last_frequency(R"({"original_max_position_embeddings":50000,)" + inner + "}}", 100000),
            kept);
}

TEST(ConfigRope, ReadsYarnsOptionsAsTransformersDoes) {
  const auto magnitude = [](const std::string& options) {
    return read(R"({"rope_scaling":{"type":"yarn","original_max_position_embeddings":2048)" +
                    options + "}}",
                8192)
        .rope_magnitude;
  };
  const double log4 = std::log(4.0);
  const std::string four = R"(,"factor":4.0)";
  EXPECT_NEAR(magnitude(four), 1.0 + 0.1 * log4, 1e-15);
  EXPECT_NEAR(magnitude(""), 1.0 + 0.1 * log4, 1e-15);  // the ratio of the lengths
  EXPECT_NEAR(magnitude(R"(,"factor":null)"), 1.0 + 0.1 * log4, 1e-15);
  EXPECT_NEAR(magnitude(four + R"(,"mscale":0.707)"), 1.0 + 0.1 * log4, 1e-15);
  const std::string scales = four + R"(,"mscale":0.707,"mscale_all_dim":1.414)";
  EXPECT_NEAR(magnitude(scales), (1.0 + 0.0707 * log4) / (1.0 + 0.1414 * log4), 1e-15);
  EXPECT_EQ(magnitude(scales + R"(,"attention_factor":1.25)"), 1.25);
  EXPECT_EQ(magnitude(four + R"(,"attention_factor":1.25,"truncate":true,"beta_slow":null)"), 1.25);
}

TEST(ConfigRope, RefusesWhatItCannotCompute) {
  const struct {
    const char* scaling;  // under either name, unless it is a whole file
    const char* fragment;
  } cases[] = {
      {R"({"rope_type":"dynamic","factor":2})",
       ".rope_type' is 'dynamic'; 'default', 'linear', 'llama3' and 'yarn' are supported"},
      {R"({"type":"longrope"})", ".type' is 'longrope'"},
      {R"({"type":"mrope","rope_type":"default"})", ".type' is 'mrope'"},
      {R"({"type":"linear","rope_type":"yarn","factor":2})",
       ".type' is 'linear'; rope_type says otherwise; one of them must go"},
      {"[]", " is an array; expected an object"},
      {R"({"type":"linear"})", ".factor' is missing"},
      {R"({"type":"yarn"})", ".factor' is missing"},
      {R"({"type":"yarn","original_max_position_embeddings":4096})",
       ".original_max_position_embeddings' is 4096; it must not exceed max_position_embeddings"},
      {R"({"type":"linear","factor":0.5})", ".factor' is 0.5; expected a number from 1 to 1e6"},
      {R"({"type":"linear","factor":"2"})", ".factor' is '2'; expected a number"},
      {R"({"type":"llama3","factor":8,"high_freq_factor":4})", ".low_freq_factor' is missing"},
      {R"({"type":"llama3","factor":8,"low_freq_factor":0,"high_freq_factor":4})",
       ".low_freq_factor' is 0; expected a number from 1e-6"},
      {R"({"type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":4})",
       ".high_freq_factor' is 4; it must exceed low_freq_factor"},
      {R"({"type":"llama3","factor":8,"original_max_position_embeddings":0})",
       ".original_max_position_embeddings' is 0"},
      {R"({"type":"yarn","factor":2,"beta_fast":0})", ".beta_fast' is 0"},
      {R"({"type":"yarn","factor":2,"beta_slow":33})",
       ".beta_slow' is 33; it must not exceed beta_fast"},
      {R"({"type":"yarn","factor":2,"truncate":false})",
       ".truncate' is false; only true (whole pairs) is supported"},
      {R"({"type":"yarn","factor":2,"attention_factor":-1})", ".attention_factor' is -1"},
      {R"({"type":"yarn","factor":2,"mscale":-1,"mscale_all_dim":1})", ".mscale' is -1"},
      {R"({"type":"yarn","factor":2,"rope_theta":1})", ".rope_theta' is 1; with 'yarn' it must be"},
      {R"({"type":"linear","factor":2,"rope_theta":0.5})", ".rope_theta' is 0.5"},
  };
  for (const auto& c : cases)
    for (const std::string& json : both_spellings(c.scaling))
      EXPECT_EQ(testing::wrong_error([&] { read(json); }, c.fragment), "") << json;
}

TEST(ConfigRope, RefusesContradictions) {
  const auto expect = [](const char* json, const char* fragment) {
    EXPECT_EQ(testing::wrong_error([&] { read(json); }, fragment), "");
  };
  expect(R"({"rope_scaling":{"factor":2}})",
         "config.json: field 'rope_scaling' is an object; a scaling without rope_type");
  expect(R"({"rope_parameters":{"full_attention":{"rope_type":"default"}}})",
         "'rope_parameters.full_attention' is an object; only one rotation for all layers");
  expect(R"({"rope_scaling":{"type":"linear","factor":2},
             "rope_parameters":{"rope_type":"linear","factor":2}})",
         "'rope_parameters' is an object; rope_scaling scales too; one of them must go");
}

}  // namespace
}  // namespace specbench::engine
