// Of read_gguf_config: how many tokens there are, which goes first, and which end a text.
#include <gtest/gtest.h>

#include <string>

#include "engine/model/gguf_config.h"
#include "engine/model/gguf_test_files.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::config_of;
using testing::gguf_array;
using testing::gguf_bool;
using testing::gguf_string;
using testing::gguf_strings;
using testing::gguf_u32;
using testing::GgufParts;
using testing::raw;
using testing::tiny_gguf;
using testing::wrong_error;

TEST(GgufConfig, CountsTheTokens) {
  GgufParts parts = tiny_gguf();
  std::vector<std::string> tokens(200, "a");
  parts.set("tokenizer.ggml.tokens", gguf_strings(tokens));
  parts.drop("tokenizer.ggml.eos_token_id");
  EXPECT_EQ(config_of(parts).vocab_size, 259);
  EXPECT_EQ(config_of(parts).n_tokens, 200);
  // Padding at the end is marked as unused; unused ids elsewhere are ids like others.
  std::vector<std::int32_t> types(200, 1);
  types[7] = types[198] = types[199] = 5;
  parts.set("tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, 200, raw(types)));
  EXPECT_EQ(config_of(parts).n_tokens, 198);
  parts.set("tokenizer.ggml.eos_token_id", gguf_u32(198));
  EXPECT_EQ(wrong_error([&] { config_of(parts); }, "expected an integer from 0 to 197"), "");
  parts.drop("tokenizer.ggml.eos_token_id");
  types.assign(200, 5);
  parts.set("tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, 200, raw(types)));
  EXPECT_EQ(wrong_error([&] { config_of(parts); }, "all of them are marked as unused"), "");
  // Some converters give padding other types, and say so in its text.
  types.assign(200, 4);
  types[198] = 5;
  tokens[197] = "[PAD197]";
  tokens[199] = "[PAD199]";
  tokens[100] = "[PAD100]";
  parts.set("tokenizer.ggml.tokens", gguf_strings(tokens));
  parts.set("tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, 200, raw(types)));
  EXPECT_EQ(config_of(parts).n_tokens, 197);
  tokens[199] = "[PAD198]";
  parts.set("tokenizer.ggml.tokens", gguf_strings(tokens));
  EXPECT_EQ(config_of(parts).n_tokens, 200);
}

TEST(GgufConfig, PutsBosFirstWhereTheFileOrItsTokenizerSaysSo) {
  const auto bos = [](const std::string& model, const std::string& pre, const std::string& add) {
    GgufParts parts = tiny_gguf();
    parts.set("tokenizer.ggml.model", gguf_string(model));
    parts.set("tokenizer.ggml.pre", gguf_string(pre));
    if (!add.empty()) parts.set("tokenizer.ggml.add_bos_token", add);
    return config_of(parts).bos;
  };
  EXPECT_EQ(bos("llama", "default", ""), 257);
  EXPECT_EQ(bos("llama", "default", gguf_bool(false)), std::nullopt);
  EXPECT_EQ(bos("gpt2", "smollm", ""), std::nullopt);
  EXPECT_EQ(bos("gpt2", "qwen2", gguf_bool(true)), 257);
  EXPECT_EQ(bos("gpt2", "llama-bpe", ""), 257);
  EXPECT_EQ(bos("gpt2", "llama-bpe", gguf_bool(false)), std::nullopt);
  for (const char* pre : {"llama3", "llama-v3", "falcon3", "pixtral", "tekken"})
    EXPECT_EQ(bos("gpt2", pre, ""), 257) << pre;
  for (const char* pre : {"default", "gpt-2", "qwen2", "deepseek-r1-qwen", "unknown"})
    EXPECT_EQ(bos("gpt2", pre, ""), std::nullopt) << pre;
  GgufParts parts = tiny_gguf();
  parts.drop("tokenizer.ggml.bos_token_id");
  parts.set("tokenizer.ggml.model", gguf_string("llama"));
  EXPECT_EQ(config_of(parts).bos, 1);  // SentencePiece's usual id
  parts.set("tokenizer.ggml.model", gguf_string("gpt2"));
  EXPECT_EQ(config_of(parts).bos, std::nullopt);
  parts.set("tokenizer.ggml.add_bos_token", gguf_bool(true));
  EXPECT_EQ(wrong_error([&] { config_of(parts); },
                        "add_bos_token' is true; but tokenizer.ggml.bos_token_id is missing"),
            "");
}

TEST(GgufConfig, EndsAtAnyOfSeveralTokens) {
  GgufParts parts = tiny_gguf();
  parts.set("tokenizer.ggml.eot_token_id", gguf_u32(257));
  parts.set("tokenizer.ggml.eom_token_id", gguf_u32(258));
  EXPECT_EQ(config_of(parts).eos, (std::vector<TokenId>{258, 257}));
  for (const char* key : {"eos", "eot", "eom"})
    parts.drop("tokenizer.ggml." + std::string(key) + "_token_id");
  parts.set("tokenizer.ggml.token_type",
            gguf_array(GgufType::kInt32, 259, raw(std::vector<std::int32_t>(259, 1))));
  EXPECT_TRUE(config_of(parts).eos.empty());
  parts.set("tokenizer.ggml.model", gguf_string("llama"));
  EXPECT_EQ(config_of(parts).eos, std::vector<TokenId>{2});  // SentencePiece's usual id
  parts.set("tokenizer.ggml.eos_token_id", gguf_u32(7));
  EXPECT_EQ(config_of(parts).eos, std::vector<TokenId>{7});
}

// Whatever the keys say, as llama.cpp does.
TEST(GgufConfig, EndsAtControlTokensThatSaySo) {
  GgufParts parts = tiny_gguf();
  std::vector<std::string> tokens = {"<|eot_id|>",      "<|eom_id|>", "<|im_end|>",    "<|end|>",
                                     "<|endoftext|>",   "</s>",       "<end_of_turn>", "a",
                                     "<|end_of_text|>", "<|end"};
  std::vector<std::int32_t> types(10, 3);
  const auto ends = [&] {
    parts.set("tokenizer.ggml.tokens", gguf_strings(tokens));
    parts.set("tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, 10, raw(types)));
    return config_of(parts).eos;
  };
  parts.set("tokenizer.ggml.eos_token_id", gguf_u32(8));
  parts.drop("tokenizer.ggml.bos_token_id");
  EXPECT_EQ(ends(), (std::vector<TokenId>{8, 0, 1, 2, 3, 4, 5, 6}));
  types.assign(10, 1);
  types[2] = 3;
  types[4] = 4;
  EXPECT_EQ(ends(), (std::vector<TokenId>{8, 2}));
}

}  // namespace
}  // namespace specbench::engine
