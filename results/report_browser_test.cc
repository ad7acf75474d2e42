// The report in headless Chromium: are its charts drawn, at once and without an error?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "results/record_json.h"
#include "results/report.h"
#include "results/report_test_support.h"

namespace specbench::results {
namespace {

namespace fs = std::filesystem;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  pclose(pipe);
  return text;
}

// The value of data-<name> of the body; empty if it was never set.
std::string body_data(const std::string& dom, const std::string& name) {
  const std::string key = " data-" + name + "=\"";
  const std::size_t body = dom.find("<body");
  const std::size_t at = dom.substr(0, dom.find('>', body)).find(key, body);
  if (body == std::string::npos || at == std::string::npos) return "";
  const std::size_t from = at + key.size();
  return dom.substr(from, dom.find('"', from) - from);
}

class ReportInChromium : public testing::Test {
 protected:
  void SetUp() override {
    if (output_of("command -v chromium").empty())
      GTEST_SKIP() << "chromium is not installed: no chart was drawn";
    std::string pattern = (fs::temp_directory_path() / "specbench-report-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // The document after its scripts ran.
  std::string dom_of(const std::string& page) {
    const fs::path file = folder_ / "report.html";
    std::ofstream(file, std::ios::binary) << page;
    return output_of(
        "timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run "
        "--user-data-dir=" +
        (folder_ / "profile").string() + " --dump-dom file://" + file.string() + " 2>/dev/null");
  }

  fs::path folder_;
};

constexpr const char* kNoError = "<p id=\"errors\" role=\"alert\" hidden=\"\"></p>";

TEST_F(ReportInChromium, DrawsEveryChart) {
  std::vector<Record> records = every_record();
  records.push_back(
      from_json(read_text(std::string(SPECBENCH_SOURCE_DIR) + "/results/baselines/selftest.json")));
  const std::string page = render_html(report_of(records));
  const std::string dom = dom_of(page);
  // Speed-up, roofline, round, acceptance, two of processes, two for each of four classes.
  ASSERT_EQ(body_data(dom, "drawn"), "14");
  ASSERT_NE(dom.find(kNoError), std::string::npos);
  ASSERT_FALSE(body_data(dom, "ms").empty());
  RecordProperty("drawn_ms",
                 body_data(dom, "ms"));  // for the eye: a shared machine's time is no test
}

TEST_F(ReportInChromium, AnErrorIsSeen) {
  ReportInput input{
      {latency_record()}, "window.Chart = function () { throw Error('planted'); };", ""};
  const std::string dom = dom_of(render_html(input));
  EXPECT_EQ(body_data(dom, "drawn"), "0");
  EXPECT_EQ(dom.find(kNoError), std::string::npos);
  EXPECT_NE(dom.find("could not draw a chart: Error: planted"), std::string::npos);
}

TEST_F(ReportInChromium, AHostileRecordRunsNoScript) {
  const std::string hostile =
      "\"'></script><script>document.body.dataset.hacked=1</script><img src=x "
      "onerror=\"document.body.dataset.hacked=2\">";
  Record r = lossless_record();
  r.verdict = r.suite = r.command_line = hostile;
  for (auto& row : r.tables[0].rows) row[0] = row[1] = hostile;
  const std::string dom = dom_of(render_html(report_of({r})));
  EXPECT_EQ(body_data(dom, "drawn"), "2");
  EXPECT_EQ(body_data(dom, "hacked"), "");
  EXPECT_NE(dom.find(kNoError), std::string::npos);
}

}  // namespace
}  // namespace specbench::results
