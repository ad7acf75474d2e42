#include "results/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace specbench::results {
namespace {

TEST(FormatNumber, SignificantDigits) {
  EXPECT_EQ(format_number(0.0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(3.0), "3");
  EXPECT_EQ(format_number(1.83), "1.830");
  EXPECT_EQ(format_number(0.0123), "0.01230");
  EXPECT_EQ(format_number(12345.7), "12346");
  EXPECT_EQ(format_number(-9.99961), "-10.00");  // rounding moves the exponent
  EXPECT_EQ(format_number(0.000123456), "0.0001235");
  EXPECT_EQ(format_number(0.0000123456), "1.235e-05");
  EXPECT_EQ(format_number(9999999.0), "9999999");
  EXPECT_EQ(format_number(1e7), "1.000e+07");
  EXPECT_EQ(format_number(9999999.9), "1.000e+07");
  EXPECT_EQ(format_number(0.5, 2), "0.50");
  EXPECT_EQ(format_number(std::nan("")), "nan");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(format_number(std::optional<double>{}), "-");
}

TEST(FormatValue, EveryKind) {
  EXPECT_EQ(format_value(Value{}), "-");
  EXPECT_EQ(format_value(true), "yes");
  EXPECT_EQ(format_value(std::int64_t{12345678901}), "12345678901");
  EXPECT_EQ(format_value(0.25), "0.2500");
  EXPECT_EQ(format_value("text"), "text");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("\xc3\xa4"), 1u);                  // a umlaut
  EXPECT_EQ(display_width("a\xcc\x88"), 1u);                 // the same in two code points
  EXPECT_EQ(display_width("\xe6\xb5\x8b\xe8\xaf\x95"), 4u);  // two Chinese characters
  EXPECT_EQ(display_width("\xf0\x9f\x9a\x80"), 2u);          // a rocket
  EXPECT_EQ(display_width("\x1b[1;31mabc\x1b[0m"), 3u);      // colour takes no room
  EXPECT_EQ(display_width("\x1b[31"), 4u);                   // no whole escape
  EXPECT_EQ(display_width("\xff\xc3"), 2u);                  // broken bytes stand for themselves
}

TEST(RenderTable, AlignsAndTrims) {
  EXPECT_EQ(render_table({{"name"}, {"n", true}, {"why"}},
                         {{"\xc3\xa4", "1", "x"}, {"long name", "100"}}),
            "name         n  why\n"
            "---------  ---  ---\n"
            "\xc3\xa4            1  x\n"
            "long name  100\n");
  EXPECT_EQ(render_table(std::vector<TextColumn>{}, {}), "");
}

TEST(RenderTable, BreaksTheLastColumnAtThePageWidth) {
  std::string sentence;
  for (int i = 0; i < 40; ++i) sentence += "word ";
  const std::string text = render_table({{"id"}, {"why"}}, {{"a", sentence}});
  std::stringstream lines(text);
  int n_words = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), kPageWidth);
    for (std::size_t at = line.find("word"); at != std::string::npos;
         at = line.find("word", at + 1))
      ++n_words;
  }
  EXPECT_EQ(n_words, 40);  // nothing is cut off
}

TEST(RenderTable, NumbersStandOnTheRight) {
  const NamedTable table{"t",
                         {"position", "share", "note"},
                         {{1, 0.5, "a"}, {10, std::monostate{}, std::monostate{}}}};
  EXPECT_EQ(render_table(table),
            "position   share  note\n"
            "--------  ------  ----\n"
            "       1  0.5000  a\n"
            "      10       -  -\n");
}

TEST(Wrap, BreaksAtSpacesAndKeepsLongWords) {
  EXPECT_EQ(wrap("aa bb cc", 5, 0), "aa bb\ncc");
  EXPECT_EQ(wrap("  aa bb cc", 6, 4), "  aa\n    bb\n    cc");
  EXPECT_EQ(wrap("aaaaaaaa b", 5, 1), "aaaaaaaa\n b");
  EXPECT_EQ(wrap("", 5, 0), "");
  EXPECT_EQ(wrap("   ", 5, 0), "   ");
}

