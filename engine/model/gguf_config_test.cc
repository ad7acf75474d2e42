#include "engine/model/gguf_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/model/gguf_test_files.h"
#include "engine/model/gguf_vocabulary.h"
#include "engine/model/rope.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::config_of;
using testing::gguf_array;
using testing::gguf_bool;
using testing::gguf_f32;
using testing::gguf_number;
using testing::gguf_string;
using testing::gguf_strings;
using testing::gguf_u32;
using testing::GgufParts;
using testing::raw;
using testing::tiny_gguf;
using testing::wrong_error;

TEST(GgufConfig, ReadsAModel) {
  const ModelConfig config = config_of(tiny_gguf());
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.vocab_size, 259);
  EXPECT_EQ(config.n_tokens, 0);
  EXPECT_EQ(config.width, 8);
  EXPECT_EQ(config.n_layers, 2);
  EXPECT_EQ(config.n_heads, 2);
  EXPECT_EQ(config.n_kv_heads, 1);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.ffn_width, 12);
  EXPECT_EQ(config.norm_eps, 1e-5);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_TRUE(config.rope_frequencies.empty());
  EXPECT_EQ(config.rope_magnitude, 1.0);
  EXPECT_EQ(config.max_positions, 64);
  EXPECT_FALSE(config.has_qkv_bias);
  EXPECT_FALSE(config.has_qk_norm);
  EXPECT_FALSE(config.tied_head);
  EXPECT_FALSE(config.bos);
  EXPECT_EQ(config.eos, std::vector<TokenId>{258});
}

TEST(GgufConfig, TellsTheArchitecturesApart) {
  GgufParts tied = tiny_gguf();
  tied.drop_tensor("output.weight");
  EXPECT_TRUE(config_of(tied).tied_head);
  const ModelConfig qwen2 = config_of(tiny_gguf("qwen2"));
  EXPECT_EQ(qwen2.architecture, "qwen2");
  EXPECT_TRUE(qwen2.has_qkv_bias);
  EXPECT_FALSE(qwen2.has_qk_norm);
  const ModelConfig qwen3 = config_of(tiny_gguf("qwen3"));
  EXPECT_FALSE(qwen3.has_qkv_bias);
  EXPECT_TRUE(qwen3.has_qk_norm);
  GgufParts biased = tiny_gguf();
  biased.tensors.push_back({"blk.0.attn_q.bias", {8}, 0, std::string(32, '\0')});
  EXPECT_TRUE(config_of(biased).has_qkv_bias);
}

TEST(GgufConfig, ReadsHeadsOfTheirOwnLength) {
  GgufParts parts = tiny_gguf();
  parts.set("llama.attention.key_length", gguf_u32(6));
  parts.set("llama.attention.value_length", gguf_u32(6));
  parts.set("llama.rope.dimension_count", gguf_u32(6));
  EXPECT_EQ(config_of(parts).head_dim, 6);
  parts.drop("llama.attention.head_count_kv");
  EXPECT_EQ(config_of(parts).n_kv_heads, 2);
}

