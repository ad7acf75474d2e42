#include "engine/model/tokenizer_gguf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/model/tokenizer_spec.h"
#include "engine/model/tokenizer_test_support.h"

namespace specbench::engine {
namespace {

using testing::small_gpt2;
using testing::small_llama;
using testing::wrong_error;

TEST(TokenizerGguf, ReadsByteLevel) {
  const TokenizerSpec spec = read_gguf_vocabulary(small_gpt2(), "m.gguf");
  EXPECT_EQ(spec.model, TokenModel::kMerges);
  EXPECT_TRUE(spec.first.is_byte_level);
  EXPECT_EQ(spec.first.of_byte[200], 200);
  ASSERT_EQ(spec.merges.size(), 1U);
  EXPECT_EQ(spec.merges[0].merged, 256);
  ASSERT_EQ(spec.split_rules.size(), 1U);
  EXPECT_EQ(spec.split_rules[0].pattern, kGpt2Pattern);
  ASSERT_EQ(spec.added.size(), 1U);
  EXPECT_EQ(spec.added[0].content, "<x>");
  EXPECT_EQ(spec.added[0].id, 257);
  EXPECT_EQ(spec.token_bytes[32], " ");
  EXPECT_EQ(spec.token_bytes[257], "<x>");
  EXPECT_TRUE(spec.whole_pieces.empty());
  EXPECT_TRUE(spec.normalizer.empty());
}

TEST(TokenizerGguf, KnowsWhatTheNamesOfPatternsStandFor) {
  const struct {
    const char* name;
    std::size_t n_rules;
    bool ignores_merges;
    bool is_nfc;
  } cases[] = {{"gpt-2", 1, false, false},  {"default", 4, false, false},
               {"smollm", 2, false, false}, {"llama-bpe", 1, true, false},
               {"llama3", 1, true, false},  {"llama-v3", 1, true, false},
               {"falcon3", 1, true, false}, {"pixtral", 1, true, false},
               {"qwen2", 1, false, true},   {"deepseek-r1-qwen", 1, false, true},
               {"tekken", 1, true, false}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    GgufVocabulary vocabulary = small_gpt2();
    vocabulary.pre = c.name;
    const TokenizerSpec spec = read_gguf_vocabulary(vocabulary, "m.gguf");
    EXPECT_EQ(spec.split_rules.size(), c.n_rules);
    EXPECT_EQ(!spec.whole_pieces.empty(), c.ignores_merges);
    EXPECT_EQ(!spec.normalizer.empty(), c.is_nfc);
    PreTokenizer(spec.split_rules, "m.gguf");
  }
}

TEST(TokenizerGguf, ReadsScores) {
  const TokenizerSpec spec = read_gguf_vocabulary(small_llama(), "m.gguf");
  EXPECT_EQ(spec.model, TokenModel::kScores);
  EXPECT_EQ(spec.first.of_byte[0], 2);
  ASSERT_EQ(spec.pieces.size(), 5U);  // neither bytes nor control tokens
  EXPECT_EQ(spec.pieces[3].text, "ab");
  EXPECT_EQ(spec.pieces[3].score, -1);
  EXPECT_EQ(spec.pieces[3].id, 261);
  EXPECT_EQ(spec.added.size(), 2U);
  EXPECT_EQ(spec.normalizer.size(), 2U);
  EXPECT_TRUE(spec.cuts_before_marks);
  EXPECT_EQ(spec.n_stripped, 1);
  EXPECT_EQ(spec.token_bytes[12], "\n");
}

TEST(TokenizerGguf, LeavesTheSpaceInFrontToTheFile) {
  GgufVocabulary vocabulary = small_llama();
  vocabulary.add_space_prefix = false;
  const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
  EXPECT_EQ(tokenizer.encode("ab a"), (std::vector<TokenId>{261, 262}));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{262}), " a");
}

TEST(TokenizerGguf, NeverMergesIntoControlTokens) {
  GgufVocabulary vocabulary = small_llama();
  vocabulary.tokens[1] = "ba";  // control
  const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
  // Found as it is spelled, and not from "b" behind the mark and "a" behind that.
  EXPECT_EQ(tokenizer.encode("ba"), std::vector<TokenId>{1});
  vocabulary.types[1] = 6;
  EXPECT_EQ(Tokenizer::from_gguf(vocabulary, "m.gguf").encode("ba"),
            (std::vector<TokenId>{258, 260, 259}));
}