TEST(RenderRecord, MatchesTheCommittedPage) {
  Record r;
  r.suite = "latency";
  r.verdict =
      "speculative decoding is 1.83 times as fast as autoregressive decoding on this machine, and "
      "every identity "
      "of the round log holds";
  r.was_interrupted = true;
  r.metrics = {{"speedup", 1.8312, "ratio", 1.72, 1.94, 0.95, "within-process"},
               {"tokens_per_s", 512.25, "tokens/s", {}, {}, {}, ""},
               {"acceptance_length", 3.2, "1", 3.1, 3.3, 0.999, ""},
               {"bandwidth_share",
                {},
                "1",
                {},
                {},
                {},
                "no ceiling was measured because the machine was busy with other work"}};
  r.checks = {
      {"rounds_identity", CheckStatus::kPassed, "all agree"},
      {"histogram_identity", CheckStatus::kPassed, "all agree"},
      {"emitted_identity", CheckStatus::kFailed, "round 7 emitted 3 tokens, the log says 4"},
      {"device", CheckStatus::kSkipped, "no GPU"}};
  r.tests = {
      {"chi2", "h", "X2", 100000, 31.5, 0.54, 0.011, "tv", 0.001, 0.02, 0.01, "passed", "", {}},
      {"coupled", "h", "", 100, {}, {}, {}, "", {}, {}, {}, "inconclusive", "too few tokens", 459}};
  r.tables = {{"acceptance_by_position", {"position", "joint"}, {{1, 0.9}, {2, 0.71}}}};
  r.environment = {{"date_utc", "2026-01-31T12:00:00Z"},
                   {"cpu_model", "Planted CPU"},
                   {"n_cores_usable", "2"},
                   {"governor", std::monostate{}},
                   {"load_average", 0.25}};
  r.notes = {"timed beside other work"};
  std::ifstream file(std::string(SPECBENCH_SOURCE_DIR) + "/results/testdata/record.txt");
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(render_record(r), committed.str());
  std::stringstream lines(render_record(r));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(display_width(line), kPageWidth) << line;
}

// Without the escapes that set a colour.
std::string without_colour(std::string text) {
  for (std::size_t at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b["))
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

Record record_of_every_status() {
  Record r;
  r.suite = "gate";
  r.verdict =
      "the candidate is slower, and this sentence is long enough that it has to be broken "
      "into two lines";
  r.exit_code = 1;
  r.checks = {{"a", CheckStatus::kFailed, "failed by 3"},
              {"b", CheckStatus::kInconclusive, "too few"},
              {"c", CheckStatus::kSkipped, "no GPU"}};
  r.tests.resize(3);
  r.tests[0].verdict = "PASS";
  r.tests[1].verdict = "FAIL";
  r.tests[2].verdict = "INCONCLUSIVE";
  r.tables = {{"t", {"status", "why"}, {{"VOID", "busy"}, {"PASS", "PASS is a word here"}}}};
  return r;
}

TEST(RenderRecord, ColourFollowsTheStatus) {
  Record r = record_of_every_status();
  const std::string text = render_record(r, true);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("gate: \x1b[31mthe candidate is slower"));
  EXPECT_TRUE(has("  \x1b[31mfailed\x1b[0m a: failed by 3"));
  EXPECT_TRUE(has("  \x1b[33minconclusive\x1b[0m b: too few"));
  EXPECT_TRUE(has("  skipped c: no GPU"));
  EXPECT_TRUE(has("  \x1b[32mPASS\x1b[0m\n"));
  EXPECT_TRUE(has("  \x1b[31mFAIL\x1b[0m\n"));
  EXPECT_TRUE(has("  \x1b[33mINCONCLUSIVE\x1b[0m\n"));
  EXPECT_TRUE(has("\x1b[33mVOID\x1b[0m    busy\n"));
  EXPECT_TRUE(has("\x1b[32mPASS\x1b[0m    PASS is a word here\n"));
  for (const auto& [code, colour] : std::vector<std::pair<int, std::string>>{
           {0, "[32m"}, {1, "[31m"}, {2, "[33m"}, {3, "[33m"}, {4, "[31m"}, {130, "[33m"}}) {
    r.exit_code = code;
    EXPECT_EQ(render_record(r, true).find("gate: \x1b" + colour), 0u) << code;
  }
}

TEST(RenderRecord, ColourChangesNothingElse) {
  const Record r = record_of_every_status();
  EXPECT_EQ(render_record(r).find('\x1b'), std::string::npos);
  EXPECT_EQ(without_colour(render_record(r, true)), render_record(r));
}

TEST(RenderRecord, AnEmptyRecordIsOneLine) { EXPECT_EQ(render_record(Record{}), ":\n"); }

}  // namespace
}  // namespace specbench::results