TEST(GgufConfig, RefusesWhatItCannotCompute) {
  const struct {
    const char* key;
    std::string value;  // empty: without the key
    const char* fragment;
  } cases[] = {
      {"general.architecture", "", "key 'general.architecture' is missing"},
      {"general.architecture", gguf_string("gemma2"),
       "key 'general.architecture' is 'gemma2'; llama (also SmolLM and Mistral), qwen2 and qwen3"},
      {"general.architecture", gguf_u32(3), "is 3; expected a string"},
      {"general.type", gguf_string("adapter"), "'general.type' is 'adapter'; only 'model'"},
      {"general.quantization_version", gguf_u32(3), "is 3; only 2 is supported"},
      {"split.count", gguf_number(GgufType::kUint16, std::uint16_t{3}),
       "key 'split.count' is 3; a model split over several files is not supported"},
      {"llama.expert_count", gguf_u32(8), "'llama.expert_count' is 8; a mixture of experts is not"},
      {"llama.attention.sliding_window", gguf_f32(7.5F), "_window' is 7.5; expected an integer"},
      {"llama.attention.causal", gguf_bool(false), "is false; only causal attention"},
      {"llama.use_parallel_residual", gguf_bool(true), "parallel residuals are not supported"},
      {"llama.attention.scale", gguf_f32(0.5F), "another scale of attention scores is not"},
      {"llama.attention.clamp_kqv", gguf_f32(8), "clamping of queries, keys and values is not"},
      {"llama.attention.max_alibi_bias", gguf_f32(8), "ALiBi is not supported"},
      {"llama.attn_logit_softcapping", gguf_f32(50), "capping of attention scores is not"},
      {"llama.final_logit_softcapping", gguf_f32(30), "is 30; capping of logits is not"},
      {"llama.logit_scale", gguf_f32(0.1F), "scaling of logits is not"},
      {"llama.embedding_scale", gguf_f32(12), "scaling of embeddings is not"},
      {"llama.residual_scale", gguf_f32(0.2F), "scaling of residuals is not"},
      {"llama.embedding_length", "", "key 'llama.embedding_length' is missing"},
      {"llama.embedding_length", gguf_u32(1 << 17), "'llama.embedding_length' is 131072; expected"},
      {"llama.block_count", gguf_string("2"), "'llama.block_count' is '2'; expected an integer"},
      {"llama.block_count", gguf_u32(0), "'llama.block_count' is 0"},
      {"llama.block_count", gguf_u32(2000), "'llama.block_count' is 2000"},
      {"llama.feed_forward_length", gguf_u32(1 << 21), "'llama.feed_forward_length' is 2097152"},
      {"llama.feed_forward_length", gguf_array(GgufType::kInt32, 2, std::string(8, 'x')),
       "is an array of 2 integers; expected an integer"},
      {"llama.context_length", gguf_f32(64), "'llama.context_length' is 64; expected an integer"},
      {"llama.attention.head_count", gguf_u32(0), "'llama.attention.head_count' is 0"},
      {"llama.attention.head_count", gguf_u32(3), "over it must be an even integer of at most"},
      {"llama.attention.head_count", gguf_u32(8), "over it must be an even integer"},
      {"llama.attention.head_count", gguf_u32(16), "over it must be an even integer"},
      {"llama.attention.head_count_kv", gguf_u32(3),
       "it must divide llama.attention.head_count, which is 2"},
      {"llama.attention.key_length", gguf_u32(5), "RoPE rotates pairs"},
      {"llama.attention.key_length", gguf_u32(6), "values have 4, and only heads of one length"},
      {"llama.attention.value_length", gguf_u32(6), "keys have 4, and only heads of one length"},
      {"llama.attention.layer_norm_rms_epsilon", "", "layer_norm_rms_epsilon' is missing"},
      {"llama.attention.layer_norm_rms_epsilon", gguf_f32(0), "is 0; expected a number above 0"},
      {"llama.attention.layer_norm_rms_epsilon", gguf_f32(std::nanf("")), "is nan; expected"},
      {"llama.rope.dimension_count", gguf_u32(2), "only 4 (all of each head rotated)"},
      {"llama.rope.freq_base", gguf_f32(0.5F), "'llama.rope.freq_base' is 0.5; expected a number"},
      {"llama.rope.scaling.type", gguf_string("longrope"), "'none', 'linear' and 'yarn' are"},
      {"llama.rope.scaling.factor", gguf_f32(0), "'llama.rope.scaling.factor' is 0; expected"},
      {"llama.rope.scale_linear", gguf_f32(-1), "'llama.rope.scale_linear' is -1; expected"},
      {"llama.rope.scaling.alpha", gguf_f32(1000), "it is not supported for this architecture"},
      {"llama.rope.scaling.attn_factor", gguf_f32(0), "'llama.rope.scaling.attn_factor' is 0"},
      {"tokenizer.ggml.tokens", "", "key 'tokenizer.ggml.tokens' is missing"},
      {"tokenizer.ggml.tokens", gguf_u32(1), "is 1; expected an array"},
      {"tokenizer.ggml.tokens", gguf_strings({}), "expected from 1 to 259, the rows of token_embd"},
      {"tokenizer.ggml.tokens", gguf_strings(std::vector<std::string>(260, "a")),
       "is an array of 260 strings; expected from 1 to 259"},
      {"tokenizer.ggml.eos_token_id", gguf_u32(259), "'tokenizer.ggml.eos_token_id' is 259; exp"},
      {"tokenizer.ggml.eot_token_id", gguf_number(GgufType::kInt32, -1), "eot_token_id' is -1"},
      {"tokenizer.ggml.add_bos_token", gguf_u32(1), "add_bos_token' is 1; expected true or false"},
      {"tokenizer.ggml.model", "", "key 'tokenizer.ggml.model' is missing"}};
  for (const auto& c : cases) {
    GgufParts parts = tiny_gguf();
    parts.drop(c.key);
    if (!c.value.empty()) parts.set(c.key, c.value);
    EXPECT_EQ(wrong_error([&] { config_of(parts); }, c.fragment), "") << c.key;
    EXPECT_EQ(wrong_error([&] { config_of(parts); }, "f.gguf: "), "") << c.key;
  }
}

