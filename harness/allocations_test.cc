#include "harness/allocations.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace specbench::harness {
namespace {

TEST(Allocations, AreCountedOnTheirThread) {
  const auto before = n_allocations();
  if (!before) GTEST_SKIP() << "the sanitizers have operators of their own";
  std::vector<int> some(100);
  some.push_back(1);  // grows
  struct alignas(128) Wide {
    char bytes[128];
  };
  const std::vector<Wide> wide(3);
  EXPECT_EQ(*n_allocations() - *before, 3);
  const auto between = n_allocations();
  std::int64_t n_elsewhere = 0;
  std::thread other([&] {
    const std::vector<int> more(7);
    n_elsewhere = *n_allocations();
  });
  other.join();
  EXPECT_EQ(n_elsewhere, 1);
  EXPECT_LE(*n_allocations() - *between, 2);  // of starting the thread
}

TEST(Allocations, ALoopThatTakesNothingCountsNothing) {
  if (!n_allocations()) GTEST_SKIP() << "the sanitizers have operators of their own";
  std::vector<int> room;
  room.reserve(1000);
  const auto before = n_allocations();
  for (int i = 0; i < 1000; ++i) room.push_back(i);
  EXPECT_EQ(*n_allocations(), *before);
}

}  // namespace
}  // namespace specbench::harness
