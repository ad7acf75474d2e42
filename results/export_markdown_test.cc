#include "results/export_markdown.h"

#include <gtest/gtest.h>

#include <sstream>

#include "results/record_json_test_support.h"

namespace specbench::results {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ExportMarkdown, VerdictFiguresAndDoubtsBeforeTheRest) {
  Record r = full_record();
  r.was_interrupted = false;
  r.tests[0].verdict = "FAIL";
  const std::string text = to_markdown(r);
  EXPECT_TRUE(text.starts_with("### specbench latency: INCONCLUSIVE\n\n")) << text;
  EXPECT_TRUE(has(text, "| speedup | 1.830 | 1.720 .. 1.940 (95 %) | ratio | within-process |\n"));
  EXPECT_TRUE(has(text, "| bandwidth\\_share | - |  | 1 | no ceiling was measured |\n"));
  EXPECT_TRUE(has(text, "**Failed (1)**\n\n- **chi2**: emitted tokens follow the target's law"));
  EXPECT_TRUE(has(text, "**Inconclusive (1)**\n\n- **aa\\_interval**: 11 % wide\n"));
  EXPECT_TRUE(has(text, "1 of 2 checks passed, 0 skipped; 0 of 2 tests passed.\n"));
  EXPECT_LT(text.find("**Failed"), text.find("| metric"));
  EXPECT_LT(text.find("| metric"), text.find("<details>"));
  EXPECT_LT(text.find("<details>"), text.find("| temperature | 0.7000 |"));
  EXPECT_TRUE(text.ends_with("</details>\n"));
  EXPECT_FALSE(has(text, "chunk_end_ns"));
}

TEST(ExportMarkdown, TheHeadlineSaysHowItEnded) {
  const auto headline = [](int exit_code, bool was_interrupted) {
    Record r;
    r.suite = "gate";
    r.exit_code = exit_code;
    r.was_interrupted = was_interrupted;
    const std::string text = to_markdown(r);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(headline(0, false), "### specbench gate: passed");
  EXPECT_EQ(headline(0, true), "### specbench gate: interrupted");
  EXPECT_EQ(headline(1, false), "### specbench gate: FAILED");
  EXPECT_EQ(headline(2, false), "### specbench gate: INCONCLUSIVE");
  EXPECT_EQ(headline(3, false), "### specbench gate: VOID");
  EXPECT_EQ(headline(4, false), "### specbench gate: ended with exit code 4");
}

TEST(ExportMarkdown, AVerdictOfUnknownNameIsADoubt) {
  Record r = full_record();
  r.tests[0].verdict = "fine";
  EXPECT_TRUE(has(to_markdown(r), "**Inconclusive (2)**"));
}

// Every row of a table has as many pipes as its head, and no tag but ours is there.
TEST(ExportMarkdown, WhatTheRecordHoldsStaysText) {
  const std::string planted =
      "a|b\n| c | <img src=x onerror=y> </details> [x](http://y) `z` @all \xff\x01";
  Record r = full_record();
  r.suite = r.verdict = r.command_line = planted;
  r.metrics[0].note = r.metrics[0].unit = planted;
  r.checks[1].id = r.checks[1].detail = planted;
  r.options = {{planted, planted}};
  const std::string text = to_markdown(r);
  std::istringstream lines(text);
  std::size_t n_cells = 0, n_rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t n_pipes = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      n_pipes += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (line.starts_with('|')) {
      if (n_cells == 0) n_cells = n_pipes;
      EXPECT_EQ(n_pipes, n_cells) << line;
      ++n_rows;
    } else {
      EXPECT_EQ(n_pipes, 0u) << line;
      n_cells = 0;
    }
    const bool is_ours = line == "<details>" || line == "</details>" ||
                         line == "<summary>Options and environment</summary>";
    EXPECT_EQ(line.find_first_of("<>") != std::string::npos, is_ours) << line;
    EXPECT_EQ(line.find("x]("), std::string::npos) << line;
    EXPECT_EQ(line.find("@all"), std::string::npos) << line;
  }
  EXPECT_GT(n_rows, 10u);
  EXPECT_TRUE(has(text, "\xef\xbf\xbd\xef\xbf\xbd"));  // the two bytes that are no text
}

TEST(ExportMarkdown, StaysShortEnoughForAComment) {
  Record r = full_record();
  for (int i = 0; i < 500; ++i)
    r.checks.push_back({"c" + std::to_string(i), CheckStatus::kFailed, std::string(5000, '<')});
  std::string text = to_markdown(r);
  EXPECT_TRUE(has(text, "**Failed (500)**"));
  EXPECT_TRUE(has(text, "- **c19**"));
  EXPECT_FALSE(has(text, "- **c20**"));
  EXPECT_TRUE(has(text, "- and 480 more\n"));
  EXPECT_LT(text.size(), 65'536u);
  for (int i = 0; i < 500; ++i) {
    Metric metric = r.metrics[0];
    metric.name = "tokens_per_s." + std::to_string(i) + std::string(200, '*');
    r.metrics.push_back(metric);
  }
  text = to_markdown(r);
  EXPECT_LT(text.size(), 65'536u);
  EXPECT_TRUE(text.ends_with("Too long for a comment; the rest is in the record.\n"));
}

}  // namespace
}  // namespace specbench::results
