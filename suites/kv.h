// Is the state right? Forces every accept count, stop and room through real decoding and compares
// lengths, contents and counters.
#pragma once

#include "engine/decode.h"
#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// `steps` replaces parts of the engine's round: a test plants a fault with it. The product passes
/// the default.
void run_kv(const Context& context, results::Record& record, const engine::Steps& steps = {});

}  // namespace specbench::suites
