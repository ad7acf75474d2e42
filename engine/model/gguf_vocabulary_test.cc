#include "engine/model/gguf_vocabulary.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/model/gguf_test_files.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::gguf_array;
using testing::gguf_bool;
using testing::gguf_string;
using testing::gguf_strings;
using testing::gguf_u32;
using testing::GgufParts;
using testing::raw;
using testing::tiny_gguf;
using testing::wrong_error;

GgufVocabulary vocabulary_of(const GgufParts& parts) {
  const std::string bytes = parts.bytes();
  return load_gguf_vocabulary(GgufFile(std::as_bytes(std::span(bytes)), "f.gguf"));
}

TEST(GgufVocabulary, ReadsEveryKey) {
  GgufVocabulary vocabulary = vocabulary_of(tiny_gguf());
  EXPECT_EQ(vocabulary.model, "gpt2");
  EXPECT_EQ(vocabulary.pre, "smollm");
  ASSERT_EQ(vocabulary.tokens.size(), 259U);
  EXPECT_EQ(vocabulary.tokens[256], "he");
  EXPECT_TRUE(vocabulary.scores.empty());
  EXPECT_EQ(vocabulary.types[258], 3);
  EXPECT_EQ(vocabulary.merges, std::vector<std::string>{"h e"});
  EXPECT_FALSE(vocabulary.add_space_prefix);
  GgufParts parts = tiny_gguf();
  parts.set("tokenizer.ggml.model", gguf_string("llama"));
  parts.drop("tokenizer.ggml.pre");
  parts.drop("tokenizer.ggml.merges");
  parts.set("tokenizer.ggml.scores",
            gguf_array(GgufType::kFloat32, 259, raw(std::vector<float>(259, -1.5F))));
  vocabulary = vocabulary_of(parts);
  EXPECT_EQ(vocabulary.pre, "");
  EXPECT_EQ(vocabulary.scores[258], -1.5F);
  EXPECT_TRUE(vocabulary.merges.empty());
  EXPECT_TRUE(vocabulary.add_space_prefix);
  parts.set("tokenizer.ggml.add_space_prefix", gguf_bool(false));
  EXPECT_FALSE(vocabulary_of(parts).add_space_prefix);
}

TEST(GgufVocabulary, RefusesWrongKeys) {
  const struct {
    const char* key;
    std::string value;
    const char* fragment;
  } cases[] = {
      {"tokenizer.ggml.model", gguf_u32(1), "'tokenizer.ggml.model' is 1; expected a string"},
      {"tokenizer.ggml.tokens", gguf_strings({}),
       "is an array of 0 strings; expected at least one"},
      {"tokenizer.ggml.tokens", gguf_array(GgufType::kUint8, 2, "ab"), "expected an array of str"},
      {"tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, 1, "abcd"),
       "is an array of 1 integers; expected one for each of the 259 tokens"},
      {"tokenizer.ggml.token_type", gguf_array(GgufType::kInt8, 259, std::string(259, '\x07')),
       "token_type[0]' is 7; expected an integer from 0 to 6"},
      {"tokenizer.ggml.merges", gguf_u32(1), "merges' is 1; expected an array of strings"},
      {"tokenizer.ggml.add_space_prefix", gguf_u32(1), "is 1; expected true or false"}};
  for (const auto& c : cases) {
    GgufParts parts = tiny_gguf();
    parts.set(c.key, c.value);
    EXPECT_EQ(wrong_error([&] { vocabulary_of(parts); }, c.fragment), "") << c.key;
  }
}

// A vocabulary without its merges would be read, and cut every text into its bytes.
TEST(GgufVocabulary, RefusesMissingKeys) {
  const auto expect_needed = [](GgufParts parts, const std::string& key) {
    parts.drop(key);
    EXPECT_EQ(wrong_error([&] { vocabulary_of(parts); }, "key '" + key + "' is missing"), "");
  };
  GgufParts parts = tiny_gguf();
  for (const char* key : {"model", "pre", "tokens", "token_type", "merges"})
    expect_needed(parts, std::string("tokenizer.ggml.") + key);
  parts.set("tokenizer.ggml.model", gguf_string("llama"));
  expect_needed(parts, "tokenizer.ggml.scores");
  parts.set("tokenizer.ggml.scores",
            gguf_array(GgufType::kFloat32, 259, std::string(259 * 4, '\0')));
  expect_needed(parts, "tokenizer.ggml.token_type");
}

TEST(GgufVocabulary, RefusesSentencepieceThatChangesTexts) {
  GgufParts parts = tiny_gguf();
  parts.set("tokenizer.ggml.model", gguf_string("llama"));
  const auto expect = [&](const std::string& key, const std::string& value, const char* fragment) {
    GgufParts changed = parts;
    changed.set("tokenizer.ggml." + key, value);
    EXPECT_EQ(wrong_error([&] { vocabulary_of(changed); }, fragment), "");
  };
  expect("scores", gguf_array(GgufType::kFloat32, 1, "abcd"),
         "is an array of 1 numbers; expected one for each of the 259 tokens");
  parts.set("tokenizer.ggml.scores",
            gguf_array(GgufType::kFloat32, 259, std::string(259 * 4, '\0')));
  expect(
      "remove_extra_whitespaces", gguf_bool(true),
      "remove_extra_whitespaces' is true; a tokenizer that removes white space is not supported");
  expect("precompiled_charsmap", gguf_array(GgufType::kUint8, 4, "abcd"),
         "is an array of 4 integers; a tokenizer that replaces characters is not supported");
  parts.set("tokenizer.ggml.remove_extra_whitespaces", gguf_bool(false));
  parts.set("tokenizer.ggml.precompiled_charsmap", gguf_array(GgufType::kUint8, 0, ""));
  EXPECT_EQ(vocabulary_of(parts).scores.size(), 259U);
}

}  // namespace
}  // namespace specbench::engine
