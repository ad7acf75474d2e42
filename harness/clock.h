// Where time comes from: one virtual reading, so that a fake clock can prove the order of a
// measurement. Holds no policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace specbench::harness {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since an arbitrary origin; never goes back.
  virtual std::int64_t now_ns() = 0;
};

// std::chrono::steady_clock: monotonic, cannot be set.
class SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() override;
};

// For tests. Each reading first moves time on by the next step of the script (cyclic; no script: by
// nothing), then returns it. Subjects move it by `advance`. Never sleeps.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::vector<std::int64_t> steps_ns = {}) : steps_ns_(std::move(steps_ns)) {}
  std::int64_t now_ns() override;
  void advance(std::int64_t ns) { now_ns_ += ns; }
  std::int64_t time_ns() const { return now_ns_; }  // not a reading: nothing moves or is counted
  // Called at each reading, before time moves; lets a test log readings among other calls.
  void on_read(std::function<void()> callback) { on_read_ = std::move(callback); }
  std::int64_t n_reads() const { return n_reads_; }

 private:
  std::vector<std::int64_t> steps_ns_;
  std::function<void()> on_read_;
  std::int64_t now_ns_ = 0;
  std::int64_t n_reads_ = 0;
};

struct ClockFacts {
  std::int64_t resolution_ns =
      0;  // smallest step seen between two readings that differ; 0: the clock stood still
  double overhead_ns = 0;  // mean cost of one reading, taken with the clock itself
};

// About 50,000 readings (a few ms on a real clock). Returns also if the clock never moves.
ClockFacts measure_clock(Clock& clock);

}  // namespace specbench::harness
