// What tokenizer.json must not hold, and what is said of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/model/test_files.h"
#include "engine/model/tokenizer.h"
#include "engine/model/tokenizer_json.h"
#include "engine/model/tokenizer_json_parts.h"
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

struct Refusal {
  const char* pointer;
  const char* value;  ///< JSON; "" removes
  const char* fragment;
};

void expect_refused(const json& whole, const Refusal& c) {
  SCOPED_TRACE(std::string(c.pointer) + " = " + c.value);
  const json::json_pointer pointer(c.pointer);
  json change = {{{"op", *c.value == '\0'          ? "remove"
                         : whole.contains(pointer) ? "replace"
                                                   : "add"},
                  {"path", c.pointer}}};
  if (*c.value != '\0') change[0]["value"] = json::parse(c.value);
  const json document = whole.patch(change);
  EXPECT_EQ(wrong_error([&] { parse(document); }, c.fragment), "");
  EXPECT_EQ(wrong_error([&] { parse(document); }, "tokenizer.json: "), "");
}

TEST(TokenizerJson, RefusesWhatItCannotReproduce) {
  const Refusal cases[] = {
      {"/normalizer", R"({"type":"NFKC"})",
       "field 'normalizer.type' is 'NFKC'; only 'NFC', 'Prepend', 'Replace' and 'Sequence' are"},
      {"/normalizer", R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Lowercase"}]})",
       "field 'normalizer.normalizers[1].type' is 'Lowercase'; only"},
      {"/normalizer", R"({"type":"Replace","pattern":{"Regex":"a"},"content":"b"})",
       "field 'normalizer.pattern.Regex' is 'a'; only a 'String' can be replaced"},
      {"/normalizer", R"({"type":"Replace","pattern":{"String":""},"content":"b"})",
       "field 'normalizer.pattern.String' is ''; expected at least one character"},
      {"/normalizer", R"({})", "field 'normalizer.type' is missing"},
      {"/normalizer", "1", "field 'normalizer' is 1; expected an object"},
      {"/model", "", "field 'model' is missing"},
      {"/model", "[]", "field 'model' is an array; expected an object"},
      {"/model/type", "\"Unigram\"",
       "field 'model.type' is 'Unigram'; with the pre_tokenizer 'ByteLevel' only 'BPE'"},
      {"/model/type", "\"WordPiece\"",
       "field 'model.type' is 'WordPiece'; only 'BPE' and 'Unigram'"},
      {"/model/dropout", "0.1", "field 'model.dropout' is 0.1; only null"},
      {"/model/continuing_subword_prefix", "\"##\"",
       "field 'model.continuing_subword_prefix' is '##'"},
      {"/model/end_of_word_suffix", "\"</w>\"", "field 'model.end_of_word_suffix' is '</w>'"},
      {"/model/ignore_merges", "1", "field 'model.ignore_merges' is 1; expected true or false"},
      {"/model/vocab", "", "field 'model.vocab' is missing"},
      {"/model/vocab", "[]", "field 'model.vocab' is an array; expected an object"},
      {"/model/vocab/ab", "-1",
       "field 'model.vocab.ab' is -1; expected an integer from 0 to 65535"},
      {"/model/vocab/ab", "4194304", "field 'model.vocab.ab' is 4194304"},
      {"/model/vocab/ab", "1e3", "field 'model.vocab.ab' is 1000; expected an integer"},
      {"/model/vocab/ab", "\"256\"", "field 'model.vocab.ab' is '256'; expected an integer"},
      {"/model/vocab/ab", "65", "is 65; another token has the same id"},
      {"/model/vocab/", "300", "a token of no characters"},
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
      {"/pre_tokenizer", "null", "field 'decoder' is missing"},
      {"/pre_tokenizer/type", "\"Whitespace\"", "field 'pre_tokenizer.type' is 'Whitespace'"},
      {"/decoder", R"({"type":"Fuse"})",
       "field 'decoder.type' is 'Fuse'; only 'ByteLevel' is supported, as the pre_tokenizer is"},
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
      {"/added_tokens/0/single_word", "true", "field 'added_tokens[0].single_word' is true"},
      {"/added_tokens/1", R"({"id":258,"content":"<x>"})", "another added token has the same text"},
      {"/added_tokens/1", R"({"id":257,"content":"<y>"})", "that id already belongs to '<x>'"},
  };
  for (const Refusal& c : cases) expect_refused(small(), c);
}

TEST(TokenizerJson, RefusesWrongUnknownTokens) {
  json document = small();
  document["model"]["vocab"].erase("A");
  document["model"]["unk_token"] = "ab";
  expect_refused(document, {"/model/unk_token", "\"!!\"", "is '!!'; but model.vocab has no such"});
  expect_refused(document,
                 {"/model/byte_fallback", "true", "is true; only false is supported where"});
}

