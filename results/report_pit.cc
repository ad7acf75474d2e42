// Does what was emitted follow the target: probability integral transforms, by class of outcome.
// They are uniform where decoding is lossless.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/report_sections.h"
#include "results/table.h"

namespace specbench::results {
namespace {

constexpr double kBandAlpha = 0.01;  // simultaneous over the curve, each stream alone

// One stream in bins: shares of the law and of the sample up to each edge. [bins + 1], 0 to 1.
struct PitStream {
  std::string order;
  std::string outcome;
  double n = 0;
  std::vector<double> law{0};
  std::vector<double> sample{0};
};

// Rows in the order of their bins; streams in the order they first appear.
std::vector<PitStream> read_streams(const Record& record) {
  std::vector<PitStream> streams;
  const TableView table = view_table(record, "pit");
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const auto count = table.number(i, "count");
    const auto expected = table.number(i, "expected");
    if (!count || !expected || *count < 0 || *expected < 0) continue;
    const std::string order = table.text(i, "order");
    const std::string outcome = table.text(i, "class");
    auto it = std::find_if(streams.begin(), streams.end(), [&](const PitStream& s) {
      return s.order == order && s.outcome == outcome;
    });
    if (it == streams.end()) it = streams.insert(it, {order, outcome});
    it->n += *count;
    it->law.push_back(it->law.back() + *expected);
    it->sample.push_back(it->sample.back() + *count);
  }
  std::erase_if(streams, [](const PitStream& s) { return s.n <= 0 || s.law.back() <= 0; });
  for (PitStream& s : streams) {
    const double total = s.law.back();
    for (double& x : s.law) x /= total;
    for (double& x : s.sample) x /= s.n;
  }
  return streams;
}

// The quantile of the sample at each edge of the law, linear within a bin.
Points quantiles(const PitStream& s) {
  Points points;
  std::size_t bin = 1;
  for (const double p : s.law) {
    while (bin + 1 < s.sample.size() && s.sample[bin] < p) ++bin;
    const double width = s.sample[bin] - s.sample[bin - 1];
    const double part = width > 0 ? std::clamp((p - s.sample[bin - 1]) / width, 0.0, 1.0) : 0;
    points.emplace_back(p, s.law[bin - 1] + part * (s.law[bin] - s.law[bin - 1]));
  }
  return points;
}

Points differences(const PitStream& s) {
  Points points;
  for (std::size_t i = 0; i < s.law.size(); ++i)
    points.emplace_back(s.law[i], s.sample[i] - s.law[i]);
  return points;
}

double dkw_width(double n) { return std::sqrt(std::log(2 / kBandAlpha) / (2 * n)); }

constexpr const char* kColours[] = {"a", "b", "c", "d"};

Plot ecdf_plot(const std::vector<const PitStream*>& streams, double band) {
  Plot plot;
  plot.description = "Empirical distribution minus the diagonal, with a DKW band";
  plot.x = {"PIT value", 0, 1, {}, false};
  plot.y.title = "ECDF minus diagonal";
  plot.series.push_back({"", "grey", {{0, -band}, {1, -band}}, true, true});
  plot.series.back().fills_to_next = true;
  plot.series.push_back({"", "grey", {{0, band}, {1, band}}, true, true});
  for (std::size_t i = 0; i < streams.size(); ++i)
    plot.series.push_back(
        {"order " + streams[i]->order, kColours[i % 4], differences(*streams[i]), true});
  return plot;
}

Plot qq_plot(const std::vector<const PitStream*>& streams) {
  Plot plot;
  plot.description = "Quantiles of the PIT values against those of the uniform law";
  plot.x = {"uniform quantile", 0, 1, {}, false};
  plot.y = {"sample quantile", 0, 1, {}, false};
  plot.series.push_back({"", "grey", {{0, 0}, {1, 1}}, true, true});
  for (std::size_t i = 0; i < streams.size(); ++i) {
    plot.series.push_back({"order " + streams[i]->order, kColours[i % 4], quantiles(*streams[i])});
    plot.series.back().radius = 2;
  }
  return plot;
}

}  // namespace

bool has_pit(const Record& record) { return !read_streams(record).empty(); }

void write_pit(const Record& record, Page& page) {
  const std::vector<PitStream> streams = read_streams(record);
  std::vector<std::string> outcomes;
  for (const PitStream& s : streams)
    if (std::find(outcomes.begin(), outcomes.end(), s.outcome) == outcomes.end())
      outcomes.push_back(s.outcome);
  for (const std::string& outcome : outcomes) {
    std::vector<const PitStream*> members;
    double n = 0;
    double worst = 0;
    for (const PitStream& s : streams) {
      if (s.outcome != outcome) continue;
      n = members.empty() ? s.n : std::min(n, s.n);
      members.push_back(&s);
      for (const auto& [x, y] : differences(s)) worst = std::max(worst, std::abs(y));
    }
    const double band = dkw_width(n);
    page.html += fmt::format("<h4>{}</h4>\n<div class=\"pair\"><div>", escape_html(outcome));
    add_plot(page, ecdf_plot(members, band));
    page.html += "</div><div>";
    add_plot(page, qq_plot(members));
    page.html += "</div></div>\n";
    page.html += paragraph(fmt::format(
        "{}: n = {}, largest distance {} {} the 99 % DKW band of {}.", outcome, format_number(n),
        format_number(worst, 3), worst > band ? "leaves" : "stays inside", format_number(band, 3)));
  }
}

}  // namespace specbench::results
