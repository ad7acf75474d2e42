#include "engine/model/tokenizer_added.h"

#include <gtest/gtest.h>

#include "engine/model/test_files.h"
#include "engine/model/utf8.h"

namespace specbench::engine {
namespace {

/// Parts as text, tokens as "#id".
std::vector<std::string> split(const std::vector<AddedToken>& tokens, std::string_view text) {
  const AddedTokenFinder finder(tokens);
  std::vector<std::string> shown;
  for (const TextPart& part : finder.split(text)) {
    shown.push_back(part.token == nullptr ? std::string(part.text)
                                          : "#" + std::to_string(part.token->id));
  }
  return shown;
}

using Parts = std::vector<std::string>;

TEST(AddedTokens, AreFoundLeftmostThenLongest) {
  const std::vector<AddedToken> tokens = {{"<a>", 1}, {"<a>b", 2}, {"a>b<", 3}};
  EXPECT_EQ(split(tokens, "x<a>b<a>"), (Parts{"x", "#2", "#1"}));
  EXPECT_EQ(split(tokens, "xa>b<a>"), (Parts{"x", "#3", "a>"}));
  EXPECT_EQ(split(tokens, "<a"), Parts{"<a"});
  EXPECT_EQ(split(tokens, ""), Parts{});
  EXPECT_EQ(split({}, "<a>"), Parts{"<a>"});
  // Of two with one text the first counts.
  EXPECT_EQ(split({{"<a>", 1}, {"<a>", 2}}, "<a>"), Parts{"#1"});
}

TEST(AddedTokens, TakeWhiteSpaceAlong) {
  const std::vector<AddedToken> tokens = {
      {"<l>", 1, false, true, false}, {"<r>", 2, false, false, true}, {"\t", 3}};
  EXPECT_EQ(split(tokens, "a \n\xe3\x80\x80<l> b"), (Parts{"a", "#1", " b"}));
  EXPECT_EQ(split(tokens,
                  "a <r> \xc2\xa0"
                  "b"),
            (Parts{"a ", "#2", "b"}));
  EXPECT_EQ(split(tokens, "<r>  <l>"), (Parts{"#2", "#1"}));
  EXPECT_EQ(split(tokens, "\xa0<l>"), (Parts{"\xa0", "#1"}));  // not UTF-8, so no space
  // A token of white space that was taken along is found all the same, and what follows it too.
  EXPECT_EQ(split(tokens, "<r>\t x"), (Parts{"#2", "#3", " x"}));
}

/// By definition: the leftmost token, of those the longest; of each white space the whole run.
Parts split_by_definition(const std::vector<AddedToken>& tokens, const std::string& text) {
  Parts parts;
  std::size_t done = 0;
  for (std::size_t from = 0; from < text.size();) {
    const AddedToken* found = nullptr;
    for (const AddedToken& token : tokens) {
      if (!std::string_view(text).substr(from).starts_with(token.content)) continue;
      if (found == nullptr || token.content.size() > found->content.size()) found = &token;
    }
    if (found == nullptr) {
      ++from;
      continue;
    }
    std::size_t begin = from;
    for (std::size_t at = from; found->strips_left && at-- > 0;) {
      const std::string_view before = std::string_view(text).substr(at, from - at);
      if (leading_white_space(before) == before.size()) begin = at;
    }
    from += found->content.size();
    if (done < begin) parts.push_back(text.substr(done, begin - done));
    parts.push_back("#" + std::to_string(found->id));
    done = from;
    if (found->strips_right) done += leading_white_space(std::string_view(text).substr(from));
  }
  if (done < text.size()) parts.push_back(text.substr(done));
  return parts;
}

TEST(AddedTokens, AgreeWithTheDefinition) {
  const std::vector<std::string> units = {"a", "b", " ", "\t", "\xe3\x80\x80", "\xe3\x80", "\xff"};
  testing::TestRandom random(4);
  for (int round = 0; round < 2000; ++round) {
    std::vector<AddedToken> tokens;
    for (TokenId id = 0; id < 6; ++id) {
      std::string content;
      for (std::size_t n = 1 + random.below(3); n > 0; --n) content += units[random.below(5)];
      tokens.push_back({content, id, false, random.below(2) == 0, random.below(2) == 0});
    }
    std::string text;
    for (std::size_t n = random.below(20); n > 0; --n) text += units[random.below(units.size())];
    EXPECT_EQ(split(tokens, text), split_by_definition(tokens, text)) << text;
  }
}

TEST(AddedTokens, AreFoundInGoodTimeHoweverManyThereAre) {
  // Every place of the text begins all of them: to try one after another would take hours.
  std::vector<AddedToken> tokens;
  for (TokenId id = 0; id < 65536; ++id) tokens.push_back({"<<<" + std::to_string(id) + ">", id});
  const std::string text = std::string(1'000'000, '<') + "65535>";
  EXPECT_EQ(split(tokens, text), (Parts{std::string(999'997, '<'), "#65535"}));
}

TEST(AddedTokens, TakeLongWhiteSpaceAlongInGoodTime) {
  // Each token lies in white space that all the others take along: looking at it again each time
  // would take the square of the length, which is hours.
  const std::string text(4'000'000, '\t');
  const Parts parts = split({{"\t", 1, false, true, true}}, text);
  EXPECT_EQ(parts.size(), text.size());
}

}  // namespace
}  // namespace specbench::engine
