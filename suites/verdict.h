// From findings to a verdict: one sentence that states what was proved and with what power, or what
// failed first, at what effect, and which known fault it looks like.
#pragma once

#include <string>

#include "results/record.h"
#include "suites/battery.h"
#include "suites/context.h"

namespace specbench::suites {

/// Sets record.verdict and record.exit_code, and the metrics certified_tv and min_detectable_tv.
/// "p > alpha" alone proves nothing: LOSSLESS needs every test to have met its contract and the
/// replay to bound the drift.
void decide_verdict(const Context& context, const BatteryResult& result, results::Record& record);

}  // namespace specbench::suites
