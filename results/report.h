// One HTML file that shows what records say: opens offline, light and dark, printable. Must never
// trust a record: its strings are text, never markup or script. Computes nothing that a suite
// should have measured, only bands around counts.
#pragma once

#include <string>
#include <vector>

#include "results/record.h"

namespace specbench::results {

struct ReportInput {
  std::vector<Record> records;   // one or more, in the order to show them
  std::string chart_js;          // the text of Chart.js 3.9 (chart.min.js), inlined
  std::string chart_js_licence;  // its licence; empty: the MIT text that Chart.js 3.9 comes with
};

/// The page, UTF-8, without raw samples. Same input, same bytes. A topic no record has data for
/// becomes a sentence naming the suite to run. Throws std::invalid_argument, with one sentence, if
/// there is no record, or if chart_js is empty or holds text that would end or hide a script.
std::string render_html(const ReportInput& input);

}  // namespace specbench::results
