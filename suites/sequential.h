// The sequential mode of the lossless suite: one test that may be looked at every night. Its
// evidence is carried in a state file; it raises a false alarm with probability alpha over its
// whole life, however often it is looked at.
#pragma once

#include "results/record.h"
#include "suites/context.h"
#include "suites/faults.h"

namespace specbench::suites {

/// Takes up the state of options.state (a new one if the file does not exist), adds options.samples
/// verified draws with coins of their own, and saves it. Exit codes in the record: 1 once the
/// evidence against losslessness exceeds 1 / alpha (or an exact check fails), 0 once a drift of the
/// contract's size would have shown, else 2. Throws engine::InputError where the file is no such
/// state, belongs to another model or configuration or alpha, or cannot be written.
void run_sequential(const Context& context, results::Record& record, const Faults& faults = {});

}  // namespace specbench::suites
