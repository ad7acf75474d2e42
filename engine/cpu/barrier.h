// Where the threads of one step wait for each other. Unlike OpenMP's, which by default spins
// through a whole time slice, it soon goes to sleep: on a machine that others use as well, the one
// who is waited for needs the core.
#pragma once

#include <atomic>

namespace specbench::engine {

class Barrier {
 public:
  /// Returns when n_threads threads have called it. What they wrote before is visible to all behind
  /// it.
  void wait(int n_threads) {
    if (n_threads == 1) return;
    const unsigned round = round_.load(std::memory_order_acquire);
    if (n_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_threads) {
      n_arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    constexpr int kSpins =
        2000;  // some 30 us: longer than threads of equal shares wait, shorter than a time slice
    for (int i = 0; i < kSpins; ++i) {
      if (round_.load(std::memory_order_acquire) != round) return;
      pause();
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  alignas(64) std::atomic<int> n_arrived_{0};
  alignas(64) std::atomic<unsigned> round_{0};  ///< may wrap
};

}  // namespace specbench::engine
