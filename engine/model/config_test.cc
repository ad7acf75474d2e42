#include "engine/model/config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using nlohmann::json;
using testing::wrong_error;

json small() {
  return json::parse(
      R"({"model_type":"llama","vocab_size":300,"hidden_size":8,"num_hidden_layers":2,
                         "num_attention_heads":4,"intermediate_size":12})");
}

ModelConfig parse(const json& config) { return parse_config(config.dump(), "config.json"); }

TEST(Config, TakesHuggingFaceDefaults) {
  const ModelConfig config = parse(small());
  EXPECT_EQ(config.vocab_size, 300);
  EXPECT_EQ(config.width, 8);
  EXPECT_EQ(config.n_layers, 2);
  EXPECT_EQ(config.n_heads, 4);
  EXPECT_EQ(config.n_kv_heads, 4);
  EXPECT_EQ(config.head_dim, 2);
  EXPECT_EQ(config.ffn_width, 12);
  EXPECT_EQ(config.norm_eps, 1e-6);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_EQ(config.max_positions, 2048);
  EXPECT_FALSE(config.tied_head);
  EXPECT_FALSE(config.bos);
  EXPECT_TRUE(config.eos.empty());
}

TEST(Config, ReadsEveryField) {
  json all = small();
  all.update(
      json::parse(R"({"architectures":["LlamaForCausalLM"],"num_key_value_heads":2,"head_dim":6,
      "rms_norm_eps":1e-5,"rope_theta":500000,"max_position_embeddings":77,"tie_word_embeddings":true,"hidden_act":"silu",
      "bos_token_id":1,"eos_token_id":[2,299],"rope_scaling":null,"attention_bias":false,"sliding_window":null})"));
  const ModelConfig config = parse(all);
  EXPECT_EQ(config.n_kv_heads, 2);
  EXPECT_EQ(config.head_dim, 6);
  EXPECT_EQ(config.norm_eps, 1e-5);
  EXPECT_EQ(config.rope_theta, 500000.0);
  EXPECT_EQ(config.max_positions, 77);
  EXPECT_TRUE(config.tied_head);
  EXPECT_EQ(config.bos, 1);
  EXPECT_EQ(config.eos, (std::vector<TokenId>{2, 299}));
  all["eos_token_id"] = 5;
  EXPECT_EQ(parse(all).eos, std::vector<TokenId>{5});
}

TEST(Config, ReadsBothSpellingsOfUnscaledRope) {
  json config = small();
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 2000.0}};
  EXPECT_EQ(parse(config).rope_theta, 2000.0);
  config["rope_scaling"] = {{"type", "default"}};
  EXPECT_EQ(parse(config).rope_theta, 2000.0);
}

