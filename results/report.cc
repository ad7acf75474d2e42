#include "results/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "results/report_assets.h"
#include "results/report_sections.h"
#include "results/table.h"

namespace specbench::results {
namespace {

bool always(const Record&) { return true; }

// The page's table of contents.
constexpr Section kSections[] = {
    {"verdict", "Verdict", "", "", always, write_verdict},
    {"speed", "Speed-up, prediction, roofline",
     "Measured speed-up with its interval, what acceptance and costs predict, and what reading "
     "memory at full bandwidth would allow.",
     "No speed-up here: run <code>specbench --suite latency</code>.", has_speedup, write_speedup},
    {"round", "Where a round's time goes", "Mean of one speculative round.",
     "No phase times here: run <code>specbench --suite latency</code>.", has_round_times,
     write_round_times},
    {"acceptance", "Acceptance by position",
     "Bands: exact 95 % intervals (Clopper-Pearson), each position alone.",
     "No acceptance here: run <code>specbench --suite latency</code> or <code>--suite "
     "acceptance</code>.",
     has_acceptance, write_acceptance},
    {"processes", "Process by process", "One point a process: the median over its blocks.",
     "No processes here: run <code>specbench --suite latency --processes 10</code>.", has_processes,
     write_processes},
    {"sweep", "Draft layers by draft tokens", "Speed-up of each setting with its interval.",
     "No sweep here: run <code>specbench --suite sweep</code>.", has_sweep, write_sweep},
    {"pit", "PIT values by class of outcome",
     "Uniform where the output follows the target. Left: distance from the diagonal with a 99 % "
     "band for the whole curve. Right: quantiles against quantiles.",
     "No PIT values here: run <code>specbench --suite lossless</code>.", has_pit, write_pit},
    {"gate", "Gate", "Each check of the gate, with its reason.",
     "No gate here: run <code>specbench gate --baseline A.json --candidate B.json</code>.",
     has_gate, write_gate},
    {"kills", "Kill matrix",
     "Each column is a planted fault, each dot a kind of test that saw it. A kind "
     "without a kill has not been shown able to fail.",
     "No mutants here: run <code>specbench --suite selftest</code>.", has_kill_matrix,
     write_kill_matrix},
    {"open", "Failed and inconclusive", "",
     "No tests or checks here: run <code>specbench --suite lossless</code>.", has_open_items,
     write_open_items},
    {"context", "Environment, options, build", "", "", always, write_context},
    {"repeat", "Commands to repeat it", "", "", always, write_commands},
};

std::string record_title(const std::vector<Record>& records, std::size_t i) {
  std::string title = fmt::format("{}. {}", i + 1, records[i].suite);
  for (const auto& [name, value] : records[i].model)
    if (name == "name") title += ", " + format_value(value);
  if (!records[i].started_utc.empty()) title += ", " + records[i].started_utc;
  return title;
}

void write_section(const Section& section, const std::vector<Record>& records, Page& page) {
  page.html += fmt::format("<section id=\"{}\"><h2>{}</h2>\n", section.id, section.title);
  bool has_any = false;
  const std::size_t n_open = page.html.size();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!section.has_data(records[i])) continue;
    has_any = true;
    if (records.size() > 1) page.html += "<h3>" + escape_html(record_title(records, i)) + "</h3>\n";
    section.write(records[i], page);
  }
  const std::string about = has_any ? section.explanation : section.missing;
  if (!about.empty())
    page.html.insert(n_open,
                     fmt::format("<p class=\"{}\">{}</p>\n", has_any ? "about" : "missing", about));
  page.html += "</section>\n";
}

// In lower case, as the parser of HTML compares.
void require_inlinable(const std::string& script) {
  if (script.empty())
    throw std::invalid_argument("chart_js is empty; give the text of chart.min.js");
  std::string lower = script;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* text : {"</script", "<script", "<!--"})
    if (lower.find(text) != std::string::npos)
      throw std::invalid_argument(fmt::format(
          "chart_js holds \"{}\" and cannot be inlined; give an unchanged chart.min.js", text));
}

std::string page_head(const ReportInput& input) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
         "<title>specbench report</title>\n<style>" +
         std::string(kReportStyle) + "</style>\n" +
         html_comment(input.chart_js_licence.empty() ? kChartLicence : input.chart_js_licence) +
         "</head>\n";
}

std::string navigation() {
  std::string out = "<nav>";
  for (const Section& section : kSections)
    out += fmt::format("<a href=\"#{}\">{}</a> ", section.id, section.title);
  return out + "</nav>\n";
}

}  // namespace

std::string render_html(const ReportInput& input) {
  if (input.records.empty())
    throw std::invalid_argument("a report needs a record; give at least one");
  require_inlinable(input.chart_js);
  Page page;
  page.html = page_head(input) + "<body>\n<h1>specbench report</h1>\n" +
              "<p id=\"errors\" role=\"alert\" hidden></p>\n<noscript><p>Charts need JavaScript; "
              "everything else is here.</p></noscript>\n" +
              navigation();
  for (const Section& section : kSections) write_section(section, input.records, page);
  page.html += "<script type=\"application/json\" id=\"report-data\">[";
  for (std::size_t i = 0; i < page.charts.size(); ++i)
    page.html += (i > 0 ? ",\n" : "\n") + json_for_script(page.charts[i]);
  page.html += "\n]</script>\n<script>" + input.chart_js + "</script>\n<script>" + kReportScript +
               "</script>\n</body></html>\n";
  return page.html;
}

}  // namespace specbench::results
