// How fast: speed-up against prediction and memory floor, the parts of a round, the processes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/report_sections.h"
#include "results/table.h"

namespace specbench::results {
namespace {

// The least time a token takes if its bytes come at the measured bandwidth. GB/s = 1e6 bytes/ms.
std::optional<double> floor_ms(const Record& record, const std::string& arm) {
  const auto bytes = metric_value(record, "bytes_per_token." + arm);
  const auto bandwidth = metric_value(record, "read_bandwidth");
  if (!bytes || !bandwidth || *bandwidth <= 0) return {};
  return *bytes / (*bandwidth * 1e6);
}

std::optional<double> token_ms(const Record& record, const std::string& arm) {
  const auto rate = metric_value(record, "tokens_per_s." + arm);
  if (!rate || *rate <= 0) return {};
  return 1000 / *rate;
}

struct SpeedRow {
  std::string label;
  double value;
  std::optional<double> lower, upper;
  const char* colour;
  const char* shape;
};

std::vector<SpeedRow> speed_rows(const Record& record) {
  std::vector<SpeedRow> rows;
  const auto add = [&](const char* label, const char* name, const char* colour, const char* shape) {
    const Metric* metric = find_metric(record, name);
    if (metric_value(record, name))
      rows.push_back({label, *metric->value, metric->lower, metric->upper, colour, shape});
  };
  add("measured", "speedup", "a", "circle");
  add("end to end", "end_to_end_speedup", "a", "circle");
  add("predicted", "predicted_speedup", "b", "rectRot");
  const auto slow = floor_ms(record, "autoregressive");
  const auto fast = floor_ms(record, "speculative");
  if (slow && fast && *fast > 0) rows.push_back({"roofline", *slow / *fast, {}, {}, "c", "rect"});
  return rows;
}

void add_speed_plot(const Record& record, Page& page) {
  Plot plot;
  plot.description = "Speed-up: measured with interval, predicted, and at the memory roofline";
  plot.has_legend = false;
  plot.x.title = "times as fast as autoregressive decoding";
  const std::vector<SpeedRow> rows = speed_rows(record);
  plot.height = 90 + 40 * static_cast<int>(rows.size());
  const double bottom = static_cast<double>(rows.size()) - 0.5;
  plot.series.push_back({"no gain", "grey", {{1, -0.5}, {1, bottom}}, true, true});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto y = static_cast<double>(i);
    plot.y.labels.push_back(rows[i].label);
    plot.series.push_back({rows[i].label, rows[i].colour, {{rows[i].value, y}}});
    plot.series.back().radius = 7;
    plot.series.back().shape = rows[i].shape;
    if (!rows[i].lower || !rows[i].upper) continue;
    const Points ends = {{*rows[i].lower, y}, {*rows[i].upper, y}};
    plot.series.push_back({rows[i].label + " interval", rows[i].colour, ends, true});
  }
  add_plot(page, plot);
}

// Measured time per token beside the floor; only the arms that have both.
void add_roofline(const Record& record, Page& page) {
  Bars bars;
  bars.description = "Time per token beside the least time memory needs for it";
  bars.x_title = "ms per token, decode only";
  bars.series = {{"measured", "a", {}}, {"memory floor", "c", {}}};
  std::string text;
  for (const std::string arm : {"autoregressive", "speculative"}) {
    const auto measured = token_ms(record, arm);
    const auto floor = floor_ms(record, arm);
    if (!measured || !floor) continue;
    bars.labels.push_back(arm);
    bars.series[0].values.push_back(*measured);
    bars.series[1].values.push_back(*floor);
    text += paragraph(fmt::format(
        "{}: {} MB a token at {} GB/s take at least {} ms; measured {} ms, {} % of the roofline.",
        arm, format_number(*metric_value(record, "bytes_per_token." + arm) / 1e6, 3),
        format_number(*metric_value(record, "read_bandwidth"), 3), format_number(*floor, 3),
        format_number(*measured, 3), format_number(std::round(100 * *floor / *measured))));
  }
  if (bars.labels.empty()) {
    page.html += paragraph(
        "No roofline: the record lacks tokens_per_s, bytes_per_token or read_bandwidth, which the "
        "latency suite measures.");
    return;
  }
  add_bars(page, bars);
  page.html += text;
  if (const auto share = metric_value(record, "bandwidth_share"))
    page.html += paragraph(fmt::format(
        "bandwidth_share {}: {}", format_number(*share, 3),
        *share >= 0.7 ? "memory sets the pace, so speed-up comes from reading fewer bytes a token."
                      : "memory is not the only limit; computing and overhead take the rest."));
}

double percent(double log_ratio) { return 100 * std::expm1(log_ratio); }

PlotSeries process_series(const TableView& table, const char* column, const char* label,
                          const char* colour, double (*scale)(double)) {
  PlotSeries series;
  series.label = label;
  series.colour = colour;
  series.radius = 5;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const auto value = table.number(i, column);
    if (value)
      series.points.emplace_back(table.number(i, "process").value_or(double(i)), scale(*value));
  }
  return series;
}