TEST(TokenizerGguf, FindsUserDefinedTokens) {
  GgufVocabulary vocabulary = small_gpt2();
  vocabulary.tokens.push_back("a\xc3\xa9");
  vocabulary.types.push_back(4);
  const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
  EXPECT_EQ(tokenizer.encode("a\xc3\xa9"
                             "ab"),
            (std::vector<TokenId>{258, 256}));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{258}), "a\xc3\xa9");
}

TEST(TokenizerGguf, LeavesOutBytesThatHaveNoToken) {
  GgufVocabulary vocabulary = small_gpt2();
  vocabulary.tokens[4] = "zz";
  const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
  EXPECT_EQ(tokenizer.encode("!\x04!"), (std::vector<TokenId>{33, 33}));
}

TEST(TokenizerGguf, CutsOnlyWhereNoPieceReachesOver) {
  GgufVocabulary vocabulary = small_llama();
  vocabulary.tokens[261] = "a\xe2\x96\x81";
  EXPECT_FALSE(read_gguf_vocabulary(vocabulary, "m.gguf").cuts_before_marks);
  EXPECT_EQ(Tokenizer::from_gguf(vocabulary, "m.gguf").encode("a a"),
            (std::vector<TokenId>{258, 261, 259}));
}

// Many pieces are unused, and taken apart again by how they came together.
TEST(TokenizerGguf, CutsATextToTheSameTokens) {
  testing::TestRandom random(7);
  const std::string units[] = {"a", "b", "c", kSpaceMark};
  for (int round = 0; round < 500; ++round) {
    GgufVocabulary vocabulary = small_llama();
    vocabulary.add_space_prefix = false;
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (std::size_t n = random.below(3); n > 0; --n) text += kSpaceMark;
      // In every other round marks may also stand behind other characters.
      const std::size_t n_units = round % 2 == 0 ? 3 : 4;
      for (std::size_t n = 1 + random.below(3); n > 0; --n) text += units[random.below(n_units)];
      if (std::count(vocabulary.tokens.begin(), vocabulary.tokens.end(), text) > 0) continue;
      vocabulary.tokens.push_back(text);
      vocabulary.scores.push_back(-static_cast<float>(random.below(6)));
      vocabulary.types.push_back(random.below(2) == 0 ? 5 : 1);
    }
    const TokenizerSpec spec = read_gguf_vocabulary(vocabulary, "m.gguf");
    EXPECT_TRUE(spec.cuts_before_marks || round % 2 == 1);
    const SentencePieceBpe whole(spec.pieces, spec.first.of_byte);
    const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
    std::string text;
    for (std::size_t n = random.below(40); n > 0; --n) text += units[random.below(4)];
    std::vector<TokenId> ids;
    whole.encode(text, ids);
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
  }
}

TEST(TokenizerGguf, DoesNotLookForWhatFillsTheListUp) {
  for (GgufVocabulary vocabulary : {small_gpt2(), small_llama()}) {
    const auto n = static_cast<TokenId>(vocabulary.tokens.size());
    const auto add = [&](TokenId named, int type) {
      vocabulary.tokens.push_back("[PAD" + std::to_string(named) + "]");
      vocabulary.types.push_back(type);
      if (!vocabulary.scores.empty()) vocabulary.scores.push_back(0);
    };
    const auto first_id = [&](TokenId named) {
      return Tokenizer::from_gguf(vocabulary, "m.gguf")
          .encode("<s>[PAD" + std::to_string(named) + "]a")
          .at(vocabulary.model == "llama" ? 1 : 3);
    };
    add(n, 4);
    add(n + 1, 3);
    EXPECT_EQ(count_gguf_tokens(vocabulary.tokens, vocabulary.types), n);
    EXPECT_NE(first_id(n), n);
    EXPECT_EQ(Tokenizer::from_gguf(vocabulary, "m.gguf").decode(std::vector<TokenId>{n}),
              "[PAD" + std::to_string(n) + "]");
    // A token behind them, or of another number, makes them tokens like others.
    add(n, 4);
    vocabulary.tokens.back() = "[PAD7]";
    EXPECT_EQ(count_gguf_tokens(vocabulary.tokens, vocabulary.types), n + 3);
    EXPECT_EQ(first_id(n), n);
  }
}

