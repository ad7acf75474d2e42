// A latency record as Google Benchmark's JSON, so that its compare.py reads two of them. A view for
// other people's tools: gates read the record itself.
#pragma once

#include <string>

#include "results/record.h"

namespace specbench::results {

// Two families an arm, in the order of their names: "<suite>/<arm>/decode" (first token to last)
// and
// "<suite>/<arm>/end_to_end"; names depend on nothing else. A repetition is a block of a process,
// by process and block; real_time is its ns a token: time over all cases divided by tokens over all
// cases (decode: without what each run had delivered at its first token); iterations are those
// tokens. After the repetitions stands their median. cpu_time repeats real_time (CPU time is not
// measured; the context says so). Warm-ups, arms without tokens and blocks that lack a case are
// left out. Throws std::invalid_argument where nothing is left.
std::string to_google_benchmark(const Record& record);

}  // namespace specbench::results
