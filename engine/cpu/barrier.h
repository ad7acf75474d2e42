// Where the threads of one step wait for each other. Unlike OpenMP's, which by default spins
// through a whole time slice, it soon gives its core away: on a machine that others use as well,
// the one who is waited for needs it. It never sleeps: with std::atomic's wait and notify (GCC 12)
// two threads were once found waiting for each other for ever.
#pragma once

#include <atomic>
#include <thread>

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
      return;
    }
    // Some 30 us: longer than threads of equal shares wait, shorter than a time slice.
    constexpr int kSpins = 2000;
    for (int i = 0; round_.load(std::memory_order_acquire) == round; ++i) {
      if (i < kSpins)
        pause();
      else
        std::this_thread::yield();
    }
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
