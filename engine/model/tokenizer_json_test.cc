#include "engine/model/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/model/test_files.h"
#include "engine/model/tokenizer.h"
#include "engine/model/tokenizer_json_test_support.h"

namespace specbench::engine {
namespace {

using nlohmann::json;
using testing::wrong_error;

json small() { return json::parse(testing::small_json()); }
json characters() { return json::parse(testing::characters_json()); }
json unigrams() { return json::parse(testing::unigrams_json()); }

TokenizerSpec parse(const json& document) {
  return parse_tokenizer(document.dump(), "tokenizer.json");
}

TEST(TokenizerJson, ReadsASmallTokenizer) {
  const TokenizerSpec spec = parse(small());
  ASSERT_EQ(spec.token_bytes.size(), 258U);
  EXPECT_EQ(spec.token_bytes[0], std::string(1, '\0'));
  EXPECT_EQ(spec.token_bytes[32], " ");
  EXPECT_EQ(spec.token_bytes[256], "ab");
  EXPECT_EQ(spec.token_bytes[257], "<x>");
  EXPECT_EQ(spec.first.of_byte[200], 200);
  EXPECT_TRUE(spec.first.is_byte_level);
  ASSERT_EQ(spec.merges.size(), 1U);
  EXPECT_EQ(spec.merges[0].left, 'a');
  EXPECT_EQ(spec.merges[0].right, 'b');
  EXPECT_EQ(spec.merges[0].merged, 256);
  ASSERT_EQ(spec.added.size(), 1U);
  EXPECT_FALSE(spec.added[0].is_normalized);
  ASSERT_EQ(spec.split_rules.size(), 1U);
  EXPECT_EQ(spec.split_rules[0].pattern, kGpt2Pattern);
  EXPECT_TRUE(spec.whole_pieces.empty());
}

TEST(TokenizerJson, ReadsTheOtherSpellings) {
  json document = small();
  document["model"]["merges"] = json::array({json::array({"a", "b"})});
  document["model"]["ignore_merges"] = true;
  document["model"]["vocab"]["<x>"] = 257;  // an added token may stand in the vocabulary too
  document["pre_tokenizer"] = json::parse(R"({"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"Regex":"\\d"},"behavior":"Removed","invert":true},
      {"type":"Split","pattern":{"String":"."},"behavior":"Isolated"},
      {"type":"Digits","individual_digits":false},
      {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})");
  const TokenizerSpec spec = parse(document);
  EXPECT_EQ(spec.merges[0].merged, 256);
  EXPECT_EQ(spec.whole_pieces.at("ab"), 256);
  ASSERT_EQ(spec.split_rules.size(), 3U);
  EXPECT_EQ(spec.split_rules[0].pattern, "\\d");
  EXPECT_TRUE(spec.split_rules[1].is_literal);
  EXPECT_EQ(spec.split_rules[2].pattern, "\\p{N}+");
}

TEST(TokenizerJson, KeepsTextOutsideTheAlphabetAsItIs) {
  json document = small();
  document["model"]["vocab"]["\xe2\x96\x81x"] = 300;
  const TokenizerSpec spec = parse(document);
  EXPECT_EQ(spec.token_bytes[300], "\xe2\x96\x81x");
  EXPECT_EQ(spec.token_bytes[299], "");  // a hole
}

TEST(TokenizerJson, ReadsCharacters) {
  const TokenizerSpec spec = parse(characters());
  EXPECT_FALSE(spec.first.is_byte_level);
  EXPECT_EQ(spec.first.of_byte[200], 201);
  EXPECT_EQ(spec.first.of_character.at(U'b'), 258);
  EXPECT_EQ(spec.first.of_character.size(), 2U);
  EXPECT_EQ(spec.merges[0].merged, 259);
  ASSERT_EQ(spec.normalizer.size(), 2U);
  EXPECT_EQ(spec.normalizer[0].kind, NormalizerStep::Kind::kPrepend);
  EXPECT_EQ(spec.normalizer[1].pattern, " ");
  EXPECT_EQ(spec.token_bytes[11], "\n");
  EXPECT_EQ(spec.stripped, " ");
  EXPECT_EQ(spec.n_stripped, 1);
  EXPECT_FALSE(spec.cuts_before_marks);  // the mark is no token
  EXPECT_FALSE(spec.metaspace);
}

TEST(TokenizerJson, ReadsVocabulariesThatLackBytes) {
  json document = small();
  document["model"]["vocab"].erase("A");
  EXPECT_EQ(parse(document).first.of_byte['A'], kNoToken);
  EXPECT_EQ(parse(document).first.unknown, kNoToken);
  document["model"]["unk_token"] = "ab";
  EXPECT_EQ(parse(document).first.unknown, 256);
}

