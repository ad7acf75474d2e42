// Takes the gate's looks one after another until one decides. Knows neither programs nor clocks: a
// scripted fake drives it in milliseconds.
#pragma once

#include <functional>

#include "ci/gate.h"

namespace specbench::ci {

// measure_until(n) measures until both sides have n processes and returns false where it was
// interrupted; it may stop early at a broken property. input() gives the records so far (its
// is_last_look is set here). The verdict of the look that decided; an interrupted one is VOID with
// was_interrupted set, unless what was measured already shows a broken property.
GateVerdict run_looks(const Policy& policy,
                      const std::function<bool(int n_processes)>& measure_until,
                      const std::function<GateInput()>& input);

}  // namespace specbench::ci