TEST(GgufConfig, AcceptsKeysThatChangeNothing) {
  GgufParts parts = tiny_gguf();
  parts.set("general.type", gguf_string("model"));
  parts.set("general.quantization_version", gguf_u32(2));
  parts.set("split.count", gguf_u32(1));
  parts.set("llama.expert_count", gguf_u32(0));
  parts.set("llama.attention.sliding_window", gguf_u32(64));
  parts.set("llama.attention.causal", gguf_bool(true));
  parts.set("llama.rope.scaling.type", gguf_string("none"));
  parts.set("llama.rope.scaling.factor", gguf_f32(4));
  EXPECT_TRUE(config_of(parts).rope_frequencies.empty());
}

TEST(GgufConfig, RefusesAWrongEmbedding) {
  GgufParts parts = tiny_gguf();
  parts.drop_tensor("token_embd.weight");
  EXPECT_EQ(wrong_error([&] { config_of(parts); }, "tensor 'token_embd.weight' is missing"), "");
  parts.tensors.push_back({"token_embd.weight", {8}, 0, std::string(32, '\0')});
  EXPECT_EQ(wrong_error([&] { config_of(parts); }, "has 1 dimensions and 0 rows; expected 2"), "");
}

// Pairs i of heads of 4: theta^0 and theta^(-1/2).
TEST(GgufConfig, ScalesFrequencies) {
  GgufParts parts = tiny_gguf();
  parts.set("llama.rope.freq_base", gguf_f32(10000));
  parts.set("llama.rope.scale_linear", gguf_f32(4));
  ModelConfig config = config_of(parts);
  ASSERT_EQ(config.rope_frequencies.size(), 2U);
  EXPECT_DOUBLE_EQ(config.rope_frequencies[0], 0.25);
  EXPECT_DOUBLE_EQ(config.rope_frequencies[1], 0.0025);
  // The newer key goes first.
  parts.set("llama.rope.scaling.factor", gguf_f32(2));
  parts.set("llama.rope.scaling.type", gguf_string("linear"));
  EXPECT_DOUBLE_EQ(config_of(parts).rope_frequencies[0], 0.5);
  // Llama 3.1: each pair has a divisor of its own; the same by another route.
  parts.tensors.push_back({"rope_freqs.weight", {2}, 0, raw(std::vector<float>{1, 8})});
  config = config_of(parts);
  EXPECT_DOUBLE_EQ(config.rope_frequencies[0], 0.5);
  EXPECT_DOUBLE_EQ(config.rope_frequencies[1], 0.005 / 8);
  parts.drop("llama.rope.scaling.factor");
  parts.drop("llama.rope.scale_linear");
  EXPECT_DOUBLE_EQ(config_of(parts).rope_frequencies[1], 0.01 / 8);
}

TEST(GgufConfig, ReadsYarn) {
  GgufParts parts = tiny_gguf();
  parts.set("llama.rope.scaling.type", gguf_string("yarn"));
  parts.set("llama.rope.scaling.factor", gguf_f32(4));
  RopeScaling scaling;
  scaling.kind = RopeScaling::Kind::kYarn;
  scaling.factor = 4;
  scaling.original_positions = 64;
  const auto expect = [&](double times) {
    const RopeAngles angles = rope_angles(4, 10000, scaling);
    const ModelConfig config = config_of(parts);
    EXPECT_EQ(config.rope_frequencies, angles.frequencies);
    EXPECT_DOUBLE_EQ(config.rope_magnitude, angles.magnitude * times);
  };
  expect(1.0);
  EXPECT_DOUBLE_EQ(config_of(parts).rope_magnitude, 0.1 * std::log(4.0) + 1.0);
  parts.set("llama.rope.scaling.original_context_length", gguf_u32(32));
  parts.set("llama.rope.scaling.yarn_beta_fast", gguf_f32(16));
  parts.set("llama.rope.scaling.yarn_beta_slow", gguf_f32(2));
  parts.set("llama.rope.scaling.yarn_attn_factor", gguf_f32(1.5F));
  parts.set("llama.rope.scaling.yarn_ext_factor", gguf_f32(1));
  parts.set("llama.rope.scaling.attn_factor", gguf_f32(0.5F));
  scaling.original_positions = 32;
  scaling.beta_fast = 16;
  scaling.beta_slow = 2;
  scaling.attention_factor = 1.5;
  expect(0.5);
  EXPECT_DOUBLE_EQ(config_of(parts).rope_magnitude, 0.75);
}

