// What a run has planted in it: nothing, or one known fault of the selftest.
#pragma once

#include "engine/steps.h"

namespace specbench::suites {

/// A fault of the second opinion itself (replay.h): the checks must not trust it blindly.
enum class OracleFault { kNone, kResidualIsTarget };

struct Faults {
  engine::Steps steps;                              ///< of the engine
  int (*n_visible)(int pos, int n_held) = nullptr;  ///< of the backend: BackendOptions::n_visible
  OracleFault oracle = OracleFault::kNone;
};

}  // namespace specbench::suites
