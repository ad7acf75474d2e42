// For benchmarks that hold what they measure against what the machine can do at best, measured in
// turns with it.
#pragma once

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/ceiling.h"
#include "harness/streaming_read.h"

namespace specbench::suites {

inline constexpr std::size_t kFarFromCache = std::size_t{256} << 20;

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Others may use the machine as well.
inline double fastest_tenth(std::vector<double> times) {
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

/// Reads from memory, from another place each time.
class Reading {
 public:
  explicit Reading(int n_threads) : buffer_(kFarFromCache, n_threads) {}

  /// Seconds of reading n_bytes once, at least a page a thread and at most what lies in the buffer.
  double seconds_for(std::size_t n_bytes) {
    const std::size_t wanted = n_bytes / static_cast<std::size_t>(buffer_.n_threads());
    const std::size_t part =
        std::clamp(wanted, std::size_t{4096}, buffer_.part_bytes()) / 4096 * 4096;
    if (at_ + part > buffer_.part_bytes()) at_ = 0;
    std::uint64_t sum = 0;
    const double begin = seconds();
#pragma omp parallel num_threads(buffer_.n_threads()) reduction(^ : sum)
    sum ^= harness::read_stream(buffer_.part(omp_get_thread_num()) + at_ / 8, part, {1, 0});
    const double end = seconds();
    sum_ ^= sum;
    at_ += part;
    return (end - begin) * static_cast<double>(wanted) / static_cast<double>(part);
  }

 private:
  harness::SharedBuffer buffer_;
  std::size_t at_ = 0;
  std::uint64_t sum_ = 0;  // keeps what was read
};

/// Times run() and, in turns with it, the reading of as many bytes. Counters: GB/s and GFLOP/s
/// achieved by the fastest tenth, and their shares of the read bandwidth and of the multiply-add
/// peak. State: benchmark::State, of a benchmark with UseManualTime().
template <typename State, typename Run>
void beside_ceilings(State& state, int n_threads, double n_bytes, double n_operations,
                     const Run& run) {
  Reading reading(n_threads);
  const double peak = harness::multiply_add_peak(n_threads);
  std::vector<double> times, reads;
  for (auto _ : state) {
    const double begin = seconds();
    run();
    times.push_back(seconds() - begin);
    state.SetIterationTime(times.back());
    reads.push_back(reading.seconds_for(static_cast<std::size_t>(n_bytes)));
  }
  const double time = fastest_tenth(times);
  state.counters["GB/s"] = n_bytes / time * 1e-9;
  state.counters["of_read"] = fastest_tenth(reads) / time;
  state.counters["GFLOP/s"] = n_operations / time * 1e-9;
  state.counters["of_peak"] = n_operations / time / peak;
}

}  // namespace specbench::suites
