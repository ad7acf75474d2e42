// How much faster is speculative decoding, and why? Arms interleaved in one process, tokens checked
// before they are timed.
#pragma once

#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

void run_latency(const Context& context, results::Record& record);

}  // namespace specbench::suites
