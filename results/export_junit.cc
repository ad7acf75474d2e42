#include "results/export_junit.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "results/export_text.h"
#include "results/table.h"

namespace specbench::results {
namespace {

struct Case {
  std::string kind;  // "verdict", "check", "test"
  std::string name;
  CheckStatus status;
  std::string type;  // of the failure or error: "inconclusive", "void"
  std::string detail;
};

Case verdict_case(const Record& record) {
  Case c{"verdict", record.suite, CheckStatus::kInconclusive, "", record.verdict};
  if (record.was_interrupted || record.exit_code == 130) {
    c.type = "interrupted";
  } else if (record.exit_code == 0) {
    c.status = CheckStatus::kPassed;
  } else if (record.exit_code == 1) {
    c.status = CheckStatus::kFailed;
    c.type = "failed";
  } else {
    c.type = record.exit_code == 2   ? "inconclusive"
             : record.exit_code == 3 ? "void"
                                     : fmt::format("exit code {}", record.exit_code);
  }
  return c;
}

Case check_case(const Check& check) {
  return {"check", check.id, check.status, check_status_name(check.status), check.detail};
}

// The evidence in a sentence, for the message of the test case.
std::string test_detail(const TestRow& test) {
  std::string text = test.hypothesis;
  if (!test.reason.empty()) text += "; " + test.reason;
  text += fmt::format("; n = {}", test.n);
  if (test.statistic)
    text += fmt::format(", {} = {}", test.statistic_name, format_number(test.statistic));
  if (test.p_value) text += ", p = " + format_number(test.p_value);
  if (test.alpha) text += ", alpha = " + format_number(test.alpha);
  if (test.required_n) text += fmt::format(", needs n = {}", *test.required_n);
  return text;
}

Case test_case(const TestRow& test) {
  static const std::map<std::string, CheckStatus> kStatus = {
      {"PASS", CheckStatus::kPassed},    {"passed", CheckStatus::kPassed},
      {"FAIL", CheckStatus::kFailed},    {"failed", CheckStatus::kFailed},
      {"SKIP", CheckStatus::kSkipped},   {"skipped", CheckStatus::kSkipped},
      {"SKIPPED", CheckStatus::kSkipped}};
  const auto at = kStatus.find(test.verdict);
  const CheckStatus status = at == kStatus.end() ? CheckStatus::kInconclusive : at->second;
  return {"test", test.id, status, test.verdict.empty() ? "no verdict" : test.verdict,
          test_detail(test)};
}

std::vector<Case> cases_of(const Record& record) {
  std::vector<Case> cases{verdict_case(record)};
  for (const Check& check : record.checks) cases.push_back(check_case(check));
  for (const TestRow& test : record.tests) cases.push_back(test_case(test));
  std::map<std::pair<std::string, std::string>, int> n_seen;
  for (Case& c : cases) {
    if (const int n = ++n_seen[{c.kind, c.name}]; n > 1) c.name += fmt::format(" ({})", n);
  }
  return cases;
}

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, xml_escaped(value));
}

std::string case_xml(const Record& record, const Case& c) {
  std::string xml = "    <testcase" +
                    attribute("classname", fmt::format("specbench.{}.{}", record.suite, c.kind)) +
                    attribute("name", c.name);
  if (c.kind == "verdict" && record.wall_s && std::isfinite(*record.wall_s))
    xml += attribute("time", fmt::format("{:.3f}", *record.wall_s));
  if (c.status == CheckStatus::kPassed)
    return xml + ">\n      <system-out>" + xml_escaped(c.detail) +
           "</system-out>\n    </testcase>\n";
  if (c.status == CheckStatus::kSkipped)
    return xml + ">\n      <skipped" + attribute("message", c.detail) + "/>\n    </testcase>\n";
  const char* tag = c.status == CheckStatus::kFailed ? "failure" : "error";
  return xml + fmt::format(">\n      <{0}{1}{2}>{3}</{0}>\n    </testcase>\n", tag,
                           attribute("message", c.detail), attribute("type", c.type),
                           xml_escaped(c.type + ": " + c.detail));
}

std::string property(const std::string& name, const std::string& value) {
  return "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
}

std::string properties(const Record& record) {
  std::string xml = "    <properties>\n" + property("command_line", record.command_line);
  for (const auto& [name, value] : record.options)
    xml += property("options." + name, format_value(value));
  for (const auto& [name, value] : record.build)
    xml += property("build." + name, format_value(value));
  for (const Metric& m : record.metrics) {
    std::string text = format_number(m.value) + (m.unit == "1" ? "" : " " + m.unit);
    if (m.lower || m.upper)
      text += fmt::format(" ({}..{})", format_number(m.lower), format_number(m.upper));
    xml += property("metrics." + m.name, text);
  }
  return xml + "    </properties>\n";
}

}  // namespace

std::string to_junit(const Record& record) {
  const std::vector<Case> cases = cases_of(record);
  std::map<CheckStatus, int> count;
  for (const Case& c : cases) ++count[c.status];
  std::string counts = fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                                   cases.size(), count[CheckStatus::kFailed],
                                   count[CheckStatus::kInconclusive], count[CheckStatus::kSkipped]);
  if (record.wall_s && std::isfinite(*record.wall_s))
    counts += fmt::format(" time=\"{:.3f}\"", *record.wall_s);
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"specbench\"" +
                    counts + ">\n  <testsuite" + attribute("name", "specbench." + record.suite) +
                    counts;
  if (!record.started_utc.empty()) xml += attribute("timestamp", record.started_utc);
  xml += ">\n" + properties(record);
  for (const Case& c : cases) xml += case_xml(record, c);
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace specbench::results
