// What is accepted: by position in the draft, and speed-up over exit layer and draft length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "results/report_sections.h"
#include "results/table.h"
#include "stats/binomial.h"

namespace specbench::results {
namespace {

constexpr double kBandAlpha = 0.05;  // two-sided, each position alone

// A rate by position with its Clopper-Pearson band.
struct RateLine {
  Points value, lower, upper;

  void add(double position, std::int64_t k, std::int64_t n) {
    if (n < 1 || k < 0 || k > n) return;
    value.emplace_back(position, static_cast<double>(k) / static_cast<double>(n));
    lower.emplace_back(position, stats::clopper_pearson_lower(k, n, kBandAlpha / 2));
    upper.emplace_back(position, stats::clopper_pearson_upper(k, n, kBandAlpha / 2));
  }
};

void add_rate(const RateLine& line, const char* label, const char* colour, const char* shape,
              Plot& plot) {
  if (line.value.empty()) return;
  plot.series.push_back({"", colour, line.lower, true});
  plot.series.back().fills_to_next = true;
  plot.series.push_back({"", colour, line.upper, true});
  plot.series.push_back({label, colour, line.value, true});
  plot.series.back().radius = 5;
  plot.series.back().shape = shape;
}

// The number of rounds: counted, or else from accepted / joint.
std::optional<std::int64_t> round_count(const Record& record, const TableView& table,
                                        std::size_t row, std::int64_t accepted) {
  if (const std::int64_t* rounds = find_counter(record, "rounds")) return *rounds;
  const auto joint = table.number(row, "joint");
  if (!joint || *joint <= 0 || *joint > 1) return {};
  const double rounds = static_cast<double>(accepted) / *joint;
  return rounds < 1e15 ? std::optional(std::int64_t{std::llround(rounds)}) : std::nullopt;
}

struct SweepCell {
  double speedup = 0;
  std::string lower, upper, predicted, acceptance;
};
using SweepGrid = std::map<std::pair<std::int64_t, std::int64_t>, SweepCell>;  // (layers, tokens)

SweepGrid read_sweep(const Record& record) {
  SweepGrid grid;
  const TableView table = view_table(record, "sweep");
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const auto layers = table.whole(i, "layers");
    const auto tokens = table.whole(i, "draft_tokens");
    const auto speedup = table.number(i, "speedup");
    if (!layers || !tokens || !speedup) continue;
    const auto shown = [&](const char* column) {
      const auto value = table.number(i, column);
      return value ? fmt::format("{:.2f}", *value) : "-";
    };
    grid[{*layers, *tokens}] = {*speedup, shown("lower"), shown("upper"), shown("predicted"),
                                shown("acceptance_length")};
  }
  return grid;
}

// Green above 1, orange below; the depth by the distance from 1 within the grid, on a log scale.
std::string sweep_cell(const SweepCell& cell, double widest, bool is_best) {
  const double log_speedup = cell.speedup > 0 ? std::log(cell.speedup) : -widest;
  const double depth = widest > 0 ? std::min(1.0, std::abs(log_speedup) / widest) : 0;
  return fmt::format(
      "<td class=\"{}{}\" style=\"--depth:{:.2f}\"><b>{}</b>{}<small>{} to {}<br>predicted {}<br>"
      "length {}</small></td>",
      log_speedup >= 0 ? "gain" : "loss", is_best ? " best" : "", 0.08 + 0.47 * depth,
      fmt::format("{:.2f}", cell.speedup), is_best ? " <em>best</em>" : "", escape_html(cell.lower),
      escape_html(cell.upper), escape_html(cell.predicted), escape_html(cell.acceptance));
}

}  // namespace

bool has_acceptance(const Record& record) {
  return view_table(record, "acceptance_by_position").n_rows() > 0;
}

void write_acceptance(const Record& record, Page& page) {
  const TableView table = view_table(record, "acceptance_by_position");
  RateLine conditional;
  RateLine joint;
  double last = 1;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const auto position = table.number(i, "position");
    const auto accepted = table.whole(i, "accepted");
    if (!position || !accepted) continue;
    last = std::max(last, *position);
    conditional.add(*position, *accepted, table.whole(i, "judged").value_or(0));
    joint.add(*position, *accepted, round_count(record, table, i, *accepted).value_or(0));
  }
  Plot plot;
  plot.description = "Conditional and joint acceptance by position in the draft, with bands";
  plot.x = {"position in the draft", 0.5, last + 0.5, {}, true};
  plot.y = {"share accepted", 0, 1, {}, false};
  add_rate(conditional, "conditional (of those judged)", "a", "circle", plot);
  add_rate(joint, "joint (of all rounds)", "b", "rectRot", plot);
  add_plot(page, plot);
  if (const Metric* length = find_metric(record, "acceptance_length"))
    page.html += paragraph("acceptance_length " + estimate_text(*length) + " tokens a round.");
  page.html += folded("Values", html_table(*table.table));
}

bool has_sweep(const Record& record) { return !read_sweep(record).empty(); }

void write_sweep(const Record& record, Page& page) {
  const SweepGrid grid = read_sweep(record);
  std::set<std::int64_t> layers;
  std::set<std::int64_t> tokens;
  double widest = 0;
  auto best = grid.begin();
  for (auto it = grid.begin(); it != grid.end(); ++it) {
    layers.insert(it->first.first);
    tokens.insert(it->first.second);
    if (it->second.speedup > 0) widest = std::max(widest, std::abs(std::log(it->second.speedup)));
    if (it->second.speedup > best->second.speedup) best = it;
  }
  page.html +=
      "<div class=\"scroll\"><table class=\"heat\"><thead><tr><th>draft layers \\ draft "
      "tokens</th>";
  for (const std::int64_t g : tokens) page.html += fmt::format("<th>{}</th>", g);
  page.html += "</tr></thead><tbody>\n";
  for (const std::int64_t k : layers) {
    page.html += fmt::format("<tr><th>{}</th>", k);
    for (const std::int64_t g : tokens) {
      const auto it = grid.find({k, g});
      page.html += it == grid.end() ? "<td>-</td>" : sweep_cell(it->second, widest, it == best);
    }
    page.html += "</tr>\n";
  }
  page.html += "</tbody></table></div>\n";
  page.html += paragraph(fmt::format(
      "Best measured: {} draft layers, {} draft tokens, {} times as fast ({} to {}). The best of "
      "many is flattered by chance: measure that cell again alone.",
      best->first.first, best->first.second, format_number(best->second.speedup, 3),
      best->second.lower, best->second.upper));
}

}  // namespace specbench::results
