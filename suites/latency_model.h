// The published formulas beside the measurement: which one it follows, what draft length they
// advise, and the article's table.
#pragma once

#include <string>

#include "results/record.h"
#include "suites/latency_report.h"

namespace specbench::suites {

/// What the formulas of RULES.md section 5 ask for.
struct FormulaInput {
  double a = 0;        ///< acceptance probability, censored
  int g = 0;           ///< >= 1
  double c = 0;        ///< measured draft cost
  double shallow = 0;  ///< share of layers 1..k in the weights of a step, without the head
  bool is_reused = false;
  double measured = 0;  ///< speed-up, decode only
};

/// Table "cost_model": no_reuse, article_reuse, no_bonus; predicted, measured over predicted, and
/// which is closest.
results::NamedTable cost_model_table(const FormulaInput& input);

/// Table "article_c_0.25": E / (1 - c + g c), the article's own formula, over a and g.
results::NamedTable article_table();

/// The article's rule of thumb at this acceptance.
std::string article_rule(double a);

/// Metrics best_draft_tokens and best_draft_speedup with the article's rule beside them; the tables
/// above. Where nothing was drafted or judged the metrics are absent with that reason and only the
/// article's table remains.
void report_formulas(const LatencyInput& input, const std::optional<Costs>& costs,
                     std::optional<double> measured, results::Record& record);

}  // namespace specbench::suites
