#include "results/report.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "results/record_json.h"
#include "results/report_page.h"
#include "results/report_test_support.h"

namespace specbench::results {
namespace {

// With a stand-in for the library, so that what is found comes from records.
std::string page_of(std::vector<Record> records) {
  return render_html({std::move(records), "/* library */", ""});
}

bool has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

std::size_t count(const std::string& page, const std::string& text) {
  std::size_t n = 0;
  for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++n;
  return n;
}

TEST(Report, VerdictsComeFirstWithAWordEach) {
  const std::string page = page_of(every_record());
  const std::size_t first = page.find("<section");
  EXPECT_EQ(page.find("<section id=\"verdict\""), first);
  EXPECT_EQ(count(page, "<div class=\"verdict good\"><p class=\"word\">PASSED"), 2u);
  EXPECT_EQ(count(page, "<div class=\"verdict doubt\"><p class=\"word\">INCONCLUSIVE"), 1u);
  EXPECT_EQ(count(page, "<div class=\"verdict bad\"><p class=\"word\">FAILED"), 2u);
  EXPECT_TRUE(has(page, "1.280 (95 %: 1.250 to 1.310)"));
  EXPECT_TRUE(has(page, "0.002100 (99.9 %: at most 0.002100)"));
}

TEST(Report, EveryExitCodeHasItsWord) {
  const std::pair<int, const char*> words[] = {{0, "PASSED"},       {1, "FAILED"},
                                               {2, "INCONCLUSIVE"}, {3, "VOID"},
                                               {4, "WRONG INPUT"},  {130, "INTERRUPTED"}};
  for (const auto& [code, word] : words) {
    Record r;
    r.exit_code = code;
    EXPECT_TRUE(has(page_of({r}), std::string("<p class=\"word\">") + word)) << code;
  }
}

TEST(Report, ShowsEveryTopic) {
  const std::string page = page_of(every_record());
  EXPECT_FALSE(has(page, "class=\"missing\""));
  // 40.383 MB at 153.06 GB/s are 0.2638 ms; 1000 / 1644.4 = 0.608 ms.
  EXPECT_TRUE(has(page,
                  "autoregressive: 40.4 MB a token at 153 GB/s take at least 0.264 ms; "
                  "measured 0.608 ms, 43 % of the roofline.</p>"));
  EXPECT_TRUE(has(page, "A round takes 1.08 ms and emits 2.27 tokens: 0.475 ms a token."));
  EXPECT_TRUE(has(page, "Best measured: 3 draft layers, 2 draft tokens, 1.35 times as fast"));
  EXPECT_TRUE(has(page, "FAIL</span></td><td>regression</td><td>Slower by 5.2 %"));
  EXPECT_TRUE(has(page, "1 of 2 mutants were caught."));
  EXPECT_TRUE(has(page, "<pre>specbench --suite sweep</pre>"));
  EXPECT_TRUE(has(page, "At commit 0da81fb7 with uncommitted changes."));
  EXPECT_TRUE(has(page, "Planted CPU"));
}

TEST(Report, AMissingTopicNamesTheSuiteToRun) {
  Record r;
  r.suite = "empty";
  const std::string page = page_of({r});
  EXPECT_EQ(count(page, "class=\"missing\""), 9u);
  for (const char* suite : {"latency", "sweep", "lossless", "selftest"})
    EXPECT_TRUE(has(page, std::string("specbench --suite ") + suite)) << suite;
  EXPECT_TRUE(has(page, "specbench gate --baseline"));
  EXPECT_FALSE(has(page, "<canvas"));
}

TEST(Report, MarksOnlyTheBestCellOfTheSweep) {
  const std::string page = page_of({sweep_record()});
  EXPECT_EQ(count(page, "class=\"gain best\""), 1u);
  EXPECT_TRUE(has(page, "<b>1.35</b> <em>best</em>"));
  EXPECT_GT(count(page, "<td class=\"loss\""), 0u);  // slower than 1 is told apart
}

TEST(Report, AcceptanceBandsAreClopperPearson) {
  // 194 of 273: 0.6529 to 0.7636 (Clopper-Pearson, 95 %).
  const std::string page = page_of({latency_record()});
  EXPECT_TRUE(has(page, "{\"x\":1.0,\"y\":0.6529"))
      << page.substr(page.find("share accepted"), 400);
  EXPECT_TRUE(has(page, "{\"x\":1.0,\"y\":0.7636"));
}

TEST(Report, SaysWhetherPitsLeaveTheBand) {
  EXPECT_TRUE(has(page_of({lossless_record(0.0)}), "stays inside the 99 % DKW band"));
  const std::string bent = page_of({lossless_record(0.1)});
  EXPECT_TRUE(has(bent, "leaves the 99 % DKW band"));
  EXPECT_FALSE(has(bent, "stays inside"));
}

TEST(Report, ListsFailuresBeforeDoubtAndCutsLongLists) {
  Record r = lossless_record();
  const std::string page = page_of({r});
  EXPECT_LT(page.find("wide.rejected.ks"), page.find("wide.bonus.ks"));
  EXPECT_FALSE(has(page, "wide.all.ks"));
  EXPECT_TRUE(has(page, "1 of 3 checks and 2 of 3 tests failed or are inconclusive."));
  r.tests.assign(1000, r.tests[2]);
  const std::string cut = page_of({r});
  EXPECT_EQ(count(cut, "wide.rejected.ks"), 300u);
  EXPECT_TRUE(has(cut, "And 700 more; the record has them all."));
}

TEST(Report, HostileStringsStayText) {
  const std::string hostile =
      "</script><script>document.body.dataset.hacked=1</script><!--<img src=x onerror=alert(1)>\"'"
      "&{{x}}";
  const auto infect = [&](Entries& entries) { entries = {{hostile, hostile}}; };
  std::vector<Record> records = every_record();
  for (Record& r : records) {
    r.verdict = r.command_line = r.started_utc = hostile;
    if (r.suite != "gate") r.suite = hostile;
    for (Entries* entries : {&r.options, &r.environment, &r.build, &r.model}) infect(*entries);
    for (Metric& m : r.metrics) m.note = m.unit = hostile;
    r.metrics.push_back({hostile, 1.0, hostile, {}, {}, {}, hostile});
    for (Check& c : r.checks) c.id = c.detail = hostile;
    for (TestRow& t : r.tests) t.id = t.reason = t.verdict = t.drift_kind = hostile;
    r.counters.emplace_back(hostile, 1);
    r.notes = {hostile};
    for (NamedTable& table : r.tables) {
      for (auto& row : table.rows)
        for (Value& value : row)
          if (std::holds_alternative<std::string>(value)) value = hostile;
    }
  }
  const std::string page = page_of(records);
  EXPECT_EQ(count(page, "<script"), 3u);
  EXPECT_EQ(count(page, "</script"), 3u);
  EXPECT_EQ(count(page, "<!--"), 1u);  // the licence
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page.substr(0, page.find("id=\"report-data\"")), "\"'&{{"));
  EXPECT_TRUE(has(page, "&lt;/script&gt;&lt;script&gt;"));
  EXPECT_TRUE(has(page, "\\u003c/script>"));  // a label in the data of the charts
}

