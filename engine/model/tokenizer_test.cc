#include "engine/model/tokenizer.h"

#include <gtest/gtest.h>

#include "engine/model/tokenizer_test_support.h"

namespace specbench::engine {
namespace {

using testing::kAustenJson;
using testing::wrong_error;

void expect_round_trip(const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<TokenId> ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(ids), text);
  for (const TokenId id : ids) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, tokenizer.size());
  }
}

/// Tokenizers that give every text back.
std::vector<Tokenizer> faithful() {
  std::vector<Tokenizer> tokenizers;
  tokenizers.push_back(Tokenizer::from_json_file(kAustenJson));
  for (const char* name : {"llama3-style", "smollm-style", "tekken-style"}) {
    tokenizers.push_back(testing::golden_tokenizer(name));
  }
  tokenizers.push_back(Tokenizer::from_gguf(testing::small_gpt2(), "f"));
  tokenizers.push_back(Tokenizer::from_gguf(testing::small_llama(), "f"));
  return tokenizers;
}

TEST(Tokenizer, EncodesAsTheOracle) {
  const Tokenizer tokenizer = Tokenizer::from_json_file(kAustenJson);
  EXPECT_EQ(tokenizer.encode("It was a truth that Mr. Bennet"),
            (std::vector<TokenId>{1029, 304, 258, 1896, 333, 360, 46, 1208}));
  EXPECT_EQ(tokenizer.encode("Emma had never"), (std::vector<TokenId>{1800, 338, 578}));
  EXPECT_EQ(tokenizer.encode("a<|end_of_text|>b<|end"),
            (std::vector<TokenId>{97, 4095, 98, 60, 124, 526}));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{4094, 1800, 338, 578}),
            "<|begin_of_text|>Emma had never");
}

TEST(Tokenizer, ReturnsEveryTextUnchanged) {
  for (const Tokenizer& tokenizer : faithful()) {
    for (const std::string& text : testing::hard_texts()) expect_round_trip(tokenizer, text);
  }
}

TEST(Tokenizer, ReturnsRandomBytesUnchanged) {
  for (const Tokenizer& tokenizer : faithful()) {
    testing::TestRandom random(3);
    for (int i = 0; i < 5000; ++i) {
      // A mark comes back as a space.
      const std::string text = testing::random_text(random, i % 2 == 1);
      expect_round_trip(tokenizer, replace_all(text, "\xe2\x96\x81", ""));
    }
  }
}

TEST(Tokenizer, ReturnsBytesThatAreNoTextWhateverTheFormat) {
  for (const char* name : {"llama2-style", "mistral-style", "cut-characters", "unigram-bytes"}) {
    SCOPED_TRACE(name);
    const Tokenizer tokenizer = testing::golden_tokenizer(name);
    for (const char* text : {"\xff", "a\xc3z", "x\xff\xfe y", "\xed\xa0\x80"}) {
      expect_round_trip(tokenizer, text);
    }
  }
}

TEST(Tokenizer, EncodesLongPiecesInGoodTime) {
  std::vector<Tokenizer> tokenizers;
  tokenizers.push_back(Tokenizer::from_json_file(kAustenJson));
  for (const char* name : {"llama2-style", "unigram-bytes"}) {
    tokenizers.push_back(testing::golden_tokenizer(name));
  }
  tokenizers.push_back(Tokenizer::from_gguf(testing::small_llama(), "f"));
  // One piece each: a quadratic encoder would take minutes.
  for (const Tokenizer& tokenizer : tokenizers) {
    for (const char* unit : {"a", "the", " ", "\xe4\xbd\xa0", "\xff", "'"}) {
      std::string text;
      while (text.size() < 1'000'000) text += unit;
      expect_round_trip(tokenizer, text);
    }
  }
}

TEST(Tokenizer, PutsASpaceInFrontWhereTheFileAsks) {
  const Tokenizer tokenizer = testing::golden_tokenizer("prefix-space");
  EXPECT_EQ(tokenizer.encode("a b"), tokenizer.encode(" a b"));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a b")), " a b");
  EXPECT_TRUE(tokenizer.encode("").empty());
}

TEST(Tokenizer, TakesOffTheSpaceItPutInFront) {
  const Tokenizer tokenizer = Tokenizer::from_gguf(testing::small_llama(), "f");
  EXPECT_EQ(tokenizer.encode("ab a"), (std::vector<TokenId>{258, 261, 262}));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{258, 261, 262}), "ab a");
  // Within a text the space stays.
  EXPECT_EQ(tokenizer.bytes_of(262), " a");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{1, 262}), "<s> a");
  EXPECT_EQ(tokenizer.encode("a<s>a"), (std::vector<TokenId>{262, 1, 262}));
  EXPECT_EQ(tokenizer.bytes_of(12), "\n");
}