TEST(GgufConfig, RefusesWrongYarnAndFactors) {
  const struct {
    const char* key;
    std::string value;
    const char* fragment;
  } cases[] = {
      {"llama.rope.scaling.original_context_length", gguf_u32(0), "_length' is 0; expected"},
      {"llama.rope.scaling.yarn_ext_factor", gguf_f32(0), "only 1 (the blend of YaRN in full)"},
      {"llama.rope.scaling.yarn_beta_fast", gguf_f32(0.5F), "_fast' is 0.5; yarn_beta_fast (32"},
      {"llama.rope.scaling.yarn_beta_slow", gguf_f32(33), "_slow' is 33; yarn_beta_fast (32"},
      {"llama.rope.scaling.yarn_attn_factor", gguf_f32(-1), "yarn_attn_factor' is -1; expected"},
      {"llama.rope.scaling.yarn_log_multiplier", gguf_f32(0.1F), "it is not supported for this"},
      {"llama.rope.freq_base", gguf_f32(1), "'llama.rope.freq_base' is 1; YaRN needs"}};
  for (const auto& c : cases) {
    GgufParts parts = tiny_gguf();
    parts.set("llama.rope.scaling.type", gguf_string("yarn"));
    parts.set("llama.rope.scaling.factor", gguf_f32(4));
    parts.set(c.key, c.value);
    EXPECT_EQ(wrong_error([&] { config_of(parts); }, c.fragment), "") << c.key;
  }
  GgufParts parts = tiny_gguf();
  const auto expect = [&](GgufParts::Tensor factors, const std::string& fragment) {
    parts.drop_tensor("rope_freqs.weight");
    parts.tensors.push_back(std::move(factors));
    EXPECT_EQ(wrong_error([&] { config_of(parts); }, "'rope_freqs.weight' " + fragment), "");
  };
  const std::string name = "rope_freqs.weight";
  expect({name, {3}, 0, std::string(12, 'x')},
         "is stored as F32 of shape [3]; expected F32 of shape [2]");
  expect({name, {1, 2}, 0, std::string(8, 'x')}, "is stored as F32 of shape [2, 1]");
  expect({name, {2}, 1, std::string(4, 'x')}, "is stored as F16 of shape [2]");
  expect({name, {2}, 0, raw(std::vector<float>{1, 0})}, "holds 0.000000 at index 1; expected");
  expect({name, {2}, 0, raw(std::vector<float>{std::nanf(""), 1})}, "holds nan at index 0");
}

TEST(GgufConfig, KeepsWithinASlidingWindow) {
  GgufParts parts = tiny_gguf();
  parts.set("llama.attention.key_length", gguf_u32(32));
  parts.set("llama.attention.value_length", gguf_u32(32));
  parts.set("llama.attention.sliding_window", gguf_u32(24));
  EXPECT_EQ(config_of(parts).max_positions, 24);
  // The rotation is scaled by the length of training, not by the window.
  parts.set("llama.rope.scaling.type", gguf_string("yarn"));
  parts.set("llama.rope.scaling.factor", gguf_f32(4));
  const std::vector<double> frequencies = config_of(parts).rope_frequencies;
  parts.drop("llama.attention.sliding_window");
  EXPECT_EQ(config_of(parts).rope_frequencies, frequencies);
  parts = tiny_gguf("qwen2");
  parts.set("qwen2.attention.sliding_window", gguf_u32(63));
  EXPECT_EQ(wrong_error([&] { config_of(parts); },
                        "'qwen2.attention.sliding_window' is 63; sliding-window attention is not"),
            "");
  parts.set("qwen2.attention.sliding_window", gguf_u32(64));
  EXPECT_EQ(config_of(parts).max_positions, 64);
}

TEST(GgufConfig, SurvivesMutation) {
  // Without tensors of any size: most of the bytes are metadata.
  GgufParts parts = tiny_gguf();
  parts.tensors.resize(1);
  parts.tensors[0] = {"token_embd.weight", {1, 3}, 0, std::string(12, '\0')};
  parts.set("tokenizer.ggml.tokens", gguf_strings({"a", "b", "c"}));
  parts.set("tokenizer.ggml.token_type",
            gguf_array(GgufType::kInt32, 3, raw(std::vector<std::int32_t>{1, 1, 3})));
  parts.set("tokenizer.ggml.bos_token_id", gguf_u32(2));
  parts.set("tokenizer.ggml.eos_token_id", gguf_u32(2));
  parts.set("llama.rope.scaling.type", gguf_string("yarn"));
  parts.set("llama.rope.scaling.factor", gguf_f32(4));
  const std::string whole = parts.bytes();
  testing::TestRandom random(6);
  int n_read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = testing::mutate(whole, random);
    n_read += testing::completes_or_input_error([&] {
      const GgufFile file(std::as_bytes(std::span(bytes)), "f.gguf");
      (void)read_gguf_config(file);
      (void)load_gguf_vocabulary(file);
    });
  }
  EXPECT_GT(n_read, 200);
  EXPECT_LT(n_read, 19'000);
}

}  // namespace
}  // namespace specbench::engine
