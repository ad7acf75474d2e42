// The law of a row by definition: processors, then filters, in extended precision, by sorting and
// dividing. Slow and plain; shares no arithmetic with the engine. What it must agree with is
// engine::law_of_row.
#pragma once

#include <span>
#include <vector>

#include "engine/processors.h"
#include "engine/sampling.h"

namespace specbench::suites {

/// Probability of each id. Logits are finite or -inf, one at least finite after the processors.
std::vector<double> oracle_law(std::span<const float> logits, const engine::SamplingParams& params,
                               const engine::RowPast& past);

/// Inverse CDF by running sums in extended precision.
engine::TokenId oracle_draw(std::span<const double> probs, double u);

}  // namespace specbench::suites
