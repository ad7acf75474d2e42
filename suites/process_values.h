// What one process says of each ratio: the median over its blocks of the log ratio within a block,
// so that drift common to both arms cancels. Processes are the independent units of an interval.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/record.h"
#include "suites/latency_speed.h"

namespace specbench::suites {

/// Natural logarithms; absent where an arm did not run or did nothing.
struct ProcessValues {
  int process = 0;
  std::optional<double> log_speedup;      ///< autoregressive over speculative ns a token, decode
  std::optional<double> log_e2e_speedup;  ///< the same end to end
  std::optional<double> log_aa;           ///< twin over speculative
  std::optional<double> log_injected;     ///< injected over speculative
  /// speculative decode ns over those of the baseline process that this one took turns with
  std::optional<double> log_cost;
  int n_blocks = 0;
  double marked = 0;  ///< share of samples marked doubtful, 0..1
};

/// Arms are found by their names (latency_report.h). Only whole blocks count.
ProcessValues process_values(const Measured& measured, int process, double marked);

/// Median over runs of ln(candidate's decode ns a token / baseline's), each over the run of the
/// same arm (speculative or its twin), case and block that came just before or after it. Absent
/// where there is no such pair. Both records are of one process, measured in turn.
std::optional<double> paired_log_cost(const results::Record& baseline,
                                      const results::Record& candidate);

/// Writes log_cost into a record of one process.
void set_log_cost(double log_cost, results::Record& record);

/// Table "process_values", one row a process.
results::NamedTable process_table(std::span<const ProcessValues> values);

/// The rows of that table; empty where the record has none. Throws std::invalid_argument, naming
/// what is wrong, for a table of another shape.
std::vector<ProcessValues> read_process_table(const results::Record& record);

/// The values of one member that are there.
std::vector<double> present(std::span<const ProcessValues> values,
                            std::optional<double> ProcessValues::*member);

}  // namespace specbench::suites
