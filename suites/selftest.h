// The selftest: proves that the lossless battery and the validity of a measurement can fail. Plants
// every known fault through the production path and demands that it is caught, and lets lossless
// controls live.
#pragma once

#include <cstdint>

#include "results/record.h"
#include "suites/context.h"
#include "suites/mutants.h"

namespace specbench::suites {

/// Runs the battery at probe size over every mutant and control, and a short measurement over the
/// mutants of timing. Writes the kill matrix (tables "mutants", "kill_matrix",
/// "kill_matrix_kinds", "mutants_waiting") and a check each. Exit codes in the record: 0 all
/// mutants were killed and all controls live, 1 otherwise.
void run_selftest(const Context& context, results::Record& record);

/// Does sampling alone, at n rounds of the mutant's narrow case, catch it? By any test of the case.
bool is_caught_by_sampling(const Mutant& mutant, std::int64_t n_rounds, std::uint64_t seed,
                           int n_threads);

}  // namespace specbench::suites
