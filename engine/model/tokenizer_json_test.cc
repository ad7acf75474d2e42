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

/// Characters: "<unk>" = 0, the bytes from 1 on, then "a" = 257, "b" = 258, "ab" = 259.
json characters() {
  json vocab = {{"<unk>", 0}};
  for (int byte = 0; byte < 256; ++byte) {
    vocab[byte_token(static_cast<std::uint8_t>(byte))] = byte + 1;
  }
  vocab.update({{"a", 257}, {"b", 258}, {"ab", 259}});
  return {{"normalizer", json::parse(R"({"type":"Sequence","normalizers":[
               {"type":"Prepend","prepend":"_"},
               {"type":"Replace","pattern":{"String":" "},"content":"_"}]})")},
          {"pre_tokenizer", nullptr},
          {"decoder", json::parse(R"({"type":"Sequence","decoders":[
               {"type":"Replace","pattern":{"String":"_"},"content":" "},{"type":"ByteFallback"},
               {"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})")},
          {"model",
           {{"type", "BPE"},
            {"byte_fallback", true},
            {"unk_token", "<unk>"},
            {"vocab", vocab},
            {"merges", {"a b"}}}}};
}

json unigrams() {
  return {{"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "_"}}},
          {"decoder", {{"type", "Metaspace"}, {"replacement", "_"}}},
          {"model",
           {{"type", "Unigram"},
            {"unk_id", 0},
            {"vocab", json::parse(R"([["<unk>",0],["a",-1.5],["_a",-2]])")}}}};
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
  expect_refused(document, {"/model/unk_token", "\"!!\"", "is '!!'; but model.vocab has no such"});
  expect_refused(document,
                 {"/model/byte_fallback", "true", "is true; only false is supported where"});
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

/// Twice as long, then 8 times, then 17 times.
constexpr const char* kGrowing = R"({"type":"Sequence","normalizers":[
    {"type":"Replace","pattern":{"String":"1"},"content":"22"},
    {"type":"Replace","pattern":{"String":"2"},"content":"33333333"},
    {"type":"Replace","pattern":{"String":"3"},"content":"33333333333333333"}]})";

TEST(TokenizerJson, RefusesWhatItCannotReproduce) {
  const std::string kLongPrefix = R"({"type":"Prepend","prepend":")" + std::string(65, 'x') + "\"}";
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
      {"/normalizer", kGrowing,
       "field 'normalizer.normalizers[2].content' is '33333333333333333'; with it and the "
       "replacements before it a text may become more than 16 times as long"},
      {"/normalizer", kLongPrefix.c_str(), "'; at most 64 bytes are supported"},
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
       "field 'model.vocab.ab' is -1; expected an integer from 0 to 66049"},  // 2 * 257 + 65535
      {"/model/vocab/ab", "66050", "field 'model.vocab.ab' is 66050"},
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
      {"/added_tokens/0/id", "4194303",
       "field 'added_tokens[0].id' is 4194303; expected an integer"},
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
      {"/decoder/decoders/0",
       R"({"type":"Replace","pattern":{"String":"ab"},"content":"123456789012345678901234567890123"})",
       "field 'decoder.decoders[0].content' is '123456789012345678901234567890123'; with it and"},
      {"/decoder/decoders/3/stop", "1", "[3].stop' is 1; only 0 is supported"},
      {"/decoder/decoders/3/start", "-1", "[3].start' is -1; expected an integer from 0"},
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
