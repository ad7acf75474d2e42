#include "engine/cpu/barrier.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace specbench::engine {
namespace {

// Every thread adds once a round and must then see the whole round's sum; more threads than cores,
// so that waits are long as well as short. A lost wake-up hangs here, a thread let through early
// sees too little.
TEST(Barrier, NobodyPassesEarlyAndNobodyIsForgotten) {
  for (const int n_threads : {1, 2, 3, 7}) {
    const int n_rounds = 5'000 / (n_threads * n_threads);  // crowded rounds are slow ones
    Barrier barrier;
    std::atomic<int> sum{0};
    std::atomic<int> n_wrong{0};
    const auto work = [&] {
      for (int round = 1; round <= n_rounds; ++round) {
        sum.fetch_add(1, std::memory_order_relaxed);
        barrier.wait(n_threads);
        if (sum.load(std::memory_order_relaxed) != round * n_threads) n_wrong.fetch_add(1);
        barrier.wait(n_threads);
      }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; ++t) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(n_wrong, 0) << n_threads;
    EXPECT_EQ(sum, n_rounds * n_threads);
  }
}

}  // namespace
}  // namespace specbench::engine
