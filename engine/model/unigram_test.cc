#include "engine/model/unigram.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/model/byte_alphabet.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

std::vector<TokenId> encode(const Unigram& unigram, std::string_view text) {
  std::vector<TokenId> ids;
  unigram.encode(text, ids);
  return ids;
}

/// The best score of `text` over all ways to cut it into pieces.
double best_score(const UnigramPieces& pieces, const std::string& text) {
  if (text.empty()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (const auto& [piece, score] : pieces.scored) {
    if (!text.starts_with(piece)) continue;
    best = std::max(best, score + best_score(pieces, text.substr(piece.size())));
  }
  return best;
}

TEST(Unigram, TakesTheBestScore) {
  UnigramPieces pieces;
  pieces.scored = {{"<unk>", 0}, {"a", -1},  {"b", -1},  {"c", -1},
                   {"ab", -1.5}, {"bc", -1}, {"abc", -3}};
  EXPECT_EQ(encode(Unigram(pieces), "abc"), (std::vector<TokenId>{1, 5}));
  EXPECT_EQ(encode(Unigram(pieces), "abab"), (std::vector<TokenId>{4, 4}));
  pieces.scored[6].second = -1.9;
  EXPECT_EQ(encode(Unigram(pieces), "abc"), std::vector<TokenId>{6});
  // Of equal ways the one that ends in the piece that begins earlier was found first.
  pieces.scored[6].second = -2;
  EXPECT_EQ(encode(Unigram(pieces), "abc"), std::vector<TokenId>{6});
  EXPECT_EQ(encode(Unigram(pieces), ""), std::vector<TokenId>{});
}

TEST(Unigram, ScoresUnknownCharactersTenBelowTheWorst) {
  UnigramPieces pieces;
  pieces.scored = {{"<unk>", 0}, {"a", 9.5}, {"ab", -3}};
  EXPECT_EQ(encode(Unigram(pieces), "ab"), std::vector<TokenId>{2});
  pieces.scored[1].second = 10.5;
  EXPECT_EQ(encode(Unigram(pieces), "ab"), (std::vector<TokenId>{1, 0}));
}

TEST(Unigram, JoinsUnknownCharacters) {
  UnigramPieces pieces;
  pieces.scored = {{"<unk>", 0}, {"a", -1}};
  const Unigram unigram(pieces);
  EXPECT_EQ(encode(unigram,
                   "axy\xc3\xa9\xff"
                   "ax"),
            (std::vector<TokenId>{1, 0, 1, 0}));
  EXPECT_EQ(encode(unigram, "<unk>x"), std::vector<TokenId>{0});
}

TEST(Unigram, FallsBackToBytesWhereAllAreThere) {
  UnigramPieces pieces;
  pieces.scored = {{"<unk>", 0}, {"a", -1}, {byte_token('x'), -2}, {byte_token('y'), -2}};
  EXPECT_EQ(encode(Unigram(pieces), "axya"), (std::vector<TokenId>{1, 0, 1}));
  pieces.has_byte_fallback = true;
  EXPECT_EQ(encode(Unigram(pieces), "axya"), (std::vector<TokenId>{1, 2, 3, 1}));
  EXPECT_EQ(encode(Unigram(pieces), "axza"), (std::vector<TokenId>{1, 0, 1}));
}

TEST(Unigram, AgreesWithItsDefinition) {
  testing::TestRandom random(8);
  for (int round = 0; round < 100; ++round) {
    UnigramPieces pieces;
    pieces.scored = {{"?", 0}, {"a", -3}, {"b", -4}, {"c", -5}};
    while (pieces.scored.size() < 15) {
      std::string text;
      for (std::size_t n = 2 + random.below(3); n > 0; --n) text += "abc"[random.below(3)];
      const auto is_text = [&](const auto& piece) { return piece.first == text; };
      if (std::any_of(pieces.scored.begin(), pieces.scored.end(), is_text)) continue;
      // Eighths: their sums are exact, whatever the order.
      pieces.scored.emplace_back(text, -static_cast<double>(random.below(64)) / 8);
    }
    const Unigram unigram(pieces);
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (std::size_t n = random.below(9); n > 0; --n) text += "abc"[random.below(3)];
      double score = 0;
      std::string spelled;
      for (const TokenId id : encode(unigram, text)) {
        score += pieces.scored[static_cast<std::size_t>(id)].second;
        spelled += pieces.scored[static_cast<std::size_t>(id)].first;
      }
      EXPECT_EQ(spelled, text);
      EXPECT_EQ(score, best_score(pieces, text)) << text;
    }
  }
}

}  // namespace
}  // namespace specbench::engine
