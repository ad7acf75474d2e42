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
  EXPECT_FALSE(vocabulary.unknown);
  EXPECT_FALSE(vocabulary.add_space_prefix);
  GgufParts parts = tiny_gguf();
  parts.set("tokenizer.ggml.model", gguf_string("llama"));
  parts.drop("tokenizer.ggml.pre");
  parts.drop("tokenizer.ggml.merges");
  parts.drop("tokenizer.ggml.token_type");
  parts.set("tokenizer.ggml.scores",
            gguf_array(GgufType::kFloat32, 259, raw(std::vector<float>(259, -1.5F))));
  parts.set("tokenizer.ggml.unknown_token_id", gguf_u32(3));
  vocabulary = vocabulary_of(parts);
  EXPECT_EQ(vocabulary.pre, "");
  EXPECT_EQ(vocabulary.scores[258], -1.5F);
  EXPECT_TRUE(vocabulary.types.empty());
  EXPECT_TRUE(vocabulary.merges.empty());
  EXPECT_EQ(vocabulary.unknown, 3);
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
      {"tokenizer.ggml.scores", gguf_array(GgufType::kFloat32, 1, "abcd"),
       "is an array of 1 numbers; expected one for each of the 259 tokens"},
      {"tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, 1, "abcd"),
       "is an array of 1 integers; expected one for each of the 259 tokens"},
      {"tokenizer.ggml.token_type", gguf_array(GgufType::kInt8, 259, std::string(259, '\x07')),
       "token_type[0]' is 7; expected an integer from 0 to 6"},
      {"tokenizer.ggml.merges", gguf_u32(1), "merges' is 1; expected an array of strings"},
      {"tokenizer.ggml.unknown_token_id", gguf_u32(259), "is 259; expected an integer from 0 to"},
      {"tokenizer.ggml.add_space_prefix", gguf_u32(1), "is 1; expected true or false"}};
  for (const auto& c : cases) {
    GgufParts parts = tiny_gguf();
    parts.set(c.key, c.value);
    EXPECT_EQ(wrong_error([&] { vocabulary_of(parts); }, c.fragment), "") << c.key;
  }
}

}  // namespace
}  // namespace specbench::engine