TEST(TokenizerJson, SpellsAddedTokensOut) {
  json document = small();
  document["added_tokens"][0]["content"] = "<\xc3\xa9>";
  EXPECT_EQ(parse(document).token_bytes[257], "<\xc3\xa9>");
  // Normalized ones as they are found.
  document = characters();
  document["added_tokens"] = json::parse(R"([{"id":300,"content":"a b","normalized":true}])");
  EXPECT_EQ(parse(document).token_bytes[300], " a b");
}

TEST(TokenizerJson, ReadsUnknownCharacters) {
  json document = characters();
  document["model"]["byte_fallback"] = false;
  document["model"]["fuse_unk"] = true;
  document["model"]["vocab"]["\xe2\x96\x81"] = 300;
  const TokenizerSpec spec = parse(document);
  EXPECT_EQ(spec.first.of_byte[200], kNoToken);
  EXPECT_EQ(spec.first.unknown, 0);
  EXPECT_TRUE(spec.first.fuses_unknown);
  EXPECT_TRUE(spec.cuts_before_marks);
}

TEST(TokenizerJson, CutsOnlyWhereNoTokenReachesOver) {
  json document = characters();
  document["model"]["vocab"].update({{"\xe2\x96\x81", 300},
                                     {"\xe2\x96\x81"
                                      "a",
                                      301}});
  document["model"]["merges"] = json::parse(R"([["\u2581","a"]])");
  EXPECT_TRUE(parse(document).cuts_before_marks);
  json whole = document;
  whole["model"]["ignore_merges"] = true;
  EXPECT_FALSE(parse(whole).cuts_before_marks);
  EXPECT_EQ(parse(whole).whole_pieces.at("ab"), 259);
  document["model"]["vocab"]["a\xe2\x96\x81"] = 302;
  document["model"]["merges"].push_back({"a", "\xe2\x96\x81"});
  EXPECT_FALSE(parse(document).cuts_before_marks);
}

TEST(TokenizerJson, ReadsUnigrams) {
  const TokenizerSpec spec = parse(unigrams());
  EXPECT_EQ(spec.model, TokenModel::kUnigram);
  ASSERT_EQ(spec.unigram.scored.size(), 3U);
  EXPECT_EQ(spec.unigram.scored[1], (std::pair<std::string, double>("a", -1.5)));
  EXPECT_EQ(spec.unigram.unknown, 0);
  EXPECT_FALSE(spec.unigram.has_byte_fallback);
  ASSERT_TRUE(spec.metaspace);
  EXPECT_EQ(spec.metaspace->mark, "_");
  EXPECT_EQ(spec.metaspace->prepend, Metaspace::Prepend::kAlways);
  EXPECT_TRUE(spec.metaspace->splits);
  EXPECT_EQ(spec.token_bytes[2], " a");
  EXPECT_EQ(spec.front_bytes[2], "a");
}

TEST(TokenizerJson, TakesTheFirstTokenThatIsThereForTheFront) {
  json document = unigrams();
  document["added_tokens"] = json::parse(R"([{"id":5,"content":"<x>"}])");
  const testing::ScratchFolder folder;
  const Tokenizer tokenizer = Tokenizer::from_json_file(folder.write("t.json", document.dump()));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{2, 2}), "a a");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{5, 2}), "<x> a");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{3, 2, 2}), "a a");  // 3 is no token
}

TEST(TokenizerJson, TakesOffAsManyAsTheDecoderSays) {
  json document = characters();
  document["decoder"]["decoders"][3]["start"] = 3;
  document["model"]["vocab"]["_"] = 260;
  const testing::ScratchFolder folder;
  const Tokenizer tokenizer = Tokenizer::from_json_file(folder.write("t.json", document.dump()));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{260, 260, 257, 260}), "a ");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{260, 260, 260, 260, 257}), " a");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{260, 260}), "");
}

TEST(TokenizerJson, ReadsScoresAsTheOracleDoes) {
  const auto score = [](const char* spelled) {
    json document = unigrams();
    document["model"]["vocab"][1][1] = json::parse(spelled);
    return parse(document).unigram.scored[1].second;
  };
  for (const char* exact :
       {"0", "-1.5", "-12", "-3.0517578125e-05", "1e300", "-1e-300", "-10.25"}) {
    EXPECT_EQ(score(exact), std::stod(exact)) << exact;
  }
  // Digits that do not fit 53 bits are rounded, and again when they are divided.
  EXPECT_EQ(score("-0.43561181362301915"), -0.4356118136230191);
  EXPECT_EQ(score("-12.563669634938593"), -12.563669634938591);
}

TEST(TokenizerJson, ReadsTheOldSpellingOfNever) {
  json document = unigrams();
  document["pre_tokenizer"]["add_prefix_space"] = false;
  document["pre_tokenizer"]["prepend_scheme"] = "never";
  document["pre_tokenizer"]["split"] = false;
  const TokenizerSpec spec = parse(document);
  EXPECT_EQ(spec.metaspace->prepend, Metaspace::Prepend::kNever);
  EXPECT_FALSE(spec.metaspace->splits);
}

}  // namespace
}  // namespace specbench::engine
