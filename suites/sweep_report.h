// What the sweep says of its grid: the table, the best cell and how little it may be believed. Pure
// functions of figures; measures nothing.
#pragma once

#include <optional>
#include <span>

#include "harness/measure.h"
#include "results/record.h"
#include "stats/interval.h"

namespace specbench::suites {

/// One exit layer and draft length.
struct SweepCell {
  int layers = 0;                          ///< k
  int draft_tokens = 0;                    ///< g
  std::optional<stats::Interval> speedup;  ///< decode only; absent: no token behind the first
  std::optional<double> predicted;         ///< E / (g c + v); absent: no step was timed
  double acceptance_length = 0;
};

/// Arm 0 and one other, numbered as the autoregressive and the speculative arm of a latency run.
harness::Series pair_of(const harness::Series& series, int arm);

/// Table "sweep", metrics best_layers, best_draft_tokens and best_speedup, and the verdict, which
/// warns that the best of many was picked by the data that measured it. Leaves the verdict empty
/// where no cell has a speed-up.
void report_sweep(std::span<const SweepCell> cells, results::Record& record);

}  // namespace specbench::suites