using Change = void (*)(GgufVocabulary&);

void expect_refused(GgufVocabulary vocabulary, Change change, const char* fragment) {
  change(vocabulary);
  EXPECT_EQ(wrong_error([&] { Tokenizer::from_gguf(vocabulary, "m.gguf"); }, fragment), "");
  EXPECT_EQ(
      wrong_error([&] { Tokenizer::from_gguf(vocabulary, "m.gguf"); }, "m.gguf: tokenizer.ggml."),
      "");
}

TEST(TokenizerGguf, RefusesHostileVocabularies) {
  const struct {
    Change change;
    const char* fragment;
  } cases[] = {
      {[](GgufVocabulary& v) { v.model = "t5"; },
       "model is 't5'; only 'gpt2' (byte-level BPE) and 'llama' (SentencePiece's BPE) are"},
      {[](GgufVocabulary& v) { v.pre = "bloom"; },
       "pre is 'bloom'; of the splitting patterns only "
       "'gpt-2', 'default', 'smollm', 'llama-bpe'"},
      {[](GgufVocabulary& v) { v.pre = ""; }, "pre is ''; of the splitting patterns only"},
      {[](GgufVocabulary& v) { v.tokens.clear(); }, "tokens holds 0 tokens; expected 1 to 4194304"},
      {[](GgufVocabulary& v) { v.types.pop_back(); },
       "token_type holds 257 types for 258 tokens; expected one a token"},
      {[](GgufVocabulary& v) { v.types[3] = 7; }, "token_type[3] is 7; expected 1 to 6"},
      {[](GgufVocabulary& v) { v.types[3] = 0; }, "token_type[3] is 0; expected 1 to 6"},
      {[](GgufVocabulary& v) { v.tokens[256] = "a"; }, "tokens[256] is 'a'; token 97 has the same"},
      {[](GgufVocabulary& v) { v.tokens[256] = ""; },
       "tokens[256] is ''; a token of no characters"},
      {[](GgufVocabulary& v) { v.tokens[256] = "\xff"; },
       "tokens[256] is '\xff'; that is not UTF-8"},
      {[](GgufVocabulary& v) { v.merges = {"a b c"}; },
       "merges[0] is 'a b c'; expected two tokens"},
      {[](GgufVocabulary& v) { v.merges = {"ab"}; }, "merges[0] is 'ab'; expected two tokens"},
      {[](GgufVocabulary& v) { v.merges = {"a zz"}; },
       "merges[0] is 'a zz'; tokenizer.ggml.tokens lacks 'zz'"},
      {[](GgufVocabulary& v) { v.merges = {"b a"}; }, "tokenizer.ggml.tokens lacks 'ba'"},
      {[](GgufVocabulary& v) { v.tokens[256] = std::string(4097, 'a'); },
       "it is 4097 bytes long, and at most 4096 are supported"},
  };
  for (const auto& c : cases) expect_refused(small_gpt2(), c.change, c.fragment);
}

TEST(TokenizerGguf, RefusesHostileScores) {
  expect_refused(
      small_llama(), [](GgufVocabulary& v) { v.scores.clear(); },
      "scores holds 0 scores for 263 tokens; expected one a token");
  expect_refused(
      small_llama(),
      [](GgufVocabulary& v) { v.scores[261] = std::numeric_limits<float>::quiet_NaN(); },
      "scores[261] is not finite; expected a number");
  expect_refused(
      small_llama(),
      [](GgufVocabulary& v) { v.scores[261] = std::numeric_limits<float>::infinity(); },
      "scores[261] is not finite");
  expect_refused(
      small_llama(), [](GgufVocabulary& v) { v.tokens[67] = "<0x41x"; },
      "tokens lacks '<0x41>', the token of byte 65; all 256 are needed");
}

}  // namespace
}  // namespace specbench::engine
