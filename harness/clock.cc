#include "harness/clock.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace specbench::harness {

std::int64_t SteadyClock::now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t FakeClock::now_ns() {
  if (on_read_) on_read_();
  if (!steps_ns_.empty())
    now_ns_ += steps_ns_[static_cast<std::size_t>(n_reads_) % steps_ns_.size()];
  ++n_reads_;
  return now_ns_;
}

ClockFacts measure_clock(Clock& clock) {
  constexpr int kReadings = 50'000;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t start = clock.now_ns();
  std::int64_t last = start;
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t now = clock.now_ns();
    if (now > last) smallest = std::min(smallest, now - last);
    last = now;
  }
  ClockFacts facts;
  facts.resolution_ns = last > start ? smallest : 0;
  facts.overhead_ns = static_cast<double>(last - start) / kReadings;
  return facts;
}

}  // namespace specbench::harness
