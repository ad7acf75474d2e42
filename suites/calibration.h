// Judges the tests themselves: over many seeds of a decoder with nothing planted, p-values must not
// be smaller than they say, and whole runs must not fail.
#pragma once

#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

inline constexpr int kCalibrationSeeds = 2000;  ///< of the cheap tests, if the options name none
inline constexpr int kSeedsARun = 20;           ///< a whole small run for each so many of them

/// Every test of the narrow cases over options.seeds seeds, and the whole battery, at probe size
/// with both stages, over a twentieth of them. For each test: the share of p below .05, .01 and
/// .001 with Clopper-Pearson bounds, and the largest excess of the p-values' distribution over the
/// uniform one. Exit codes in the record: 0 calibrated, 1 a test promises more than it keeps or a
/// run failed.
void run_calibration(const Context& context, results::Record& record);

}  // namespace specbench::suites
