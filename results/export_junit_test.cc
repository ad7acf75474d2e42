#include "results/export_junit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "results/export_test_support.h"
#include "results/record_json_test_support.h"

namespace specbench::results {
namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

// The <testcase> of that name, up to its end.
std::string case_named(const std::string& xml, const std::string& name) {
  const std::size_t at = xml.find(" name=\"" + name + "\"", xml.find("<testcase"));
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? "" : xml.substr(at, xml.find("</testcase>", at) - at);
}

Record judged(int exit_code) {
  Record r;
  r.suite = "lossless";
  r.exit_code = exit_code;
  r.verdict = "the verdict";
  return r;
}

TEST(ExportJunit, OneCaseAVerdictCheckAndTest) {
  Record r = full_record();
  r.was_interrupted = false;
  const std::string xml = to_junit(r);
  EXPECT_EQ(count(xml, "<testcase "), 5);
  EXPECT_EQ(count(xml, "<testsuite "), 1);
  // Inconclusive: the verdict (exit code 2) and aa_interval. Skipped: coupled.
  EXPECT_EQ(count(xml, "tests=\"5\" failures=\"0\" errors=\"2\" skipped=\"1\" time=\"12.500\""), 2);
  EXPECT_EQ(count(xml, "<error "), 2);
  EXPECT_EQ(count(xml, "<skipped "), 1);
  EXPECT_EQ(count(xml, "<failure "), 0);
  EXPECT_NE(case_named(xml, "aa_interval").find("<error message=\"11 % wide\""), std::string::npos);
  EXPECT_EQ(case_named(xml, "rounds_identity").find("<error"), std::string::npos);
  EXPECT_NE(case_named(xml, "coupled").find("<skipped message=\"replay is identical; greedy run"),
            std::string::npos);
  EXPECT_NE(xml.find("classname=\"specbench.latency.check\" name=\"aa_interval\""),
            std::string::npos);
  EXPECT_NE(xml.find("name=\"metrics.speedup\" value=\"1.830 ratio (1.720..1.940)\""),
            std::string::npos);
}

TEST(ExportJunit, OnlyAPassedRunHasAGreenVerdict) {
  const auto verdict = [](int exit_code, bool was_interrupted) {
    Record r = judged(exit_code);
    r.was_interrupted = was_interrupted;
    return case_named(to_junit(r), "lossless");
  };
  EXPECT_EQ(verdict(0, false).find("message"), std::string::npos);
  EXPECT_NE(verdict(0, true).find("<error message=\"the verdict\" type=\"interrupted\""),
            std::string::npos);
  EXPECT_NE(verdict(1, false).find("<failure message=\"the verdict\" type=\"failed\""),
            std::string::npos);
  EXPECT_NE(verdict(2, false).find("type=\"inconclusive\""), std::string::npos);
  EXPECT_NE(verdict(3, false).find("type=\"void\""), std::string::npos);
  EXPECT_NE(verdict(4, false).find("<error message=\"the verdict\" type=\"exit code 4\""),
            std::string::npos);
  EXPECT_NE(verdict(130, false).find("<error"), std::string::npos);
}

TEST(ExportJunit, VerdictsOfTests) {
  Record r = judged(0);
  for (const char* verdict : {"PASS", "FAIL", "INCONCLUSIVE", "", "ok"}) {
    TestRow row;
    row.id = std::string("law.") + verdict;
    row.verdict = verdict;
    row.n = 1000;
    row.p_value = 0.25;
    r.tests.push_back(row);
  }
  const std::string xml = to_junit(r);
  EXPECT_NE(case_named(xml, "law.PASS").find("n = 1000, p = 0.2500"), std::string::npos);
  EXPECT_EQ(case_named(xml, "law.PASS").find("<e"), std::string::npos);
  EXPECT_NE(case_named(xml, "law.FAIL").find("<failure"), std::string::npos);
  for (const char* doubtful : {"law.INCONCLUSIVE", "law.", "law.ok"})
    EXPECT_NE(case_named(xml, doubtful).find("<error"), std::string::npos) << doubtful;
  EXPECT_EQ(count(xml, "failures=\"1\" errors=\"3\""), 2);
}

TEST(ExportJunit, FailedChecksFailAndTwinsAreNumbered) {
  Record r = judged(1);
  r.checks = {{"same", CheckStatus::kPassed, ""}, {"same", CheckStatus::kFailed, "a < b & \"c\""}};
  const std::string xml = to_junit(r);
  EXPECT_NE(case_named(xml, "same (2)")
                .find("<failure message=\"a &lt; b &amp; &quot;c&quot;\" type=\"failed\">"),
            std::string::npos);
}

TEST(ExportJunit, AParserReadsWhatAnyBytesGive) {
  const std::string python = python_with("xml.etree.ElementTree");
  if (python.empty()) GTEST_SKIP() << "no python3";
  Record r = full_record();
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  r.suite = r.verdict = r.command_line = r.checks[0].id = r.checks[0].detail = every_byte;
  r.tests[0].hypothesis = "]]></error><testcase name=\"planted\"/><![CDATA[";
  r.tests[0].verdict = "FAIL";
  r.options.emplace_back(every_byte, every_byte);
  r.wall_s = std::nan("");
  const ScratchFile file("junit.xml", to_junit(r));
  const std::string script =
      "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); s = r[0]; "
      "c = s.findall('testcase'); "
      "n = {k: len(s.findall('testcase/' + k)) for k in ('failure', 'error', 'skipped')}; "
      "assert [int(s.get(k)) for k in ('failures', 'errors', 'skipped')] == list(n.values()); "
      "print(r.tag, s.tag, len(c), s.get('tests'), n)";
  const CommandResult result = run_command(python + " -c \"" + script + "\" " + file.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "testsuites testsuite 5 5 {'failure': 1, 'error': 2, 'skipped': 1}\n");
  const ScratchFile cut("cut.xml", to_junit(r).substr(0, 700));
  EXPECT_NE(run_command(python + " -c \"" + script + "\" " + cut.path()).exit_code, 0);
}

}  // namespace
}  // namespace specbench::results
