#include "engine/model/bpe.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/model/pretokenizer.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::wrong_error;

FirstTokens identity() {
  FirstTokens first;
  std::iota(first.of_byte.begin(), first.of_byte.end(), 0);
  return first;
}

/// 'a' is 1, U+00E9 is 2, bytes have no tokens, 0 is unknown.
FirstTokens two_characters() {
  FirstTokens first;
  first.is_byte_level = false;
  first.of_byte.fill(kNoToken);
  first.of_character = {{U'a', 1}, {U'\u00e9', 2}};
  first.unknown = 0;
  return first;
}

std::vector<TokenId> encode(const Bpe& bpe, std::string_view piece) {
  std::vector<TokenId> ids;
  bpe.encode(piece, ids);
  return ids;
}

/// The definition: apply the merge of lowest rank at its leftmost place, until none applies.
std::vector<TokenId> encode_by_definition(const std::vector<Merge>& merges,
                                          std::string_view piece) {
  std::vector<TokenId> ids;
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  for (bool has_merged = true; has_merged;) {
    has_merged = false;
    for (std::size_t rank = 0; rank < merges.size() && !has_merged; ++rank) {
      for (std::size_t i = 0; i + 1 < ids.size() && !has_merged; ++i) {
        if (ids[i] != merges[rank].left || ids[i + 1] != merges[rank].right) continue;
        ids[i] = merges[rank].merged;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        has_merged = true;
      }
    }
  }
  return ids;
}

TEST(Bpe, MergesByRankThenFromTheLeft) {
  const std::vector<Merge> merges = {
      {'b', 'c', 256}, {'a', 'b', 257}, {'a', 'a', 258}, {258, 'a', 259}};
  const Bpe bpe(identity(), merges, {});
  EXPECT_EQ(encode(bpe, "abc"), (std::vector<TokenId>{'a', 256}));
  EXPECT_EQ(encode(bpe, "abab"), (std::vector<TokenId>{257, 257}));
  EXPECT_EQ(encode(bpe, "aaaaa"), (std::vector<TokenId>{258, 259}));
  EXPECT_EQ(encode(bpe, ""), std::vector<TokenId>{});
}

TEST(Bpe, TakesWholePiecesFirst) {
  const Bpe bpe(identity(), {{'a', 'b', 256}}, {{"abc", 300}});
  EXPECT_EQ(encode(bpe, "abc"), std::vector<TokenId>{300});
  EXPECT_EQ(encode(bpe, "abcd"), (std::vector<TokenId>{256, 'c', 'd'}));
}

TEST(Bpe, BeginsWithCharacters) {
  FirstTokens first = two_characters();
  const std::vector<Merge> merges = {{2, 1, 3}, {0, 1, 4}};
  EXPECT_EQ(encode(Bpe(first, merges, {}),
                   "a\xc3\xa9"
                   "a"),
            (std::vector<TokenId>{1, 3}));
  EXPECT_EQ(encode(Bpe(first, {}, {}),
                   "bca\xff"
                   "b"),
            (std::vector<TokenId>{0, 0, 1, 0, 0}));
  // The unknown token is merged like any other.
  EXPECT_EQ(encode(Bpe(first, merges, {}), "ba"), std::vector<TokenId>{4});
  first.fuses_unknown = true;
  EXPECT_EQ(encode(Bpe(first, {}, {}),
                   "bca\xff"
                   "b"),
            (std::vector<TokenId>{0, 1, 0}));
}

TEST(Bpe, KnowsNotEveryByte) {
  FirstTokens first = identity();
  first.of_byte['x'] = kNoToken;
  const std::vector<Merge> merges = {{'a', 'b', 256}};
  // What is left out stands between nothing.
  EXPECT_EQ(encode(Bpe(first, merges, {}), "axxb"), std::vector<TokenId>{256});
  first.unknown = 0;
  EXPECT_EQ(encode(Bpe(first, merges, {}), "axxb"), (std::vector<TokenId>{'a', 0, 0, 'b'}));
  first.fuses_unknown = true;
  EXPECT_EQ(encode(Bpe(first, merges, {}), "axxb"), (std::vector<TokenId>{'a', 0, 'b'}));
}

TEST(Bpe, FallsBackToBytes) {
  FirstTokens first = two_characters();
  for (std::size_t byte = 0; byte < 256; ++byte)
    first.of_byte[byte] = static_cast<TokenId>(1000 + byte);
  const Bpe bpe(first, {{1, 1, 3}}, {});
  EXPECT_EQ(encode(bpe,
                   "aa\xc3\xa8\xff"
                   "a\xc3"),
            (std::vector<TokenId>{3, 1000 + 0xc3, 1000 + 0xa8, 1000 + 0xff, 1, 1000 + 0xc3}));
}

