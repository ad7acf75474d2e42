#include "suites/latency_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/speculative.h"

namespace specbench::suites {

namespace {

struct Formula {
  const char* name;
  const char* expression;
  bool needs_reuse;
  double (*predict)(const FormulaInput&);
};

constexpr Formula kFormulas[] = {
    {"no_reuse", "(1-a^(g+1))/(1-a) / (1+gc)", false,
     [](const FormulaInput& f) { return stats::speedup_no_reuse(f.a, f.g, f.c); }},
    {"article_reuse", "(1-a^(g+1))/(1-a) / (1-c+gc)", true,
     [](const FormulaInput& f) { return stats::speedup_article_reuse(f.a, f.g, f.c); }},
    {"no_bonus", "(1-a^g)/(1-a) / (1-s+gc)", true,
     [](const FormulaInput& f) { return stats::speedup_no_bonus(f.a, f.g, f.c, f.shallow); }},
};

}  // namespace

results::NamedTable cost_model_table(const FormulaInput& input) {
  results::NamedTable table{
      "cost_model",
      {"formula", "predicted", "measured_over_predicted", "is_closest", "expression"},
      {}};
  std::size_t closest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const Formula& formula : kFormulas) {
    if (formula.needs_reuse && !input.is_reused) continue;  // the drafter reuses nothing
    const double predicted = formula.predict(input);
    const double distance = std::fabs(std::log(input.measured / predicted));
    if (distance < smallest) {
      smallest = distance;
      closest = table.rows.size();
    }
    table.rows.push_back({std::string(formula.name), predicted, input.measured / predicted, false,
                          std::string(formula.expression)});
  }
  table.rows[closest][3] = true;
  return table;
}

results::NamedTable article_table() {
  constexpr double kCost = 0.25;
  results::NamedTable table{"article_c_0.25", {"a"}, {}};
  for (int g = 1; g <= 8; ++g) table.columns.push_back(fmt::format("g{}", g));
  for (const double a : {0.5, 0.6, 0.7, 0.8, 0.9}) {
    std::vector<results::Value> row = {a};
    for (int g = 1; g <= 8; ++g) row.emplace_back(stats::speedup_article_reuse(a, g, kCost));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string article_rule(double a) {
  if (a < 0.6) return "article, a < .6: g 2-3";
  if (a >= 0.85) return "article, a = .9: g 4-6";
  return "article: a < .6 g 2-3, a = .9 g 4-6";
}

void report_formulas(const LatencyInput& input, const std::optional<Costs>& costs,
                     std::optional<double> measured, results::Record& record) {
  record.tables.push_back(article_table());
  record.notes.push_back(
      "Table article_c_0.25 is the article's own formula E/(1-c+gc) at c = .25, computed; it is "
      "one shallow "
      "pass short and not a measurement.");
  const double a = input.tally.acceptance_probability();
  const bool is_known = costs && costs->c && std::isfinite(a) && input.draft_tokens > 0;
  if (!is_known) {
    for (const char* name : {"best_draft_tokens", "best_draft_speedup"})
      record.metrics.push_back({name, {}, "1", {}, {}, {}, "nothing was drafted"});
    return;
  }
  const stats::DraftOptimum best = stats::best_draft_length(a, *costs->c, engine::kMaxDraft);
  record.metrics.push_back({"best_draft_tokens", best.g, "1", {}, {}, {}, article_rule(a)});
  record.metrics.push_back(
      {"best_draft_speedup", best.speedup, "ratio", {}, {}, {}, "E/(1+gc), measured a and c"});
  if (!measured) return;
  const double shallow = static_cast<double>(input.shape.layers) *
                         static_cast<double>(input.sizes.layer_bytes) /
                         static_cast<double>(input.sizes.step_bytes);
  record.tables.push_back(
      cost_model_table({a, input.draft_tokens, *costs->c, std::min(1.0, shallow),
                        input.shape.is_reused, *measured}));
}

}  // namespace specbench::suites
