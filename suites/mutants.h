// The known faults of real engines, each a small planted one, as data: what it is, where it was
// seen, what must catch it and after how many draws. The selftest plants them one after another.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "suites/faults.h"
#include "suites/timing_faults.h"

namespace specbench::suites {

struct Mutant {
  const char* id;
  const char* fault;    ///< one sentence, as a verdict names it
  const char* seen_in;  ///< public issues
  const char* verifier;
  /// Kind of check that must catch it (kinds.h).
  const char* expected;
  /// Narrow case in which sampling alone catches it; empty: none does, or none need.
  const char* narrow_case;
  /// Rounds of that case after which it is caught with probability .99; 0: the first time it acts.
  std::int64_t predicted_n;
  Faults (*plant)();
  const char* waits_for = nullptr;  ///< the component that does not exist yet; then plant is null
  TimingFaults timing = {};  ///< of the measurement; decoding is then sound: plant gives no fault
};

std::span<const Mutant> mutants();

/// Null if there is none of that id.
const Mutant* find_mutant(std::string_view id);

}  // namespace specbench::suites
