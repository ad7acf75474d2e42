// Rounding to 16 bits, held against every value there is and every midpoint between two.
#include "engine/model/narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/model/half.h"

namespace specbench::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The number of finite magnitudes x with to(from(x)) != x, or whose midpoint to the next rounds to
/// the odd one, or whose neighbours of the midpoint to the wrong side; of both signs.
template <typename To, typename From>
int wrong_roundings(To to, From from, std::uint16_t infinite) {
  int n_wrong = 0;
  for (std::uint16_t bits = 0; bits < infinite; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const double low = from(bits);
    // One step beyond the largest finite value, where rounding is to infinity.
    const double high = next < infinite ? from(next) : 2 * low - from(bits - 1);
    const auto middle = static_cast<float>((low + high) / 2);
    const std::uint16_t even = bits % 2 == 0 ? bits : next;
    for (const bool is_negative : {false, true}) {
      const auto sign = static_cast<std::uint16_t>(is_negative ? 0x8000 : 0);
      const auto gives = [&](float x, int due) { return to(is_negative ? -x : x) == (due | sign); };
      n_wrong += !gives(static_cast<float>(low), bits) || !gives(middle, even) ||
                 !gives(std::nextafter(middle, 0.0F), bits) ||
                 !gives(std::nextafter(middle, kInfinity), next);
    }
  }
  return n_wrong;
}

TEST(Narrow, F16RoundsToNearestTiesToEven) {
  EXPECT_EQ(wrong_roundings(to_f16, f16_to_float, 0x7c00), 0);
}

TEST(Narrow, Bf16RoundsToNearestTiesToEven) {
  EXPECT_EQ(wrong_roundings(to_bf16, bf16_to_float, 0x7f80), 0);
}

TEST(Narrow, KnownValues) {
  EXPECT_EQ(to_f16(1.0F), 0x3c00);
  EXPECT_EQ(to_f16(-2.0F), 0xc000);
  EXPECT_EQ(to_f16(65504.0F), 0x7bff);
  EXPECT_EQ(to_f16(65519.0F), 0x7bff);
  EXPECT_EQ(to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(to_f16(0x1p-25F), 0x0000);  // half of the smallest: to even
  EXPECT_EQ(to_f16(0x1.8p-24F), 0x0002);
  EXPECT_EQ(to_bf16(1.0F), 0x3f80);
  EXPECT_EQ(to_bf16(0x1.01p0F), 0x3f80);  // halfway between 1 and 1 + 2^-7
  EXPECT_EQ(to_bf16(0x1.03p0F), 0x3f82);
}

TEST(Narrow, InfinityAndNanStay) {
  EXPECT_EQ(to_f16(kInfinity), 0x7c00);
  EXPECT_EQ(to_f16(-kInfinity), 0xfc00);
  EXPECT_EQ(to_bf16(-kInfinity), 0xff80);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(f16_to_float(to_f16(nan))));
  EXPECT_TRUE(std::isnan(bf16_to_float(to_bf16(nan))));
  const auto low_payload = std::bit_cast<float>(0x7f800001U);  // must not become infinity
  EXPECT_TRUE(std::isnan(bf16_to_float(to_bf16(low_payload))));
}

}  // namespace
}  // namespace specbench::engine
