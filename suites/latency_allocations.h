// The timed loop must take nothing from the heap: an allocator's mood would be timed with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/record.h"
#include "suites/latency_subject.h"

namespace specbench::suites {

/// Heap allocations of the decoding loop in one more untimed pass: from the end of each sequence's
/// second round to the end of its last, so that room taken once does not count. Absent where they
/// cannot be counted.
std::optional<std::int64_t> count_allocations(Arm& arm, const Context& context);

/// Counters allocations.<arm>, exact ones, and the check counters.allocations: 0 in both arms.
/// Skipped where they cannot be counted, and where processors keep lists of their own.
std::vector<results::Check> check_allocations(const Context& context, Arm& autoregressive,
                                              Arm& speculative, results::Record& record);

}  // namespace specbench::suites