// A band at the metric's interval and a dashed line at its value, across all processes.
void add_interval_band(const Metric* metric, double last, const char* colour,
                       double (*scale)(double), Plot& plot) {
  if (metric == nullptr || !metric->lower || !metric->upper) return;
  const auto level = [&](double y) { return Points{{-0.5, scale(y)}, {last + 0.5, scale(y)}}; };
  plot.series.push_back({"", colour, level(*metric->lower), true});
  plot.series.back().fills_to_next = true;
  plot.series.push_back({"", colour, level(*metric->upper), true});
}

double identity(double x) { return x; }
double ratio_percent(double ratio) { return 100 * (ratio - 1); }

}  // namespace

bool has_speedup(const Record& record) { return metric_value(record, "speedup").has_value(); }

void write_speedup(const Record& record, Page& page) {
  const Metric& speedup = *find_metric(record, "speedup");
  std::string text = "Measured " + estimate_text(speedup);
  if (!speedup.note.empty()) text += ", " + speedup.note;
  if (const auto predicted = metric_value(record, "predicted_speedup"))
    text += fmt::format("; predicted {}", format_number(*predicted));
  if (const auto gap = metric_value(record, "model_gap"))
    text += fmt::format(", measured over predicted {}", format_number(*gap));
  page.html += paragraph(text + ".");
  page.html += "<div class=\"pair\"><div>";
  add_speed_plot(record, page);
  page.html += "</div><div>";
  add_roofline(record, page);
  page.html += "</div></div>\n";
}

bool has_round_times(const Record& record) {
  return metric_value(record, "draft_ms") && metric_value(record, "verify_ms");
}

void write_round_times(const Record& record, Page& page) {
  Bars bars;
  bars.description = "Parts of one speculative round beside one autoregressive step";
  bars.x_title = "ms";
  bars.is_stacked = true;
  const auto step = metric_value(record, "autoregressive_step_ms");
  bars.labels = {"speculative round"};
  if (step) bars.labels.emplace_back("autoregressive step");
  const std::pair<const char*, const char*> parts[] = {
      {"draft", "a"}, {"verify", "b"}, {"accept", "c"}, {"other", "grey"}};
  double sum = 0;
  for (const auto& [name, colour] : parts) {
    const double value = metric_value(record, std::string(name) + "_ms").value_or(0);
    sum += value;
    bars.series.push_back(
        {fmt::format("{} {} ms", name, format_number(value, 3)), colour, {value}});
    if (step) bars.series.back().values.push_back(0);
  }
  if (step)
    bars.series.push_back({fmt::format("step {} ms", format_number(*step, 3)), "d", {0, *step}});
  bars.height = step ? 240 : 180;
  add_bars(page, bars);
  const auto length = metric_value(record, "acceptance_length");
  if (length && *length > 0)
    page.html += paragraph(fmt::format("A round takes {} ms and emits {} tokens: {} ms a token.",
                                       format_number(sum, 3), format_number(*length, 3),
                                       format_number(sum / *length, 3)));
}

bool has_processes(const Record& record) {
  return view_table(record, "process_values").n_rows() > 0;
}

void write_processes(const Record& record, Page& page) {
  const TableView table = view_table(record, "process_values");
  double last = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i)
    last = std::max(last, table.number(i, "process").value_or(double(i)));
  const auto plot_of = [&](const char* y_title, const char* description) {
    Plot plot;
    plot.description = description;
    plot.x = {"process", -0.5, last + 0.5, {}, true};
    plot.y.title = y_title;
    return plot;
  };
  page.html += "<div class=\"pair\"><div>";
  Plot speed = plot_of("speed-up", "Speed-up of each process with the interval over processes");
  add_interval_band(find_metric(record, "speedup"), last, "a", identity, speed);
  speed.series.push_back(process_series(table, "log_speedup", "decode", "a", std::exp));
  speed.series.push_back(process_series(table, "log_e2e_speedup", "end to end", "d", std::exp));
  speed.series.back().shape = "triangle";
  add_plot(page, speed);
  page.html += "</div><div>";
  Plot twins = plot_of("% slower than speculative", "A/A twin and injected arm of each process");
  add_interval_band(find_metric(record, "aa_ratio"), last, "c", ratio_percent, twins);
  twins.series.push_back(process_series(table, "log_aa", "A/A twin", "c", percent));
  twins.series.push_back(process_series(table, "log_injected", "5 % injected", "b", percent));
  twins.series.back().shape = "rectRot";
  twins.series.push_back({"", "grey", {{-0.5, 0}, {last + 0.5, 0}}, true, true});
  add_plot(page, twins);
  page.html += "</div></div>\n";
  page.html += paragraph(
      "Bands: the interval over processes of speedup and of aa_ratio. A sound run has the A/A twin "
      "around 0 and the injected arm clear above it.");
  page.html += folded("Values", html_table(*table.table));
}

}  // namespace specbench::results
