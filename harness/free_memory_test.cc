#include "harness/free_memory.h"

#include "harness/file_tree_test_support.h"

namespace specbench::harness {
namespace {

class FreeMemory : public testing::FileTree {};

TEST_F(FreeMemory, IsAbsentWhereNothingSaysIt) { EXPECT_FALSE(free_memory_bytes(root_)); }

TEST_F(FreeMemory, IsWhatTheSystemCallsAvailable) {
  write("proc/meminfo", "MemTotal: 16000 kB\nMemFree: 100 kB\nMemAvailable: 9000 kB\n");
  EXPECT_EQ(free_memory_bytes(root_), 9000 * 1024);
}

TEST_F(FreeMemory, AGroupLeavesItsLimitLessWhatIsInUse) {
  write("proc/meminfo", "MemAvailable: 9000 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "1\n");
  EXPECT_EQ(free_memory_bytes(root_), 9000 * 1024);
  write("sys/fs/cgroup/a/memory.max", "4000000\n");
  write("sys/fs/cgroup/a/memory.current", "3500000\n");
  EXPECT_EQ(free_memory_bytes(root_), 500'000);
  // Pages of files that were read once go before anything is swapped.
  write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1200000\nactive_file 7\n");
  EXPECT_EQ(free_memory_bytes(root_), 1'700'000);
  write("sys/fs/cgroup/a/memory.current", "4100000\n");
  write("sys/fs/cgroup/a/memory.stat", "inactive_file 0\n");
  EXPECT_EQ(free_memory_bytes(root_), 0);
}

TEST_F(FreeMemory, AGroupsLimitCountsWhereTheSystemIsSilent) {
  write("proc/self/cgroup", "4:memory:/x\n");
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4000000\n");
  write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000000\n");
  write("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1500000\n");
  EXPECT_EQ(free_memory_bytes(root_), 3'000'000);
}

}  // namespace
}  // namespace specbench::harness
