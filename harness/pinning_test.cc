#include "harness/pinning.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <set>

namespace specbench::harness {
namespace {

std::vector<int> alone(int core) { return {core}; }
// Cores 0 and 4, 1 and 5, 2 and 6, 3 and 7 are two hardware threads each.
std::vector<int> in_pairs(int core) { return {core % 4, core % 4 + 4}; }

using Cores = std::vector<int>;

TEST(Pinning, BeginsWhereTheSchedulerIsAndGoesRound) {
  const Cores usable = {0, 1, 2, 3};
  EXPECT_EQ(choose_cores(usable, 2, 3, alone), (Cores{2, 3, 0}));
  EXPECT_EQ(choose_cores(usable, 0, 4, alone), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(choose_cores(usable, 9, 2, alone), (Cores{0, 1}));  // moved off by someone meanwhile
}

TEST(Pinning, TakesWholeCoresFirst) {
  const Cores usable = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(choose_cores(usable, 3, 4, in_pairs), (Cores{3, 4, 5, 6}));
  EXPECT_EQ(choose_cores(usable, 3, 6, in_pairs), (Cores{3, 4, 5, 6, 7, 0}));
  const Cores half = {0, 4, 5};
  EXPECT_EQ(choose_cores(half, 0, 2, in_pairs), (Cores{0, 5}));
}

TEST(Pinning, MoreThreadsThanCoresAreLeftAlone) {
  const Cores usable = {0, 1};
  EXPECT_TRUE(choose_cores(usable, 0, 3, alone).empty());
  EXPECT_TRUE(choose_cores(usable, 0, 0, alone).empty());
  EXPECT_TRUE(choose_cores({}, 0, 1, alone).empty());
}

TEST(Pinning, ReadsTheKernelsLists) {
  EXPECT_EQ(parse_core_list("0-2,5\n"), (Cores{0, 1, 2, 5}));
  EXPECT_EQ(parse_core_list("7"), (Cores{7}));
  EXPECT_EQ(parse_core_list("x,3"), (Cores{3}));
  EXPECT_TRUE(parse_core_list("").empty());
}

int n_usable() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

TEST(Pinning, EachThreadHasACoreOfItsOwnAndIsFreeAfterwards) {
  const int n_threads = std::min(2, n_usable());
  const int n_before = n_usable();
  {
    const PinnedThreads pinned(n_threads);
    if (pinned.cores().empty()) GTEST_SKIP() << "threads may not be pinned here";
    std::set<int> seen;
#pragma omp parallel num_threads(n_threads)
    {
      const int own = n_usable(), core = sched_getcpu();
#pragma omp critical
      {
        EXPECT_EQ(own, 1);
        seen.insert(core);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(n_threads));
    EXPECT_EQ(seen, std::set<int>(pinned.cores().begin(), pinned.cores().end()));
  }
#pragma omp parallel num_threads(n_threads)
  {
    const int own = n_usable();
#pragma omp critical
    EXPECT_EQ(own, n_before);
  }
}

TEST(Pinning, TooManyThreadsChangeNothing) {
  const int n_before = n_usable();
  const PinnedThreads pinned(n_before + 1);
  EXPECT_TRUE(pinned.cores().empty());
  EXPECT_EQ(n_usable(), n_before);
}

}  // namespace
}  // namespace specbench::harness