TEST(Config, RefusesWhatItCannotCompute) {
  const struct {
    const char* change;  // merged into the small config
    const char* fragment;
  } cases[] = {
      {R"({"model_type":"qwen2"})",
       "field 'model_type' is 'qwen2'; only 'llama' (LlamaForCausalLM) is supported"},
      {R"({"model_type":null})", "field 'model_type' is missing"},
      {R"({"model_type":1})", "field 'model_type' is 1; expected a string"},
      {R"({"architectures":["MistralForCausalLM"]})", "'architectures[0]' is 'MistralForCausalLM'"},
      {R"({"hidden_act":"gelu"})", "field 'hidden_act' is 'gelu'; only 'silu'"},
      {R"({"rope_scaling":{"rope_type":"llama3","factor":8}})",
       "'rope_scaling.rope_type' is 'llama3'; only 'default'"},
      {R"({"rope_scaling":{"type":"linear","factor":2}})", "'rope_scaling.type' is 'linear'"},
      {R"({"rope_scaling":{"factor":2}})", "a scaling without rope_type"},
      {R"({"rope_scaling":[]})", "'rope_scaling' is an array; expected an object"},
      {R"({"rope_parameters":{"rope_type":"yarn"}})", "'rope_parameters.rope_type' is 'yarn'"},
      {R"({"attention_bias":true})",
       "field 'attention_bias' is true; biases in attention are not supported"},
      {R"({"mlp_bias":true})", "field 'mlp_bias' is true"},
      {R"({"quantization_config":{"bits":4}})",
       "'quantization_config' is an object; quantized weights are not"},
      {R"({"sliding_window":4096})", "field 'sliding_window' is 4096"},
      {R"({"num_local_experts":8})", "a mixture of experts is not supported"},
      {R"({"partial_rotary_factor":0.5})", "field 'partial_rotary_factor' is 0.5"},
      {R"({"vocab_size":0})", "field 'vocab_size' is 0; expected an integer from 1"},
      {R"({"vocab_size":-5})", "field 'vocab_size' is -5"},
      {R"({"vocab_size":300.5})", "field 'vocab_size' is 300.5"},
      {R"({"vocab_size":"300"})", "field 'vocab_size' is '300'"},
      {R"({"vocab_size":4294967296})", "field 'vocab_size' is 4294967296"},
      {R"({"hidden_size":null})", "field 'hidden_size' is missing"},
      {R"({"hidden_size":10})", "hidden_size / num_attention_heads (4) must be an even integer"},
      {R"({"hidden_size":12})", "must be an even integer"},
      {R"({"num_hidden_layers":1000000})", "field 'num_hidden_layers' is 1000000"},
      {R"({"num_attention_heads":0})", "field 'num_attention_heads' is 0"},
      {R"({"num_key_value_heads":3})", "must divide num_attention_heads, which is 4"},
      {R"({"num_key_value_heads":8})", "must divide num_attention_heads"},
      {R"({"head_dim":3})", "field 'head_dim' is 3; RoPE rotates pairs"},
      {R"({"intermediate_size":99999999})", "field 'intermediate_size'"},
      {R"({"max_position_embeddings":0})", "field 'max_position_embeddings' is 0"},
      {R"({"rms_norm_eps":0})", "field 'rms_norm_eps' is 0"},
      {R"({"rms_norm_eps":-1e-5})", "field 'rms_norm_eps' is -1e-05"},
      {R"({"rope_theta":0.5})", "field 'rope_theta' is 0.5"},
      {R"({"rope_theta":"big"})", "field 'rope_theta' is 'big'; expected a number"},
      {R"({"tie_word_embeddings":1})", "field 'tie_word_embeddings' is 1; expected true or false"},
      {R"({"bos_token_id":300})",
       "field 'bos_token_id' is 300; expected a token id below vocab_size, which is 300"},
      {R"({"bos_token_id":-1})", "field 'bos_token_id' is -1"},
      {R"({"eos_token_id":[1,300]})", "field 'eos_token_id[1]' is 300"},
      {R"({"eos_token_id":"</s>"})", "field 'eos_token_id' is '</s>'"},
  };
  for (const auto& c : cases) {
    json config = small();
    config.update(json::parse(c.change));
    EXPECT_EQ(wrong_error([&] { parse(config); }, c.fragment), "");
    EXPECT_EQ(wrong_error([&] { parse(config); }, "config.json"), "");
  }
}

TEST(Config, RefusesTextThatIsNoObject) {
  EXPECT_EQ(wrong_error([] { parse_config("[]", "c"); },
                        "c: the top level is an array; expected an object"),
            "");
  EXPECT_EQ(wrong_error([] { parse_config("", "c"); }, "c is not valid JSON"), "");
  EXPECT_EQ(wrong_error([] { parse_config(R"({"model_type":"llama","model_type":"llama"})", "c"); },
                        "appears twice"),
            "");
  const testing::ScratchFolder folder;
  EXPECT_EQ(wrong_error([&] { read_config(folder.path() / "config.json"); },
                        "config.json does not exist"),
            "");
  EXPECT_EQ(
      wrong_error([&] { read_config(folder.write("config.json", "")); }, "config.json is empty"),
      "");
}

TEST(Config, SurvivesTruncationAndMutation) {
  const std::string whole = testing::slurp(std::filesystem::path(SPECBENCH_SOURCE_DIR) /
                                           "engine/models/austen-10m/config.json");
  const std::size_t closing = whole.rfind('}');
  for (std::size_t length = 0; length <= closing; ++length) {
    EXPECT_THROW(parse_config(whole.substr(0, length), "c"), InputError) << length;
  }
  testing::TestRandom random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = testing::mutate(whole, random);
    testing::completes_or_input_error([&] { parse_config(text, "c"); });
  }
}

}  // namespace
}  // namespace specbench::engine
