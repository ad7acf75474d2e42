// The lossless suite: proves that speculative decoding emits the target's law, or shows where it
// does not, and says how small a drift it could have seen.
#pragma once

#include "results/record.h"
#include "stats/contract.h"
#include "suites/context.h"
#include "suites/faults.h"

namespace specbench::suites {

/// Runs the battery, decides and fills the record. `faults` plants a fault, for the tests of this
/// suite; where the options name a mutant, that one is planted. Exit codes in the record: 0 proved,
/// 1 refuted, 2 undecided. Throws engine::InputError for a mutant that does not exist.
void run_lossless(const Context& context, results::Record& record, const Faults& faults = {});

/// The faults a run has planted: those of the options' mutant, which the record then names, else
/// `faults`. Throws engine::InputError for a mutant that does not exist.
Faults planted_faults(const Context& context, const Faults& faults, results::Record& record);

/// A test as the record keeps it.
void add_test(results::Record& record, const stats::TestResult& result);

}  // namespace specbench::suites
