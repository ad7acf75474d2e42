#include "results/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/table.h"

namespace specbench::results {
namespace {

using Json = nlohmann::ordered_json;

std::string replace_all(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what)) {
    out.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + what.size());
  }
  return out.append(text);
}

// Bytes that are not UTF-8 become U+FFFD; a number that is not finite becomes null.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_canvas(Page& page, const std::string& description, int height, const Json& chart) {
  page.html += fmt::format(
      "<div class=\"chart\" style=\"height:{}px\"><canvas id=\"chart-{}\" role=\"img\" "
      "aria-label=\"{}\"></canvas></div>\n",
      height, page.charts.size(), escape_html(description));
  page.charts.push_back(dump(chart));
}

Json axis_json(const PlotAxis& axis) {
  Json json = {{"title", axis.title}};
  if (axis.is_whole) json["whole"] = true;
  if (axis.min) json["min"] = *axis.min;
  if (axis.max) json["max"] = *axis.max;
  if (!axis.labels.empty()) json["labels"] = axis.labels;
  return json;
}

bool is_number(const Value& value) {
  return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_for_script(std::string_view json) { return replace_all(json, "<", "\\u003c"); }

std::string html_comment(std::string_view text) {
  // Twice: "---" leaves a pair behind the first time.
  const std::string once = replace_all(text, "--", "- -");
  return "<!--\n" + replace_all(once, "--", "- -") + "\n-->\n";
}

std::string estimate_text(const Metric& metric) {
  std::string text = format_number(metric.value);
  if (!metric.lower && !metric.upper) return text;
  const std::string level = metric.level ? fmt::format("{:g} %: ", *metric.level * 100) : "";
  const std::string bounds =
      !metric.lower   ? "at most " + format_number(metric.upper)
      : !metric.upper ? "at least " + format_number(metric.lower)
                      : format_number(metric.lower) + " to " + format_number(metric.upper);
  return fmt::format("{} ({}{})", text, level, bounds);
}

std::optional<double> metric_value(const Record& record, const std::string& name) {
  const Metric* metric = find_metric(record, name);
  if (metric == nullptr || !metric->value || !std::isfinite(*metric->value)) return {};
  return metric->value;
}

const Value* TableView::cell(std::size_t row, std::string_view column) const {
  if (row >= n_rows()) return nullptr;
  const auto at = std::find(table->columns.begin(), table->columns.end(), column);
  const auto c = static_cast<std::size_t>(at - table->columns.begin());
  return c < table->rows[row].size() && at != table->columns.end() ? &table->rows[row][c] : nullptr;
}

std::optional<double> TableView::number(std::size_t row, std::string_view column) const {
  const Value* value = cell(row, column);
  if (value == nullptr) return {};
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(value);
  return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

std::optional<std::int64_t> TableView::whole(std::size_t row, std::string_view column) const {
  const Value* value = cell(row, column);
  const auto* held = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return held == nullptr ? std::nullopt : std::optional(*held);
}

std::string TableView::text(std::size_t row, std::string_view column) const {
  const Value* value = cell(row, column);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return "";
  return format_value(*value);
}

TableView view_table(const Record& record, const std::string& name) {
  return {find_table(record, name)};
}

std::string paragraph(std::string_view text) { return "<p>" + escape_html(text) + "</p>\n"; }

std::string badge(std::string_view word, std::string_view tone) {
  return fmt::format("<span class=\"badge {}\">{}</span>", tone, escape_html(word));
}

std::string html_table(const std::vector<std::string>& titles, const std::vector<HtmlRow>& rows) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& title : titles) out += "<th>" + escape_html(title) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const HtmlRow& row : rows) {
    out += row.css_class.empty() ? "<tr>" : "<tr class=\"" + row.css_class + "\">";
    for (const std::string& cell : row.cells) out += "<td>" + cell + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html_table(const NamedTable& table) {
  std::vector<HtmlRow> rows;
  for (const auto& row : table.rows) {
    HtmlRow cells;
    for (const Value& value : row) {
      const std::string text = escape_html(format_value(value));
      cells.cells.push_back(is_number(value) ? "<span class=\"n\">" + text + "</span>" : text);
    }
    rows.push_back(std::move(cells));
  }
  return html_table(table.columns, rows);
}

std::string html_entries(const Entries& entries) {
  std::string out = "<dl>";
  for (const auto& [name, value] : entries)
    out += "<dt>" + escape_html(name) + "</dt><dd>" + escape_html(format_value(value)) + "</dd>\n";
  return out + "</dl>\n";
}

std::string folded(std::string_view title, const std::string& html) {
  return "<details><summary>" + escape_html(title) + "</summary>\n" + html + "</details>\n";
}

void add_plot(Page& page, const Plot& plot) {
  Json series = Json::array();
  for (const PlotSeries& s : plot.series) {
    Json points = Json::array();
    for (const auto& [x, y] : s.points) points.push_back({{"x", x}, {"y", y}});
    series.push_back({{"label", s.label},
                      {"colour", s.colour},
                      {"points", points},
                      {"line", s.has_line},
                      {"dashed", s.is_dashed},
                      {"fill", s.fills_to_next},
                      {"radius", s.radius},
                      {"shape", s.shape}});
  }
  add_canvas(page, plot.description, plot.height,
             {{"kind", "plot"},
              {"legend", plot.has_legend},
              {"x", axis_json(plot.x)},
              {"y", axis_json(plot.y)},
              {"series", series}});
}

void add_bars(Page& page, const Bars& bars) {
  Json series = Json::array();
  for (const BarSeries& s : bars.series)
    series.push_back({{"label", s.label}, {"colour", s.colour}, {"values", s.values}});
  add_canvas(page, bars.description, bars.height,
             {{"kind", "bars"},
              {"stacked", bars.is_stacked},
              {"x", {{"title", bars.x_title}}},
              {"labels", bars.labels},
              {"series", series}});
}

}  // namespace specbench::results
