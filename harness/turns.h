// Two processes that measure in turn, run by run: what the machine does to one it does to the other
// a moment later, so that their ratio is free of its drift. Measures nothing itself.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/child.h"

namespace specbench::harness {

// For a process that was started by run_in_turns: says on `wait_file` that it is idle, and returns
// when it is its turn (a byte on `turn_file`). Before that it lets its worker threads fall asleep.
// Throws std::runtime_error where nobody is at the other end.
void take_turn(int wait_file, int turn_file);

// The words that start a process whose take_turn uses these two descriptors.
using TurnWords = std::function<std::vector<std::string>(int wait_file, int turn_file)>;

// Runs both to their end. Only one is let go at a time, from one take_turn to its next (or its
// end); in each pair of turns the order is drawn from `seed`. A process that has ended, or fails
// before its first turn, leaves all turns to the other. `timeout` and `stop` as in run_child.
std::array<ChildResult, 2> run_in_turns(const std::array<TurnWords, 2>& words, std::uint64_t seed,
                                        std::chrono::milliseconds timeout,
                                        const std::atomic<bool>& stop);

}  // namespace specbench::harness
