// Counts what this thread takes from the heap, so that a loop that must not allocate can be held to
// it. Must not change what an allocation does.
#pragma once

#include <cstdint>
#include <optional>

namespace specbench::harness {

// Calls of operator new on this thread since it began. Absent under the sanitizers, which have
// operators of their own. A program that calls this gets counting operators in place of the default
// ones: one addition to a thread-local number each.
std::optional<std::int64_t> n_allocations();

}  // namespace specbench::harness
