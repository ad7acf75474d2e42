#include "engine/model/tokenizer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "engine/model/byte_alphabet.h"
#include "engine/model/test_files.h"
#include "engine/model/utf8.h"

namespace specbench::engine {
namespace {

using testing::wrong_error;

const std::filesystem::path kModelFolder =
    std::filesystem::path(SPECBENCH_SOURCE_DIR) / "engine/model";
const std::filesystem::path kAustenJson =
    std::filesystem::path(SPECBENCH_SOURCE_DIR) / "engine/models/austen-10m/tokenizer.json";

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// Every case of a golden file; see golden/make_golden.py. Returns how many there were.
int compare_with_golden(const Tokenizer& tokenizer, const std::string& name) {
  std::ifstream lines(kModelFolder / "golden" / (name + ".txt"));
  int n_cases = 0;
  for (std::string line; std::getline(lines, line); ++n_cases) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string text = from_hex(line.substr(0, space));
    std::istringstream numbers(line.substr(space));
    std::vector<TokenId> expected;
    for (TokenId id = 0; numbers >> id;) expected.push_back(id);
    EXPECT_EQ(tokenizer.encode(text), expected) << text;
  }
  return n_cases;
}

void expect_round_trip(const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<TokenId> ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(ids), text);
  for (const TokenId id : ids) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, tokenizer.size());
  }
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

TEST(Tokenizer, EncodesAsHuggingFace) {
  EXPECT_EQ(compare_with_golden(Tokenizer::from_json_file(kAustenJson), "austen-10m"), 331);
  for (const std::string name : {"llama3-style", "digits-style", "prefix-space"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(compare_with_golden(
                  Tokenizer::from_json_file(kModelFolder / "golden" / (name + ".json")), name),
              331);
  }
}

TEST(Tokenizer, ReturnsEveryTextUnchanged) {
  for (const auto& file : {kAustenJson, kModelFolder / "golden/llama3-style.json",
                           kModelFolder / "golden/digits-style.json"}) {
    const Tokenizer tokenizer = Tokenizer::from_json_file(file);
    for (const std::string& text :
         {std::string(), std::string(1, '\0'), std::string(1000, ' '),
          std::string(1000, '\n') + "x",
          std::string("a\xff\xfe"
                      "b"),
          std::string("\xc3"), std::string("\xed\xa0\x80 \xf4\x90\x80\x80"),
          std::string(
              "\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 e\xcc\x81"),
          std::string("<|end_of_text|\xff><|end_of_text|>"),
          std::string("\x01\x1f\x7f\xc2\x85\xe2\x80\xa8")}) {
      expect_round_trip(tokenizer, text);
    }
  }
}

TEST(Tokenizer, ReturnsRandomBytesUnchanged) {
  const Tokenizer austen = Tokenizer::from_json_file(kAustenJson);
  const Tokenizer llama3 = Tokenizer::from_json_file(kModelFolder / "golden/llama3-style.json");
  testing::TestRandom random(3);
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    for (std::size_t n = random.below(40); n > 0; --n) text += static_cast<char>(random.below(256));
    // Every other text is mostly valid UTF-8 of all lengths, with stray bytes.
    for (std::size_t n = i % 2 == 0 ? 0 : random.below(30); n > 0; --n) {
      const std::size_t shift = random.below(21);
      text += to_utf8(static_cast<char32_t>(random.below(0x110000) >> shift));
    }
    expect_round_trip(austen, text);
    expect_round_trip(llama3, text);
  }
}

TEST(Tokenizer, EncodesLongPiecesInGoodTime) {
  const Tokenizer tokenizer = Tokenizer::from_json_file(kAustenJson);
  // One piece each: a quadratic encoder would take minutes.
  for (const char* unit : {"a", "the", " ", "\xe4\xbd\xa0", "\xff", "'"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    expect_round_trip(tokenizer, text);
  }
}

TEST(Tokenizer, PutsASpaceInFrontWhereTheFileAsks) {
  const Tokenizer tokenizer = Tokenizer::from_json_file(kModelFolder / "golden/prefix-space.json");
  EXPECT_EQ(tokenizer.encode("a b"), tokenizer.encode(" a b"));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a b")), " a b");
  EXPECT_TRUE(tokenizer.encode("").empty());
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

}  // namespace
}  // namespace specbench::engine
