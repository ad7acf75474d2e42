#include "engine/model/tokenizer_normalizer.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/model/input_file.h"
#include "engine/model/tokenizer_test_support.h"

namespace specbench::engine {
namespace {

using Kind = NormalizerStep::Kind;

TEST(Normalizer, ComposesAndOrdersMarks) {
  EXPECT_EQ(nfc("e\xcc\x81"), "\xc3\xa9");
  EXPECT_EQ(nfc("\xe2\x84\xab"), "\xc3\x85");                // the angstrom sign is a letter
  EXPECT_EQ(nfc("q\xcc\x87\xcc\xa3"), "q\xcc\xa3\xcc\x87");  // the dot below goes first
  EXPECT_EQ(nfc("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"), "\xed\x95\x9c");  // a Hangul syllable
  EXPECT_EQ(nfc("\xe0\xa5\x98"), "\xe0\xa4\x95\xe0\xa4\xbc");  // excluded from composition
  EXPECT_EQ(nfc("plain"), "plain");
  EXPECT_EQ(nfc(std::string("e\0\xcc\x81", 4)), std::string("e\0\xcc\x81", 4));
}

TEST(Normalizer, KeepsBytesThatAreNoText) {
  EXPECT_EQ(nfc("e\xff\xcc\x81"), "e\xff\xcc\x81");
  EXPECT_EQ(nfc("\xcc\x65\xcc\x81\xed\xa0\x80"), "\xcc\xc3\xa9\xed\xa0\x80");
}

TEST(Normalizer, AgreesWithTheOracleOnEveryCodePoint) {
  std::ifstream golden(testing::kGoldenFolder / "normal-forms.txt");
  std::uint64_t expected = 0;
  golden >> std::hex >> expected;
  std::set<char32_t> left_out;  // marks that the oracle does not know
  for (std::uint32_t point = 0; golden >> std::hex >> point;) left_out.insert(point);
  EXPECT_EQ(left_out.size(), 108U);
  std::uint64_t value = 14695981039346656037ULL;  // FNV-1a, as the oracle's script
  for (char32_t block = 0; block < 0x110000; block += 256) {
    std::string text;
    for (char32_t point = block; point < block + 256; ++point) {
      if ((point >= 0xd800 && point < 0xe000) || left_out.contains(point)) continue;
      const std::string c = to_utf8(point);
      text.append("a").append(c).append("\xcc\xa3\xcc\x81x\xcc\x96");
      text.append(c).append(c).append("\xe1\x85\xa1\xe1\x86\xa8");
    }
    const std::string form = nfc(text);
    for (const char c : form) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  EXPECT_EQ(value, expected);
}

TEST(Normalizer, OrdersLongRunsInGoodTime) {
  // Marks of falling classes: an ordering that swaps neighbours would take hours.
  std::string marks;
  for (int i = 0; i < 2'000'000; ++i) marks += "\xcc\x81";
  for (int i = 0; i < 2'000'000; ++i) marks += "\xcc\xa3";
  EXPECT_EQ(nfc("a" + marks).substr(0, 7), "\xe1\xba\xa1\xcc\xa3\xcc\xa3");
}

TEST(Normalizer, TakesStepsInTurn) {
  const std::vector<NormalizerStep> steps = {{Kind::kPrepend, "", "_"}, {Kind::kReplace, " ", "_"}};
  EXPECT_EQ(normalize("a b  c", steps), "_a_b__c");
  EXPECT_EQ(normalize(" ", steps), "__");
  EXPECT_EQ(normalize("", steps), "");
  const std::vector<NormalizerStep> overlapping = {{Kind::kReplace, "aa", "b"},
                                                   {Kind::kNfc, "", ""}};
  EXPECT_EQ(normalize("aaae\xcc\x81", overlapping), "ba\xc3\xa9");
  EXPECT_EQ(normalize("e\xcc\x81", {}), "e\xcc\x81");
}

}  // namespace
}  // namespace specbench::engine