TEST(Report, ALicenceCannotEndItsComment) {
  const std::string page =
      render_html({{Record{}}, "/* library */", "MIT --> <script>alert(1)</script> ---->"});
  const std::size_t from = page.find("<!--");
  const std::size_t to = page.find("-->");
  EXPECT_TRUE(has(page.substr(from, to - from), "alert(1)"));
  EXPECT_EQ(count(page, "-->"), 1u);
}

TEST(Report, CarriesTheLibrarysLicence) {
  EXPECT_TRUE(has(page_of({Record{}}), "Permission is hereby granted, free of charge"));
  EXPECT_TRUE(
      has(render_html({{Record{}}, "/* library */", "Planted licence"}), "Planted licence"));
}

TEST(Report, BrokenNumbersAndTablesAreLeftOut) {
  Record r = latency_record();
  r.metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  r.tables[0].rows = {{std::int64_t{1}, std::int64_t{5}, std::int64_t{9}, 1.8, "x"},  // 9 of 5
                      {std::int64_t{2}},                                              // short
                      {"x", 1.5, std::monostate{}, true, 0.1}};
  r.tables.push_back({"sweep", {"layers", "draft_tokens"}, {{std::int64_t{1}, std::int64_t{2}}}});
  r.tables.push_back({"pit", {"order"}, {{"id"}}});
  const std::string page = page_of({r});
  EXPECT_TRUE(has(page, "No speed-up here"));
  EXPECT_TRUE(has(page, "No sweep here"));
  EXPECT_TRUE(has(page, "No PIT values here"));
  EXPECT_FALSE(has(page, ":nan"));
}

TEST(Report, RefusesWhatCannotBeInlined) {
  EXPECT_THROW(render_html({{}, "x", ""}), std::invalid_argument);
  EXPECT_THROW(render_html({{Record{}}, "", ""}), std::invalid_argument);
  EXPECT_THROW(render_html({{Record{}}, "x </SCRIPT>", ""}), std::invalid_argument);
  EXPECT_THROW(render_html({{Record{}}, "x <!-- y", ""}), std::invalid_argument);
}

TEST(Report, OpensOfflineAndIsSmall) {
  std::vector<Record> records = every_record();
  records.push_back(
      from_json(read_text(std::string(SPECBENCH_SOURCE_DIR) + "/results/baselines/selftest.json")));
  const std::string page = render_html(report_of(records));
  EXPECT_LT(page.size(), 3u << 20);
  EXPECT_TRUE(has(page, "default-src 'none'"));
  const std::string own = page_of(records);
  for (const char* text : {" src=", "@import", "url(", "http://", "https://", "<link"})
    EXPECT_FALSE(has(own, text)) << text;
  EXPECT_EQ(count(own, "href="), count(own, "href=\"#"));
  EXPECT_EQ(page, render_html(report_of(records)));
}

TEST(Report, RawSamplesDoNotSwellIt) {
  Record r = latency_record();
  const std::size_t before = page_of({r}).size();
  r.samples.assign(100000, SampleRow{});
  EXPECT_EQ(page_of({r}).size(), before);
}

}  // namespace
}  // namespace specbench::results
