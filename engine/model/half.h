// Exact widening of the two 16-bit floating formats.
#pragma once

#include <bit>
#include <cstdint>

namespace specbench::engine {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// IEEE 754 binary16. NaN payloads are kept.
inline float f16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    // A subnormal is fraction * 2^-24: both factors and the product are exact in float32.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 0x1fU ? 0xffU : exponent + 112;  // biases 15 and 127
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

}  // namespace specbench::engine