TEST(Bpe, AgreesWithItsDefinition) {
  testing::TestRandom random(4);
  for (int round = 0; round < 200; ++round) {
    // Merges over a three-letter alphabet, each new token from two that exist: many ways to one
    // string.
    std::vector<std::string> texts = {"a", "b", "c"};
    std::vector<TokenId> ids = {'a', 'b', 'c'};
    std::vector<Merge> merges;
    for (int n = 0; n < 25; ++n) {
      const std::size_t left = random.below(ids.size());
      const std::size_t right = random.below(ids.size());
      const std::string text = texts[left] + texts[right];
      const auto known = std::find(texts.begin(), texts.end(), text);
      const bool is_known = known != texts.end();
      const TokenId merged =
          is_known ? ids[static_cast<std::size_t>(known - texts.begin())] : 256 + n;
      const bool is_repeated = std::any_of(merges.begin(), merges.end(), [&](const Merge& m) {
        return m.left == ids[left] && m.right == ids[right];
      });
      if (is_repeated) continue;
      merges.push_back({ids[left], ids[right], merged});
      if (is_known) continue;
      texts.push_back(text);
      ids.push_back(merged);
    }
    const Bpe bpe(identity(), merges, {});
    for (int i = 0; i < 20; ++i) {
      std::string piece;
      for (std::size_t n = random.below(30); n > 0; --n) piece += "abc"[random.below(3)];
      EXPECT_EQ(encode(bpe, piece), encode_by_definition(merges, piece)) << piece;
    }
  }
}

using Pieces = std::vector<std::string_view>;

TEST(PreTokenizer, CutsAsGpt2) {
  const PreTokenizer gpt2({{kGpt2Pattern, false}}, "f");
  EXPECT_EQ(gpt2.split("It's  12a,b\n\n c"),
            (Pieces{"It", "'s", " ", " 12", "a", ",", "b", "\n\n", " c"}));
  EXPECT_EQ(gpt2.split(" \t"), Pieces{" \t"});
  EXPECT_EQ(gpt2.split(""), Pieces{});
  // U+0085 is white space to Oniguruma, U+180E is not.
  EXPECT_EQ(gpt2.split("!\xc2\x85!"), (Pieces{"!", "\xc2\x85", "!"}));
  EXPECT_EQ(gpt2.split("!\xe1\xa0\x8e!"), Pieces{"!\xe1\xa0\x8e!"});
}

TEST(PreTokenizer, AppliesRulesInTurn) {
  EXPECT_EQ(PreTokenizer({{"\\p{N}", false}, {"b", true}}, "f").split("ab12b.c"),
            (Pieces{"a", "b", "1", "2", "b", ".c"}));
  EXPECT_EQ(PreTokenizer({{".", true}}, "f").split("a.b"), (Pieces{"a", ".", "b"}));
  EXPECT_EQ(PreTokenizer().split("a.b"), Pieces{"a.b"});
}

TEST(PreTokenizer, CutsAtEmptyMatches) {
  EXPECT_EQ(PreTokenizer({{"(?=\\d)", false}}, "f")
                .split("a1\xc3\xa9"
                       "2"),
            (Pieces{"a", "1\xc3\xa9", "2"}));
  EXPECT_EQ(PreTokenizer({{"x*", false}}, "f").split("\xc3\xa9xxa"),
            (Pieces{"\xc3\xa9", "xx", "a"}));
}

TEST(PreTokenizer, RefusesPatternsItCannotUse) {
  const struct {
    std::string pattern;
    const char* fragment;
  } cases[] = {
      {"(",
       "f: pre_tokenizer pattern '(' is not a pattern PCRE2 can use: missing closing parenthesis"},
      {"", "is 0 bytes long"},
      {"\\p{Nonsense}", "unknown property"},
      {"\\w+", "uses the escape \\w, which is not supported"},
      {"[a-z&&[^b]]", "intersects character classes"},
      {"a\\", "is not a pattern PCRE2 can use"},
      {"\xff", "is not a pattern PCRE2 can use"},
      {std::string(100'000, '('), "is 100000 bytes long"},
      {std::string(10'000, '('), "is not a pattern PCRE2 can use"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(wrong_error([&] { PreTokenizer({{c.pattern, false}}, "f"); }, c.fragment), "");
  }
}

TEST(PreTokenizer, TellsAPatternThatBacktracksForever) {
  const PreTokenizer hostile({{"(a+a+)+[bc]", false}}, "f");
  EXPECT_EQ(wrong_error([&] { hostile.split(std::string(40, 'a')); },
                        "pattern '(a+a+)+[bc]' cannot be matched against a text of 40 bytes: match "
                        "limit exceeded"),
            "");
}

TEST(PreTokenizer, FallsBackWhereTheJitStackEnds) {
  const PreTokenizer deep({{"(?:a|b)+c", false}}, "f");
  const std::string text = std::string(100'000, 'a') + "cd";
  EXPECT_EQ(deep.split(text), (Pieces{std::string_view(text).substr(0, 100'001), "d"}));
}

}  // namespace
}  // namespace specbench::engine