TEST(Tokenizer, RefusesIdsItDoesNotHave) {
  const Tokenizer tokenizer = Tokenizer::from_json_file(kAustenJson);
  for (const TokenId id : {-1, 4096, 1 << 30}) {
    EXPECT_EQ(wrong_error(
                  [&] {
                    tokenizer.decode(std::vector<TokenId>{0, id});
                  },
                  "token id " + std::to_string(id) +
                      " cannot be decoded; the tokenizer's ids run from 0 to 4095"),
              "");
  }
}

TEST(Tokenizer, IsEmptyWhenItIsNotLoaded) {
  const Tokenizer tokenizer;
  EXPECT_EQ(tokenizer.size(), 0);
  EXPECT_TRUE(tokenizer.encode("abc").empty());
  EXPECT_EQ(tokenizer.decode({}), "");
  EXPECT_EQ(wrong_error([&] { tokenizer.decode(std::vector<TokenId>{0}); },
                        "the tokenizer has no tokens"),
            "");
}

TEST(ByteAlphabet, MapsEveryByteToACharacterAndBack) {
  EXPECT_EQ(byte_symbol(0), "\xc4\x80");
  EXPECT_EQ(byte_symbol(' '), "\xc4\xa0");
  EXPECT_EQ(byte_symbol('\n'), "\xc4\x8a");
  EXPECT_EQ(byte_symbol('!'), "!");
  EXPECT_EQ(byte_symbol(0xad), "\xc5\x83");
  EXPECT_EQ(byte_symbol(0xff), "\xc3\xbf");
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(bytes_of_symbols(byte_symbol(static_cast<std::uint8_t>(byte))),
              std::string(1, static_cast<char>(byte)));
  }
  EXPECT_FALSE(bytes_of_symbols(" "));
  EXPECT_FALSE(bytes_of_symbols("a\xc5\x84"));  // U+0144, one past the alphabet
  EXPECT_EQ(bytes_of_symbols(""), "");
}

TEST(ByteAlphabet, SpellsByteTokens) {
  EXPECT_EQ(byte_token(0), "<0x00>");
  EXPECT_EQ(byte_token(0xaf), "<0xAF>");
  EXPECT_EQ(byte_of_token("<0xAF>"), 0xaf);
  EXPECT_EQ(byte_of_token("<0xaf>"), 0xaf);
  for (const char* other :
       {"", "<0xA>", "<0xAF", "<0xAG>", "<0x-1>", "<1xAF>", "<0x0AF>", "<0x A>"}) {
    EXPECT_FALSE(byte_of_token(other)) << other;
  }
}

TEST(Utf8, KnowsWellFormedSequences) {
  for (const char32_t point :
       {0x0U, 0x7fU, 0x80U, 0x7ffU, 0x800U, 0xd7ffU, 0xe000U, 0xffffU, 0x10000U, 0x10ffffU}) {
    const std::string text = to_utf8(point);
    EXPECT_EQ(character_length(text), text.size());
    EXPECT_EQ(code_points(text), std::vector<char32_t>{point});
    EXPECT_EQ(valid_prefix(text + text + "\x80"), 2 * text.size());
    for (std::size_t length = 0; length < text.size(); ++length) {
      EXPECT_EQ(character_length(std::string_view(text).substr(0, length)), 0U);
    }
  }
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xef\xbf\x41", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(character_length(text), 0U) << text;
  }
}

TEST(Utf8, KnowsWhiteSpace) {
  int n_white = 0;
  for (char32_t point = 0; point < 0x110000; ++point) n_white += is_white_space(point) ? 1 : 0;
  EXPECT_EQ(n_white, 25);  // Unicode's PropList.txt
  for (const char32_t point :
       {0x9U, 0xdU, 0x20U, 0x85U, 0xa0U, 0x1680U, 0x2000U, 0x200aU, 0x3000U}) {
    EXPECT_TRUE(is_white_space(point));
  }
  EXPECT_EQ(leading_white_space(" \t\xc2\xa0"
                                "a "),
            4U);
  EXPECT_EQ(leading_white_space("\xe3\x80\x80"), 3U);
  EXPECT_EQ(leading_white_space("\xa0"), 0U);
  EXPECT_EQ(leading_white_space(""), 0U);
}

TEST(Utf8, ReplacesFromTheLeft) {
  EXPECT_EQ(replace_all("aaa b", "aa", "c"), "ca b");
  EXPECT_EQ(replace_all("abc", "x", "y"), "abc");
  EXPECT_EQ(replace_all("", "x", "y"), "");
  EXPECT_EQ(replace_all("xx", "x", ""), "");
}

}  // namespace
}  // namespace specbench::engine
