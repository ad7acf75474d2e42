#include "engine/model/config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
  EXPECT_FALSE(config.bos);  // the tokenizer's matter
  EXPECT_EQ(config.eos, (std::vector<TokenId>{2, 299}));
  all["eos_token_id"] = 5;
  EXPECT_EQ(parse(all).eos, std::vector<TokenId>{5});
}

TEST(Config, RefusesWhatItCannotCompute) {
  const struct {
    const char* change;  // merged into the small config
    const char* fragment;
  } cases[] = {
      {R"({"model_type":"gemma"})",
       "'model_type' is 'gemma'; 'llama', 'mistral', 'qwen2' and 'qwen3' are supported"},
      {R"({"model_type":null})", "field 'model_type' is missing"},
      {R"({"model_type":1})", "field 'model_type' is 1; expected a string"},
      {R"({"architectures":["MistralForCausalLM"]})", "'architectures[0]' is 'MistralForCausalLM'"},
      {R"({"hidden_act":"gelu"})", "field 'hidden_act' is 'gelu'; only 'silu'"},
      {R"({"rope_scaling":{"type":"dynamic","factor":2}})", "'rope_scaling.type' is 'dynamic'"},
      {R"({"attention_bias":true})",
       "field 'attention_bias' is true; a bias on the output of attention is not supported"},
      {R"({"mlp_bias":true})", "field 'mlp_bias' is true"},
      {R"({"quantization_config":{"bits":4}})",
       "'quantization_config' is an object; quantized weights are not"},
      {R"({"sliding_window":0})", "field 'sliding_window' is 0; expected an integer from 1"},
      {R"({"use_sliding_window":true})", "field 'use_sliding_window' is true"},
      {R"({"layer_types":["full_attention","sliding_attention"]})",
       "'layer_types[1]' is 'sliding_attention'; only 'full_attention'"},
      {R"({"num_local_experts":8})", "a mixture of experts is not supported"},
      {R"({"partial_rotary_factor":0.5})", "field 'partial_rotary_factor' is 0.5"},
      {R"({"rope_parameters":{"partial_rotary_factor":0.5}})",
       "'rope_parameters.partial_rotary_factor' is 0.5"},
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
      {R"({"eos_token_id":[1,300]})", "field 'eos_token_id[1]' is 300"},
      {R"({"eos_token_id":"</s>"})",
       "field 'eos_token_id' is '</s>'; expected a token id or an array of token ids"},
  };
  for (const auto& c : cases) {
    json config = small();
    config.update(json::parse(c.change));
    EXPECT_EQ(wrong_error([&] { parse(config); }, c.fragment), "");
    EXPECT_EQ(wrong_error([&] { parse(config); }, "config.json"), "");
  }
}

TEST(Config, KnowsFourArchitectures) {
  json config = small();
  EXPECT_EQ(parse(config).architecture, "llama");
  EXPECT_FALSE(parse(config).has_qkv_bias || parse(config).has_qk_norm);

  // A file of Mistral-7B-v0.1's kind: a window shorter than the positions.
  config.update(json::parse(R"({"model_type":"mistral","architectures":["MistralForCausalLM"],
      "num_key_value_heads":2,"max_position_embeddings":32768,"sliding_window":4096})"));
  EXPECT_EQ(parse(config).architecture, "mistral");
  EXPECT_EQ(parse(config).max_positions, 4096);
  config["sliding_window"] = nullptr;
  EXPECT_EQ(parse(config).max_positions, 32768);
  EXPECT_FALSE(parse(config).has_qkv_bias || parse(config).has_qk_norm);

  // Qwen2 names a window and leaves it unused.
  config.update(json::parse(R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],
      "sliding_window":4096,"use_sliding_window":false,"max_window_layers":1,
      "layer_types":["full_attention","full_attention"],"attention_bias":true})"));
  EXPECT_EQ(parse(config).architecture, "qwen2");
  EXPECT_EQ(parse(config).max_positions, 32768);
  EXPECT_EQ(parse(config).head_dim, 2);
  EXPECT_TRUE(parse(config).has_qkv_bias);
  EXPECT_FALSE(parse(config).has_qk_norm);

  config.update(json::parse(R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],
      "attention_bias":false,"head_dim":16})"));
  EXPECT_EQ(parse(config).architecture, "qwen3");
  EXPECT_EQ(parse(config).head_dim, 16);
  EXPECT_TRUE(parse(config).has_qk_norm);
  EXPECT_FALSE(parse(config).has_qkv_bias);
  config["attention_bias"] = true;
  EXPECT_EQ(wrong_error([&] { parse(config); }, "a bias on the output of attention"), "");

  EXPECT_EQ(class_of("llama"), "LlamaForCausalLM");
  EXPECT_EQ(class_of("mistral"), "MistralForCausalLM");
  EXPECT_EQ(class_of("qwen2"), "Qwen2ForCausalLM");
  EXPECT_EQ(class_of("qwen3"), "Qwen3ForCausalLM");
}

