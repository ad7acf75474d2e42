// Rounding float32 to the two 16-bit floating formats: to nearest, ties to even. The way back is
// half.h.
#pragma once

#include <bit>
#include <cstdint>

namespace specbench::engine {

/// Infinite from halfway beyond the largest finite value on; NaN stays NaN.
inline std::uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// Infinite from 65520 on, halfway beyond the largest finite value; NaN stays NaN.
inline std::uint16_t to_f16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t narrow = 0;
  if (magnitude > 0x7f800000U) {
    narrow = 0x7e00U;
  } else if (magnitude >= std::bit_cast<std::uint32_t>(65520.0F)) {
    narrow = 0x7c00U;
  } else if (magnitude < std::bit_cast<std::uint32_t>(0x1p-14F)) {
    // A subnormal counts in units of 2^-24, which is the spacing of floats from .5 on: the sum
    // rounds as asked.
    narrow = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
             std::bit_cast<std::uint32_t>(0.5F);
  } else {
    const std::uint32_t rebiased = magnitude - (112U << 23);  // biases 127 and 15
    narrow = (rebiased + 0xfffU + ((rebiased >> 13) & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | narrow);
}

}  // namespace specbench::engine