TEST(TokenizerJson, RefusesCharactersItCannotReproduce) {
  const Refusal cases[] = {
      {"/model/vocab/<0x41>", "", "model.vocab lacks '<0x41>'; byte_fallback is supported"},
      {"/model/byte_fallback", "1", "field 'model.byte_fallback' is 1; expected true or false"},
      {"/decoder", "null", "field 'decoder' is missing"},
      {"/decoder", R"({"type":"WordPiece"})",
       "field 'decoder.type' is 'WordPiece'; only 'Metaspace'"},
      {"/decoder/decoders/0", R"({"type":"Metaspace","replacement":"_"})",
       "field 'decoder.decoders[0].type' is 'Metaspace'; 'Metaspace' beside other decoders"},
      {"/decoder/decoders/2", R"({"type":"ByteFallback"})",
       "[2].type' is 'ByteFallback'; 'ByteFallback' is supported once, before 'Fuse'"},
      {"/decoder/decoders/2", R"({"type":"Replace","pattern":{"String":"a"},"content":"b"})",
       "[2].type' is 'Replace'; 'Replace' is supported before"},
      {"/decoder/decoders/2", "", "[2].type' is 'Strip'; 'Strip' is supported after 'Fuse' only"},
      {"/decoder/decoders/3/stop", "1", "[3].stop' is 1; only 0 is supported"},
      {"/decoder/decoders/3/start", "-1", "[3].start' is -1; expected an integer from 0 to 1000"},
      {"/decoder/decoders/3/content", "\"ab\"", "[3].content' is 'ab'; expected one character"},
      {"/pre_tokenizer", R"({"type":"Metaspace","replacement":"_"})",
       "field 'pre_tokenizer.type' is 'Metaspace'; beside the normalizer 'Prepend'"},
      {"/added_tokens", R"([{"id":1,"content":"x"}])", "that id already belongs to '<0x00>'"},
  };
  for (const Refusal& c : cases) expect_refused(characters(), c);
  json document = characters();
  document["model"]["byte_fallback"] = false;
  expect_refused(document, {"/model/unk_token", "null", "field 'model.unk_token' is missing"});
  expect_refused(document, {"/model/unk_token", "\"?\"",
                            "field 'model.unk_token' is '?'; but model.vocab has no such token"});
}

TEST(TokenizerJson, RefusesUnigramsItCannotReproduce) {
  const Refusal cases[] = {
      {"/model/unk_id", "null", "field 'model.unk_id' is missing"},
      {"/model/unk_id", "3", "field 'model.unk_id' is 3; expected an integer from 0 to 2"},
      {"/model/vocab", "[]", "field 'model.vocab' is an array; its 0 tokens are none or too many"},
      {"/model/vocab/1", R"(["a"])", "field 'model.vocab[1]' is an array; expected a token and"},
      {"/model/vocab/1", R"(["a","b"])", "field 'model.vocab[1][1]' is 'b'; expected a number"},
      {"/model/vocab/1", R"(["",1])", "field 'model.vocab[1][0]' is ''; a token of no characters"},
      {"/model/vocab/1", R"(["_a",1])", "[2][0]' is '_a'; another token has the same text"},
      {"/model/alpha", "0.1", "field 'model.alpha' is 0.1; only null"},
      {"/pre_tokenizer/prepend_scheme", "\"last\"",
       "is 'last'; only 'always', 'first' and 'never'"},
      {"/pre_tokenizer/add_prefix_space", "false",
       "field 'pre_tokenizer.add_prefix_space' is false; that contradicts prepend_scheme 'always'"},
      {"/pre_tokenizer/replacement", "\"\"", "is ''; expected one character"},
  };
  for (const Refusal& c : cases) expect_refused(unigrams(), c);
}

