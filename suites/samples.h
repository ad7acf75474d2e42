// Raw samples into the record: whoever doubts a figure can make it again. Leaves out nothing.
#pragma once

#include "harness/measure.h"
#include "results/record.h"

namespace specbench::suites {

/// Appends every sample of the series, warm-ups too, and sets the record's phase names.
void save_samples(const harness::Series& series, int process, results::Record& record);

}  // namespace specbench::suites
