// Parts the report's sections are made of: escaping, typed access to tables, charts as JSON. Every
// string of a record passes through escape_html or a JSON string here. Not for use outside report*.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/record.h"

namespace specbench::results {

struct Page {
  std::string html;
  std::vector<std::string> charts;  // JSON objects, the n-th drawn into canvas "chart-n"
};

// & < > " ' as entities: safe as text and inside a quoted attribute.
std::string escape_html(std::string_view text);
// JSON that can stand inside a script element: no "<" remains, so neither </script> nor <!-- does.
std::string json_for_script(std::string_view json);
// An HTML comment that holds `text` and cannot be ended by it.
std::string html_comment(std::string_view text);

// "1.280 (95 %: 1.209 to 1.364)", "0.0021 (99.9 %: at most 0.0021)"; "-" for an absent value.
std::string estimate_text(const Metric& metric);
std::optional<double> metric_value(const Record& record, const std::string& name);

// A cell by row and column name; absent where the column is missing or the cell of another type.
struct TableView {
  const NamedTable* table = nullptr;

  std::size_t n_rows() const { return table == nullptr ? 0 : table->rows.size(); }
  const Value* cell(std::size_t row, std::string_view column) const;
  std::optional<double> number(std::size_t row, std::string_view column) const;  // finite
  std::optional<std::int64_t> whole(std::size_t row, std::string_view column) const;
  std::string text(std::size_t row, std::string_view column) const;  // "" if absent
};
TableView view_table(const Record& record, const std::string& name);

// <p> with escaped text.
std::string paragraph(std::string_view text);
// A word on a coloured ground; `tone` is "good", "bad", "doubt" or "plain".
std::string badge(std::string_view word, std::string_view tone);
// Cells are HTML already; a row's class may be "".
struct HtmlRow {
  std::string css_class;
  std::vector<std::string> cells;
};
std::string html_table(const std::vector<std::string>& titles, const std::vector<HtmlRow>& rows);
std::string html_table(const NamedTable& table);  // escapes its cells
std::string html_entries(const Entries& entries);
// A part that is folded away until asked for (opened for printing).
std::string folded(std::string_view title, const std::string& html);

using Points = std::vector<std::pair<double, double>>;

// One line or cloud of a plot. An empty label keeps it out of the legend.
struct PlotSeries {
  std::string label;
  const char* colour = "a";  // "a".."d", "grey"
  Points points;
  bool has_line = false;
  bool is_dashed = false;
  bool fills_to_next = false;    // the band between this series and the next
  int radius = 0;                // px, of the points
  const char* shape = "circle";  // or "rectRot", "triangle", "rect"
};

struct PlotAxis {
  std::string title;
  std::optional<double> min, max;
  std::vector<std::string> labels;  // for positions 0, 1, ...; the axis then runs over them alone
  bool is_whole = false;            // ticks at whole numbers only
};

struct Plot {
  std::string description;  // what a reader who cannot see it is told
  PlotAxis x, y;
  std::vector<PlotSeries> series;
  bool has_legend = true;
  int height = 280;  // px
};
void add_plot(Page& page, const Plot& plot);

// Horizontal bars, one a label; series stand on one another or side by side.
struct BarSeries {
  std::string label;
  const char* colour = "a";
  std::vector<double> values;  // [labels]
};
struct Bars {
  std::string description;
  std::string x_title;
  std::vector<std::string> labels;
  std::vector<BarSeries> series;
  bool is_stacked = false;
  int height = 220;  // px
};
void add_bars(Page& page, const Bars& bars);

}  // namespace specbench::results
