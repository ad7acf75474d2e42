#include "harness/ceiling.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace specbench::harness {
namespace {

// Bounds are those of any machine this century; the point is that units and counts are right.
TEST(Ceiling, BandwidthIsPlausibleAndCachesAreFaster) {
  const double cached = read_bandwidth(256 << 10, 1);
  EXPECT_GT(cached, 2e9);
  EXPECT_LT(cached, 2e12);
  const double memory = read_bandwidth(std::size_t{256} << 20, 1);
  EXPECT_GT(memory, 2e8);
  // 256 KiB lie in the L2 of every x86 server part; .8 leaves room for work beside the test.
  EXPECT_GT(cached, 0.8 * memory);
}

TEST(Ceiling, MultiplyAddPeakIsPlausible) {
  const double peak = multiply_add_peak(1);
  EXPECT_GT(peak, 1e9);   // one operation a cycle at 1 GHz
  EXPECT_LT(peak, 1e12);  // 64 a cycle at 8 GHz are .5e12
}

TEST(Ceiling, BadRequestsAreRefused) {
  EXPECT_THROW(read_bandwidth(1 << 20, 0), std::invalid_argument);
  EXPECT_THROW(read_bandwidth(4096, 2), std::invalid_argument);
  EXPECT_THROW(multiply_add_peak(-1), std::invalid_argument);
}

TEST(Ceiling, NamesItsTarget) { EXPECT_FALSE(ceiling_simd_target().empty()); }

}  // namespace
}  // namespace specbench::harness
