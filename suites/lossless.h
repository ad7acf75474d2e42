// Is speculative decoding lossless? Narrow laws through the rule itself, equality where equality
// must hold, real generations against their own laws, and the state of every round; then one
// verdict with its power.
#pragma once

#include "engine/decode.h"
#include "results/record.h"
#include "stats/contract.h"
#include "suites/context.h"

namespace specbench::suites {

/// `steps` replaces parts of the engine's round: a test plants a fault with it. The product passes
/// the default.
void run_lossless(const Context& context, results::Record& record, const engine::Steps& steps = {});

/// Adds a test's row to the record.
void add_test(results::Record& record, const stats::TestResult& result);

}  // namespace specbench::suites
