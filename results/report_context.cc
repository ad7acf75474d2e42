// Where the figures come from: machine, options, build, model, all metrics, the command.
#include <fmt/format.h>

#include "results/report_sections.h"
#include "results/table.h"

namespace specbench::results {
namespace {

std::string metrics_table(const Record& record) {
  std::vector<HtmlRow> rows;
  for (const Metric& m : record.metrics)
    rows.push_back({"",
                    {escape_html(m.name), escape_html(estimate_text(m)),
                     m.unit == "1" ? "" : escape_html(m.unit), escape_html(m.note)}});
  return html_table({"metric", "value", "unit", "note"}, rows);
}

std::string commit_of(const Record& record) {
  std::string commit;
  bool is_dirty = false;
  for (const auto& [name, value] : record.build) {
    if (name == "commit") commit = format_value(value);
    if (name == "is_dirty") is_dirty = value == Value{true};
  }
  return commit.empty() ? "" : commit + (is_dirty ? " with uncommitted changes" : "");
}

}  // namespace

void write_context(const Record& record, Page& page) {
  if (!record.started_utc.empty()) {
    const std::string wall =
        record.wall_s ? fmt::format(", took {} s", format_number(*record.wall_s, 3)) : "";
    page.html += paragraph(fmt::format("Started {}{}.", record.started_utc, wall));
  }
  page.html += "<div class=\"columns\">";
  const std::pair<const char*, const Entries*> parts[] = {{"Environment", &record.environment},
                                                          {"Options", &record.options},
                                                          {"Build", &record.build},
                                                          {"Model", &record.model}};
  for (const auto& [title, entries] : parts)
    if (!entries->empty())
      page.html += fmt::format("<div><h4>{}</h4>{}</div>\n", title, html_entries(*entries));
  page.html += "</div>\n";
  for (const std::string& note : record.notes) page.html += paragraph("Note: " + note);
  if (!record.metrics.empty())
    page.html +=
        folded(fmt::format("All metrics ({})", record.metrics.size()), metrics_table(record));
  if (!record.counters.empty()) {
    Entries counters;
    for (const auto& [name, count] : record.counters) counters.emplace_back(name, count);
    page.html += folded(fmt::format("All counters ({})", counters.size()), html_entries(counters));
  }
}

void write_commands(const Record& record, Page& page) {
  page.html += "<pre>" + escape_html(record.command_line) + "</pre>\n";
  if (const std::string commit = commit_of(record); !commit.empty())
    page.html += paragraph("At commit " + commit + ".");
}

}  // namespace specbench::results
