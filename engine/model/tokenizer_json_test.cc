#include "engine/model/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/model/byte_alphabet.h"
#include "engine/model/test_files.h"
#include "engine/model/tokenizer.h"

namespace specbench::engine {
namespace {

using nlohmann::json;
using testing::wrong_error;

/// The 256 bytes in order, then "ab" = 256 and the special "<x>" = 257.
json small() {
  json vocab = json::object();
  for (int byte = 0; byte < 256; ++byte) vocab[byte_symbol(static_cast<std::uint8_t>(byte))] = byte;
  vocab["ab"] = 256;
  return {
      {"added_tokens",
       {{{"id", 257}, {"content", "<x>"}, {"special", true}, {"normalized", false}}}},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b"}}}}};
}

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
  EXPECT_EQ(spec.byte_tokens[200], 200);
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

TEST(TokenizerJson, RefusesWhatItCannotReproduce) {
  const struct {
    const char* pointer;
    const char* value;  // JSON; "" removes
    const char* fragment;
  } cases[] = {
      {"/normalizer", R"({"type":"NFC"})",
       "field 'normalizer.type' is 'NFC'; only null is supported"},
      {"/normalizer", R"({})", "field 'normalizer' is an object; only null"},
      {"/normalizer", "1", "field 'normalizer' is 1; expected an object"},
      {"/model", "", "field 'model' is missing"},
      {"/model", "[]", "field 'model' is an array; expected an object"},
      {"/model/type", "\"Unigram\"", "field 'model.type' is 'Unigram'; only 'BPE'"},
      {"/model/byte_fallback", "true", "field 'model.byte_fallback' is true; only false"},
      {"/model/unk_token", "\"<unk>\"", "field 'model.unk_token' is '<unk>'; only null"},
      {"/model/dropout", "0.1", "field 'model.dropout' is 0.1; only null"},
      {"/model/continuing_subword_prefix", "\"##\"",
       "field 'model.continuing_subword_prefix' is '##'"},
      {"/model/end_of_word_suffix", "\"</w>\"", "field 'model.end_of_word_suffix' is '</w>'"},
      {"/model/ignore_merges", "1", "field 'model.ignore_merges' is 1; expected true or false"},
      {"/model/vocab", "", "field 'model.vocab' is missing"},
      {"/model/vocab", "[]", "field 'model.vocab' is an array; expected an object"},
      {"/model/vocab/ab", "-1",
       "field 'model.vocab.ab' is -1; expected an integer from 0 to 4194303"},
      {"/model/vocab/ab", "4194304", "field 'model.vocab.ab' is 4194304"},
      {"/model/vocab/ab", "1e3", "field 'model.vocab.ab' is 1000; expected an integer"},
      {"/model/vocab/ab", "\"256\"", "field 'model.vocab.ab' is '256'; expected an integer"},
      {"/model/vocab/ab", "65", "is 65; another token has the same id"},
      {"/model/vocab/", "300", "a token of no characters"},
      {"/model/vocab/A", "", "model.vocab lacks 'A', the token of byte 65"},
      {"/model/merges", "", "field 'model.merges' is missing"},
      {"/model/merges", "{}", "field 'model.merges' is an object; expected an array"},
      {"/model/merges/0", "\"ab\"",
       "field 'model.merges[0]' is 'ab'; expected two tokens with one space"},
      {"/model/merges/0", "\"a b c\"", "expected two tokens with one space"},
      {"/model/merges/0", "[\"a\"]", "field 'model.merges[0]' is an array; expected two tokens"},
      {"/model/merges/0", "[\"a\",1]", "field 'model.merges[0][1]' is 1; expected a string"},
      {"/model/merges/0", "7", "field 'model.merges[0]' is 7; expected an array"},
      {"/model/merges/0", "\"a zz\"", "model.merges[0] needs token 'zz', which model.vocab lacks"},
      {"/model/merges/0", "\"b a\"", "model.merges[0] needs token 'ba', which model.vocab lacks"},
      {"/pre_tokenizer", "null", "field 'pre_tokenizer' is missing"},
      {"/pre_tokenizer/type", "\"Metaspace\"", "field 'pre_tokenizer.type' is 'Metaspace'"},
      {"/pre_tokenizer/type", "\"Sequence\"", "field 'pre_tokenizer.pretokenizers' is missing"},
      {"/pre_tokenizer/use_regex", "\"yes\"", "field 'pre_tokenizer.use_regex' is 'yes'"},
      {"/added_tokens", "{}", "field 'added_tokens' is an object; expected an array"},
      {"/added_tokens/0/id", "-3", "field 'added_tokens[0].id' is -3"},
      {"/added_tokens/0/id", "65",
       "field 'added_tokens[0].id' is 65; that id already belongs to 'A'"},
      {"/added_tokens/0/id", "", "field 'added_tokens[0].id' is missing"},
      {"/added_tokens/0/content", "\"\"",
       "field 'added_tokens[0].content' is ''; expected at least one"},
      {"/added_tokens/0/content", "\"ab\"", "but model.vocab gives 'ab' the id 256"},
      {"/added_tokens/0/content", "5", "field 'added_tokens[0].content' is 5"},
      {"/added_tokens/0/lstrip", "true", "field 'added_tokens[0].lstrip' is true; only false"},
      {"/added_tokens/0/single_word", "true", "field 'added_tokens[0].single_word' is true"},
      {"/added_tokens/1", R"({"id":258,"content":"<x>"})", "another added token has the same text"},
      {"/added_tokens/1", R"({"id":257,"content":"<y>"})", "that id already belongs to '<x>'"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.pointer) + " = " + c.value);
    json change = {{{"op", *c.value == '\0' ? "remove" : "add"}, {"path", c.pointer}}};
    if (std::string_view(c.pointer) == "/model/merges/0" ||
        std::string_view(c.pointer) == "/model/vocab/ab") {
      change[0]["op"] = "replace";
    }
    if (*c.value != '\0') change[0]["value"] = json::parse(c.value);
    const json document = small().patch(change);
    EXPECT_EQ(wrong_error([&] { parse(document); }, c.fragment), "");
    EXPECT_EQ(wrong_error([&] { parse(document); }, "tokenizer.json: "), "");
  }
}

TEST(TokenizerJson, RefusesSequencesItCannotReproduce) {
  const struct {
    const char* steps;
    const char* fragment;
  } cases[] = {
      {"[]", "expected at least one step"},
      {R"([{"type":"Digits"}])",
       "'pre_tokenizer.pretokenizers[0].type' is 'Digits'; the last step, and no other"},
      {R"([{"type":"ByteLevel"},{"type":"ByteLevel"}])",
       "the last step, and no other, must be 'ByteLevel'"},
      {R"([{"type":"Punctuation"},{"type":"ByteLevel"}])",
       "is 'Punctuation'; only 'Split', 'Digits' and 'ByteLevel'"},
      {R"([{"type":"Digits"},{"type":"ByteLevel","add_prefix_space":true}])",
       "add_prefix_space after another step"},
      {R"([{"type":"Split","behavior":"Removed","invert":false,"pattern":{"Regex":"x"}},{"type":"ByteLevel"}])",
       "[0].behavior' is 'Removed'; only 'Isolated', or 'Removed' with invert"},
      {R"([{"type":"Split","behavior":"MergedWithNext","pattern":{"Regex":"x"}},{"type":"ByteLevel"}])",
       "is 'MergedWithNext'"},
      {R"([{"type":"Split","behavior":"Isolated","pattern":"x"},{"type":"ByteLevel"}])",
       "[0].pattern' is 'x'; expected an object"},
      {R"([{"type":"Split","behavior":"Isolated","pattern":{}},{"type":"ByteLevel"}])",
       "[0].pattern.String' is missing"},
      {R"([{"type":"Split","behavior":"Isolated"},{"type":"ByteLevel"}])",
       "[0].pattern' is missing"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.steps);
    json document = small();
    document["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::parse(c.steps)}};
    EXPECT_EQ(wrong_error([&] { parse(document); }, c.fragment), "");
  }
}

TEST(TokenizerJson, RefusesHostilePatternsWhenLoading) {
  const testing::ScratchFolder folder;
  json document = small();
  document["pre_tokenizer"] = json::parse(R"({"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"Regex":"(("},"behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false}]})");
  EXPECT_EQ(wrong_error([&] { Tokenizer::from_json_file(folder.write("t.json", document.dump())); },
                        "t.json: pre_tokenizer pattern '((' is not a pattern PCRE2 can use"),
            "");
  EXPECT_EQ(wrong_error([&] { Tokenizer::from_json_file(folder.path() / "no.json"); },
                        "no.json does not exist"),
            "");
  EXPECT_EQ(wrong_error([&] { Tokenizer::from_json_file(folder.write("e.json", "")); },
                        "e.json is empty"),
            "");
  EXPECT_EQ(wrong_error([&] { Tokenizer::from_json_file(folder.write("n.json", "nul")); },
                        "n.json is not valid JSON"),
            "");
}

TEST(TokenizerJson, SurvivesTruncationAndMutation) {
  const std::string whole = small().dump();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_tokenizer(whole.substr(0, length), "t"), InputError) << length;
  }
  testing::TestRandom random(5);
  const testing::ScratchFolder folder;
  int n_loaded = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = testing::mutate(whole, random);
    n_loaded += testing::completes_or_input_error([&] {
      const Tokenizer tokenizer = Tokenizer::from_json_file(folder.write("t.json", text));
      tokenizer.decode(tokenizer.encode("ab <x> \xff 12"));
    });
  }
  EXPECT_GT(n_loaded, 30);
  EXPECT_LT(n_loaded, 1500);
}

}  // namespace
}  // namespace specbench::engine
