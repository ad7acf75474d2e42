#include "engine/model/tokenizer_added.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace specbench::engine
