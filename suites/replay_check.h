// Checks the second opinion itself: rounds typed by hand whose outcome was worked out on paper, so
// that a wrong oracle is caught even where the engine shares its mistake.
#pragma once

#include "results/record.h"
#include "suites/faults.h"

namespace specbench::suites {

/// "replay.oracle": the replay agrees with every typed round (token, block, one-hot, coupled rule)
/// and with none of them once a final id or a count of accepted drafts is changed.
results::Check check_oracle(OracleFault fault = OracleFault::kNone);

}  // namespace specbench::suites
