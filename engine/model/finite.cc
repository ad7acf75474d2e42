#include "engine/model/finite.h"

#include <cstdint>
#include <cstring>

namespace specbench::engine {

namespace {

constexpr std::uint16_t kF16Exponent = 0x7c00;
constexpr std::uint16_t kBF16Exponent = 0x7f80;
constexpr std::uint32_t kF32Exponent = 0x7f800000;

template <typename Bits>
Bits load(const std::byte* at) {
  Bits bits = 0;
  std::memcpy(&bits, at, sizeof(Bits));  // files align nothing
  return bits;
}

template <typename Bits>
bool is_bad(Bits bits, Bits exponent) {
  return (bits & exponent) == exponent;
}

/// Infinity has no bit below the exponent.
template <typename Bits>
bool is_nan(Bits bits, Bits exponent) {
  return (bits & (static_cast<Bits>(exponent & -exponent) - 1U)) != 0;
}

template <typename Bits>
std::optional<BadValue> first_bad_float(std::span<const std::byte> bytes, Bits exponent) {
  const std::byte* data = bytes.data();
  const std::size_t n = bytes.size() / sizeof(Bits);
  // Most files are good: one pass without a branch, which the compiler vectorises, and a second
  // one only to name the place.
  Bits any = 0;
  for (std::size_t i = 0; i < n; ++i)
    any = static_cast<Bits>(
        any | static_cast<Bits>(is_bad(load<Bits>(data + i * sizeof(Bits)), exponent)));
  if (any == 0) return std::nullopt;
  std::size_t i = 0;
  while (!is_bad(load<Bits>(data + i * sizeof(Bits)), exponent)) ++i;
  return BadValue{i, is_nan(load<Bits>(data + i * sizeof(Bits)), exponent)};
}

/// Where the 16-bit floats of a block lie, as weight_type.cc reads them; the same place twice where
/// there is one.
struct HalfPlaces {
  std::size_t first, second;
};
HalfPlaces half_places(WeightType type) {
  switch (type) {
    case WeightType::kQ4_1:
    case WeightType::kQ5_1:
    case WeightType::kQ4_K:
    case WeightType::kQ5_K:
      return {0, 2};
    case WeightType::kQ6_K:
      return {208, 208};
    default:
      return {0, 0};
  }
}

std::optional<BadValue> first_bad_block(WeightType type, std::span<const std::byte> bytes) {
  const BlockShape shape = block_shape(type);
  const HalfPlaces at = half_places(type);
  const auto stride = static_cast<std::size_t>(shape.n_bytes);
  const std::size_t n = bytes.size() / stride;
  const auto half = [&](std::size_t block, std::size_t place) {
    return load<std::uint16_t>(bytes.data() + block * stride + place);
  };
  unsigned any = 0;
  for (std::size_t i = 0; i < n; ++i)
    any |= static_cast<unsigned>(is_bad(half(i, at.first), kF16Exponent)) |
           static_cast<unsigned>(is_bad(half(i, at.second), kF16Exponent));
  if (any == 0) return std::nullopt;
  for (std::size_t i = 0;; ++i) {
    for (const std::size_t place : {at.first, at.second}) {
      const std::uint16_t bits = half(i, place);
      if (is_bad(bits, kF16Exponent))
        return BadValue{i * static_cast<std::size_t>(shape.n_values), is_nan(bits, kF16Exponent)};
    }
  }
}

}  // namespace

std::optional<BadValue> first_not_finite(WeightType type, std::span<const std::byte> bytes) {
  switch (type) {
    case WeightType::kF32:
      return first_bad_float<std::uint32_t>(bytes, kF32Exponent);
    case WeightType::kF16:
      return first_bad_float<std::uint16_t>(bytes, kF16Exponent);
    case WeightType::kBF16:
      return first_bad_float<std::uint16_t>(bytes, kBF16Exponent);
    default:
      return first_bad_block(type, bytes);
  }
}

}  // namespace specbench::engine