TEST(TokenizerJson, RefusesSequencesItCannotReproduce) {
  const struct {
    const char* steps;
    const char* fragment;
  } cases[] = {
      {R"([{"type":"ByteLevel"},{"type":"ByteLevel"}])",
       "'pre_tokenizer.pretokenizers[0].type' is 'ByteLevel'; only the last step may be"},
      {R"([{"type":"Metaspace","replacement":"_"},{"type":"ByteLevel"}])",
       "[0].type' is 'Metaspace'; 'Metaspace' beside other steps is not supported"},
      {R"([{"type":"Punctuation"},{"type":"ByteLevel"}])",
       "is 'Punctuation'; only 'Split', 'Digits', 'ByteLevel' and 'Metaspace'"},
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

/// `n` steps that each double an "a".
json doubling(int n) {
  json steps = json::array();
  const json step = json::parse(R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})");
  for (int i = 0; i < n; ++i) steps.push_back(step);
  return steps;
}

// A normalized added token of 1 byte would become one of 2^n, when the file is read.
TEST(TokenizerJson, RefusesStepsThatGrowATextWithoutBound) {
  json document = characters();
  document["added_tokens"] = json::parse(R"([{"id":257,"content":"a","normalized":true}])");
  document["normalizer"] = {{"type", "Sequence"}, {"normalizers", doubling(6)}};
  EXPECT_EQ(parse(document).token_bytes[257].size(), 64U);
  const auto expect = [&](const std::string& fragment) {
    EXPECT_EQ(wrong_error([&] { parse(document); }, fragment), "");
  };
  document["normalizer"]["normalizers"] = doubling(7);
  expect("field 'normalizer' is an object; its replacements could make a text more than 64 times");
  document["normalizer"]["normalizers"] = doubling(6);
  document["normalizer"]["normalizers"].push_back({{"type", "NFC"}});
  expect("more than 64 times as long");
  // Growth counts, not length: six bytes for three are two for one.
  document["normalizer"] =
      json::parse(R"({"type":"Replace","pattern":{"String":"aaa"},"content":"bbbbbb"})");
  EXPECT_EQ(parse(document).token_bytes[257], "a");
  document["normalizer"] = {{"type", "Prepend"}, {"prepend", std::string(64, '_')}};
  EXPECT_EQ(parse(document).normalizer.size(), 1U);
  document["normalizer"] = {{"type", "Prepend"}, {"prepend", std::string(65, '_')}};
  expect("field 'normalizer' is an object; it puts 65 bytes before a text; at most 64");
  document["normalizer"] = nullptr;
  document["decoder"]["decoders"] = doubling(6);
  EXPECT_EQ(parse(document).token_bytes[257].size(), 64U);
  document["decoder"]["decoders"] = doubling(7);
  expect("field 'decoder' is an object; its replacements could make a text more than 64 times");
  json same = doubling(65);
  for (json& step : same) step["content"] = "a";
  document["decoder"]["decoders"] = same;
  expect("field 'decoder' is an object; it has 65 steps, of which at most 64 are supported");
}

// One token would cost as much memory as four million.
TEST(TokenizerJson, RefusesIdsFarBeyondTheNumberOfTokens) {
  json document = small();
  document["model"]["vocab"]["ab"] = 65535;
  EXPECT_EQ(parse(document).token_bytes.size(), 65536U);
  expect_refused(document, {"/model/vocab/ab", "65536",
                            "'model.vocab.ab' is 65536; expected an integer from 0 to 65535"});
  expect_refused(document, {"/added_tokens/0/id", "65536",
                            "field 'added_tokens[0].id' is 65536; expected an integer from 0 to"});
  // Eight ids for each token.
  EXPECT_EQ(max_token_id(8192), 65535);
  EXPECT_EQ(max_token_id(8193), 65543);
  EXPECT_EQ(max_token_id(1 << 20), 4194303);
}

TEST(TokenizerJson, RefusesTokensThatTakeLongToLookFor) {
  json document = unigrams();
  document["model"]["vocab"][1][0] = std::string(4096, 'a');
  EXPECT_EQ(parse(document).token_bytes[1].size(), 4096U);
  document["model"]["vocab"][1][0] = std::string(4097, 'a');
  EXPECT_EQ(wrong_error([&] { parse(document); }, "it is 4097 bytes long; at most 4096 are"), "");
  const testing::ScratchFolder folder;
  document = small();
  const auto load = [&](std::size_t n) {
    document["added_tokens"][0]["content"] = std::string(n, 'x');
    return Tokenizer::from_json_file(folder.write("t.json", document.dump()));
  };
  EXPECT_EQ(load(1024).encode(std::string(1024, 'x')), std::vector<TokenId>{257});
  EXPECT_EQ(wrong_error([&] { load(1025); },
                        "t.json: added token 257 is looked for as 1025 bytes; at most 1024"),
            "");
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
  testing::TestRandom random(5);
  const testing::ScratchFolder folder;
  int n_loaded = 0;
  for (const json& document : {small(), characters(), unigrams()}) {
    const std::string whole = document.dump();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_THROW(parse_tokenizer(whole.substr(0, length), "t"), InputError) << length;
    }
    for (int i = 0; i < 2000; ++i) {
      const std::string text = testing::mutate(whole, random);
      n_loaded += testing::completes_or_input_error([&] {
        const Tokenizer tokenizer = Tokenizer::from_json_file(folder.write("t.json", text));
        tokenizer.decode(tokenizer.encode("ab <x> \xff 12"));
      });
    }
  }
  EXPECT_GT(n_loaded, 100);
  EXPECT_LT(n_loaded, 4000);
}

}  // namespace
}  // namespace specbench::engine
