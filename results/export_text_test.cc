#include "results/export_text.h"

#include <gtest/gtest.h>

namespace specbench::results {
namespace {

constexpr const char* kBad = "\xef\xbf\xbd";

TEST(ExportText, OnlyWellFormedUtf8IsLeft) {
  EXPECT_EQ(clean_utf8("g\xc3\xa4nzlich \xe2\x82\xac \xf0\x9f\x98\x80\t\n\r"),
            "g\xc3\xa4nzlich \xe2\x82\xac \xf0\x9f\x98\x80\t\n\r");
  for (const std::string_view bad :
       {std::string_view("\xff"), std::string_view("\x80"), std::string_view("\xc3"),
        std::string_view("\0", 1), std::string_view("\x01"), std::string_view("\x1b"),
        std::string_view("\x7f")}) {
    EXPECT_EQ(clean_utf8(bad), kBad) << static_cast<int>(bad[0]);
  }
  EXPECT_EQ(clean_utf8("\xc0\xaf"), std::string(kBad) + kBad);             // overlong
  EXPECT_EQ(clean_utf8("\xe0\x80\xaf"), std::string(kBad) + kBad + kBad);  // overlong
  EXPECT_EQ(clean_utf8("\xed\xa0\x80"), std::string(kBad) + kBad + kBad);  // surrogate
  EXPECT_EQ(clean_utf8("\xef\xbf\xbf"), std::string(kBad) + kBad + kBad);  // U+FFFF
  EXPECT_EQ(clean_utf8("\xc2\x85"), std::string(kBad) + kBad);             // C1 control
  EXPECT_EQ(clean_utf8("\xf4\x90\x80\x80").size(), 4 * 3u);                // above U+10FFFF
  EXPECT_EQ(clean_utf8("\xe2\x82"
                       "a"),
            std::string(kBad) + kBad + "a");  // cut short
}

TEST(ExportText, Xml) {
  EXPECT_EQ(xml_escaped("<a b=\"c\" d='e'>&\n]]>\x02"),
            "&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;&#10;]]&gt;" + std::string(kBad));
}

TEST(ExportText, MarkdownHasNoMeaningLeft) {
  EXPECT_EQ(markdown_escaped("a|b"), "a\\|b");
  EXPECT_EQ(markdown_escaped("<script>&amp;"), "&lt;script&gt;&amp;amp;");
  EXPECT_EQ(markdown_escaped("two\nlines\r\n"), "two lines  ");
  EXPECT_EQ(markdown_escaped("[a](b) `c` *d* _e_ ~f~ \\"),
            "\\[a\\](b) \\`c\\` \\*d\\* \\_e\\_ \\~f\\~ \\\\");
  EXPECT_EQ(markdown_escaped("@team #12"),
            "@\xe2\x80\x8bteam \\#\xe2\x80\x8b"
            "12");
  EXPECT_EQ(markdown_escaped("http://x.org WwW.x.org"), "http:\\/\\/x.org WwW\\.x.org");
  EXPECT_EQ(markdown_escaped("- a - b"), "\\- a - b");
  EXPECT_EQ(markdown_escaped("    code"), "code");
  EXPECT_EQ(markdown_escaped("12. item 3. x"), "12\\. item 3. x");
  EXPECT_EQ(markdown_escaped("1.83 is 5 % more"), "1\\.83 is 5 % more");
}

TEST(ExportText, MarkdownIsCutBetweenCharacters) {
  EXPECT_EQ(markdown_escaped("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xc3\xb6...");
  EXPECT_EQ(markdown_escaped("||", 2), "\\|\\|");
  EXPECT_EQ(markdown_escaped("|||", 2), "\\|\\|...");
}

}  // namespace
}  // namespace specbench::results
