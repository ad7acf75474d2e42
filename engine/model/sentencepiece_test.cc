#include "engine/model/sentencepiece.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

std::array<TokenId, 256> bytes_from_1000() {
  std::array<TokenId, 256> tokens{};
  std::iota(tokens.begin(), tokens.end(), 1000);
  return tokens;
}

std::vector<TokenId> encode(const SentencePieceBpe& bpe, std::string_view text) {
  std::vector<TokenId> ids;
  bpe.encode(text, ids);
  return ids;
}

/// The definition: join the neighbours whose text together has the best score, the leftmost first.
std::vector<TokenId> encode_by_definition(const std::vector<ScoredPiece>& pieces,
                                          std::string_view text) {
  const auto find = [&](const std::string& wanted) {
    return std::find_if(pieces.begin(), pieces.end(),
                        [&](const ScoredPiece& piece) { return piece.text == wanted; });
  };
  std::vector<std::string> symbols;
  for (const char c : text) symbols.emplace_back(1, c);
  while (true) {
    std::size_t best = symbols.size();
    float best_score = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto piece = find(symbols[i] + symbols[i + 1]);
      if (piece == pieces.end() || (best < symbols.size() && piece->score <= best_score)) continue;
      best = i;
      best_score = piece->score;
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<TokenId> ids;
  ids.reserve(symbols.size());
  for (const std::string& symbol : symbols) ids.push_back(find(symbol)->id);
  return ids;
}

TEST(SentencePieceBpe, JoinsByScoreThenFromTheLeft) {
  const SentencePieceBpe bpe({{"a", 0, 0},
                              {"b", 0, 1},
                              {"c", 0, 2},
                              {"bc", -1, 3},
                              {"ab", -2, 4},
                              {"aa", -3, 5},
                              {"aaa", -3, 6}},
                             bytes_from_1000());
  EXPECT_EQ(encode(bpe, "abc"), (std::vector<TokenId>{0, 3}));
  EXPECT_EQ(encode(bpe, "abab"), (std::vector<TokenId>{4, 4}));
  EXPECT_EQ(encode(bpe, "aaaa"), (std::vector<TokenId>{6, 0}));
  EXPECT_EQ(encode(bpe, ""), std::vector<TokenId>{});
}

TEST(SentencePieceBpe, FallsBackToBytes) {
  const SentencePieceBpe bpe({{"a", 0, 0},
                              {"\xc3\xa9"
                               "a",
                               -1, 1}},
                             bytes_from_1000());
  // A character that is no piece may still be half of one.
  EXPECT_EQ(encode(bpe,
                   "\xc3\xa9"
                   "a\xc3\xa9"),
            (std::vector<TokenId>{1, 1000 + 0xc3, 1000 + 0xa9}));
  EXPECT_EQ(encode(bpe,
                   "\xff\xc3"
                   "a"),
            (std::vector<TokenId>{1000 + 0xff, 1000 + 0xc3, 0}));
}

TEST(SentencePieceBpe, TakesUnusedPiecesApartAgain) {
  std::vector<ScoredPiece> pieces = {{"a", 0, 0}, {"b", 0, 1}, {"ab", -1, 2}, {"abab", -2, 3}};
  pieces[2].is_unused = true;
  EXPECT_EQ(encode(SentencePieceBpe(pieces, bytes_from_1000()), "ababab"),
            (std::vector<TokenId>{3, 0, 1}));
  pieces[3].is_unused = true;
  EXPECT_EQ(encode(SentencePieceBpe(pieces, bytes_from_1000()), "abab"),
            (std::vector<TokenId>{0, 1, 0, 1}));
}

TEST(SentencePieceBpe, AgreesWithItsDefinition) {
  testing::TestRandom random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<ScoredPiece> pieces = {{"a", 0, 0}, {"b", 0, 1}, {"c", 0, 2}};
    for (TokenId id = 3; id < 25; ++id) {
      std::string text;
      for (std::size_t n = 2 + random.below(3); n > 0; --n) text += "abc"[random.below(3)];
      const bool is_known =
          std::any_of(pieces.begin(), pieces.end(),
                      [&](const ScoredPiece& piece) { return piece.text == text; });
      // Few scores, so that many are equal.
      if (!is_known) pieces.push_back({text, -static_cast<float>(random.below(6)), id});
    }
    const SentencePieceBpe bpe(pieces, bytes_from_1000());
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (std::size_t n = random.below(30); n > 0; --n) text += "abc"[random.below(3)];
      EXPECT_EQ(encode(bpe, text), encode_by_definition(pieces, text)) << text;
    }
  }
}

TEST(SentencePieceBpe, KnowsWhereMarksStand) {
  EXPECT_TRUE(has_marks_in_front_only(""));
  EXPECT_TRUE(has_marks_in_front_only("\xe2\x96\x81\xe2\x96\x81"));
  EXPECT_TRUE(
      has_marks_in_front_only("\xe2\x96\x81"
                              "ab"));
  EXPECT_FALSE(has_marks_in_front_only("a\xe2\x96\x81"));
  EXPECT_FALSE(
      has_marks_in_front_only("\xe2\x96\x81"
                              "a\xe2\x96\x81"));
}

}  // namespace
}  // namespace specbench::engine
