// Encodings and decodings that Hugging Face's tokenizers and sentencepiece gave, written by
// ci/oracles/tokenizer_golden.py.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/model/tokenizer_test_support.h"

namespace specbench::engine {
namespace {

using nlohmann::json;
using testing::compare_with_golden;
using testing::golden_tokenizer;
using testing::kGoldenFolder;

constexpr std::size_t kCases = 376;
// Its oracle does not find special tokens as they are spelled.
constexpr std::size_t kSentencepieceCases = 338;

json golden_json(const std::string& name) {
  return json::parse(testing::slurp(kGoldenFolder / (name + ".json")));
}

class GoldenTokenizer : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTokenizer, AgreesWithTheOracle) {
  EXPECT_EQ(compare_with_golden(golden_tokenizer(GetParam()), GetParam()), kCases);
}

INSTANTIATE_TEST_SUITE_P(Json, GoldenTokenizer,
                         ::testing::Values("gpt2-style", "prefix-space", "llama3-style",
                                           "qwen2-style", "tekken-style", "smollm-style",
                                           "llama2-style", "mistral-style", "metaspace-split",
                                           "metaspace-never", "cut-characters", "unigram-style",
                                           "unigram-bytes"));

TEST(GoldenTokenizers, TheEmbeddedModelAgreesWithTheOracle) {
  EXPECT_EQ(compare_with_golden(Tokenizer::from_json_file(testing::kAustenJson), "austen-10m"),
            kCases);
}

/// What the file would be as GGUF. Its added tokens that are normalized have no counterpart.
GgufVocabulary as_gguf(const json& document, const std::string& pre) {
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = pre;
  std::map<TokenId, std::pair<std::string, int>> tokens;
  for (const auto& [text, id] : document["model"]["vocab"].items()) tokens[id] = {text, 1};
  for (const json& added : document["added_tokens"]) {
    tokens[added["id"]] = {added["content"], added["special"] ? 3 : 4};
  }
  for (const auto& [id, token] : tokens) {
    vocabulary.tokens.push_back(token.first);
    vocabulary.types.push_back(token.second);
  }
  for (const json& merge : document["model"]["merges"]) {
    vocabulary.merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  }
  return vocabulary;
}

TEST(GoldenTokenizers, AgreeWithTheOracleAsGguf) {
  for (const auto& [name, pre] : std::map<std::string, std::string>{{"llama3-style", "llama-bpe"},
                                                                    {"qwen2-style", "qwen2"},
                                                                    {"tekken-style", "tekken"},
                                                                    {"smollm-style", "smollm"}}) {
    const Tokenizer tokenizer = Tokenizer::from_gguf(as_gguf(golden_json(name), pre), name);
    EXPECT_EQ(compare_with_golden(tokenizer, name), kCases);
  }
}

TEST(GoldenTokenizers, AgreeWithSentencepiece) {
  const json document = golden_json("sentencepiece");
  GgufVocabulary vocabulary;
  vocabulary.model = "llama";
  vocabulary.tokens = document["tokens"].get<std::vector<std::string>>();
  vocabulary.scores = document["scores"].get<std::vector<float>>();
  vocabulary.types = document["types"].get<std::vector<std::int32_t>>();
  const Tokenizer plain = Tokenizer::from_gguf(vocabulary, "sentencepiece.json");
  EXPECT_EQ(compare_with_golden(plain, "sentencepiece"), kSentencepieceCases);
  vocabulary.types = document["types_with_unused"].get<std::vector<std::int32_t>>();
  const Tokenizer pruned = Tokenizer::from_gguf(vocabulary, "sentencepiece.json");
  EXPECT_EQ(compare_with_golden(pruned, "sentencepiece-unused"), kSentencepieceCases);
}

}  // namespace
}  // namespace specbench::engine