// The defaults of transformers' MistralConfig, Qwen2Config and Qwen3Config.
TEST(Config, TakesTheDefaultsOfItsArchitecture) {
  json config = small();
  config["model_type"] = "mistral";
  config["num_attention_heads"] = 8;
  config["hidden_size"] = 32;
  EXPECT_EQ(parse(config).n_kv_heads, 8);
  EXPECT_EQ(parse(config).max_positions, 4096);  // the window; 131072 without
  config["sliding_window"] = nullptr;
  EXPECT_EQ(parse(config).max_positions, 131072);
  config["num_attention_heads"] = 16;
  EXPECT_EQ(parse(config).n_kv_heads, 8);
  config["num_key_value_heads"] = nullptr;
  EXPECT_EQ(parse(config).n_kv_heads, 16);

  for (const char* type : {"qwen2", "qwen3"}) {
    config = small();
    config["model_type"] = type;
    EXPECT_EQ(wrong_error([&] { parse(config); },
                          "'num_attention_heads' is 4; num_key_value_heads, which is 32 where it "
                          "is absent, must divide it"),
              "");
    config["num_attention_heads"] = 64;
    config["hidden_size"] = 256;
    const ModelConfig read = parse(config);
    EXPECT_EQ(read.n_kv_heads, 32);
    EXPECT_EQ(read.head_dim, std::string(type) == "qwen2" ? 4 : 128);
    EXPECT_EQ(read.max_positions, 32768);
    EXPECT_EQ(read.norm_eps, 1e-6);
    EXPECT_EQ(read.rope_theta, 10000.0);
    EXPECT_FALSE(read.tied_head);
  }
}

// Within it every position sees all before it, whoever wrote it there.
TEST(Config, KeepsWithinASlidingWindow) {
  json config = small();
  config["sliding_window"] = 100;
  EXPECT_EQ(parse(config).max_positions, 100);
  config["sliding_window"] = 4096;
  EXPECT_EQ(parse(config).max_positions, 2048);
}

// Published files hold ids that no tokenizer has; nothing reads them.
TEST(Config, LeavesTheBosTokenToTheTokenizer) {
  json config = small();
  for (const json& id : {json(300), json(-1), json("<s>")}) {
    config["bos_token_id"] = id;
    EXPECT_FALSE(parse(config).bos);
  }
}

TEST(Config, GenerationConfigAddsEnds) {
  ModelConfig config = parse(small());
  config.eos = {7};
  parse_generation_config(R"({"eos_token_id":[5,7],"temperature":0.6})", "g", config);
  EXPECT_EQ(config.eos, (std::vector<TokenId>{7, 5}));
  parse_generation_config(R"({"eos_token_id":9})", "g", config);
  parse_generation_config(R"({"eos_token_id":null})", "g", config);
  parse_generation_config("{}", "g", config);
  EXPECT_EQ(config.eos, (std::vector<TokenId>{7, 5, 9}));
  const auto expect = [&](const char* text, const char* fragment) {
    EXPECT_EQ(wrong_error([&] { parse_generation_config(text, "g", config); }, fragment), "");
  };
  expect(R"({"eos_token_id":[1,300]})",
         "g: field 'eos_token_id[1]' is 300; expected a token id below vocab_size, which is 300");
  expect(R"({"eos_token_id":"</s>"})", "g: field 'eos_token_id' is '</s>'");
  std::string many = R"({"eos_token_id":[1)";
  for (int i = 0; i < 1000; ++i) many += ",1";
  expect((many + "]}").c_str(),
         "'eos_token_id' is an array; it lists 1001 tokens, and at most 1000 are supported.");
  expect("[]", "g: the top level is an array; expected an object");
  expect("", "g is not valid JSON");
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
  int n_read = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = testing::mutate(whole, random);
    n_read += testing::completes_or_input_error([&] { parse_config(text, "c"); });
  }
  EXPECT_GT(n_read, 100);
  EXPECT_LT(n_read, 2000);
}

}  // namespace
}  // namespace specbench::engine
