#include "engine/model/weight_type.h"

#include <array>
#include <bit>
#include <cstring>

#include "engine/model/half.h"

namespace specbench::engine {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

namespace {

struct TypeInfo {
  WeightType type;
  const char* name;
  BlockShape shape;
};

constexpr TypeInfo kTypes[] = {
    {WeightType::kF32, "F32", {1, 4}},       {WeightType::kF16, "F16", {1, 2}},
    {WeightType::kBF16, "BF16", {1, 2}},     {WeightType::kQ8_0, "Q8_0", {32, 34}},
    {WeightType::kQ4_0, "Q4_0", {32, 18}},   {WeightType::kQ4_1, "Q4_1", {32, 20}},
    {WeightType::kQ5_0, "Q5_0", {32, 22}},   {WeightType::kQ5_1, "Q5_1", {32, 24}},
    {WeightType::kQ4_K, "Q4_K", {256, 144}}, {WeightType::kQ5_K, "Q5_K", {256, 176}},
    {WeightType::kQ6_K, "Q6_K", {256, 210}},
};

const TypeInfo& info(WeightType type) { return kTypes[static_cast<std::size_t>(type)]; }

float half_at(const std::uint8_t* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, 2);
  return f16_to_float(bits);
}

// 32 values: scale, then a signed byte each.
void block_q8_0(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<std::int8_t>(b[2 + i]));
}

// 32 values: scale, then 16 bytes: value i in the low half of byte i, value 16 + i in the high one.
void block_q4_0(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((b[2 + i] & 15) - 8);
    out[16 + i] = d * static_cast<float>((b[2 + i] >> 4) - 8);
  }
}

// The same with a minimum instead of the offset of 8.
void block_q4_1(const std::uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(b[4 + i] & 15) + m;
    out[16 + i] = d * static_cast<float>(b[4 + i] >> 4) + m;
  }
}

// Five bits: 4 bytes, bit i of them above value i, and 16 bytes as in Q4_0.
int five_bits(const std::uint8_t* b, int i) {
  const int four = i < 16 ? b[4 + i] & 15 : b[4 + i - 16] >> 4;
  return four | ((b[i / 8] >> (i % 8)) & 1) << 4;
}
void block_q5_0(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(five_bits(b + 2, i) - 16);
}
void block_q5_1(const std::uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(five_bits(b + 4, i)) + m;
}

// Scales and minima, 6 bits each, of the eight groups of 32 in a block of 256: 12 bytes.
struct SixBits {
  std::array<std::uint8_t, 8> scale, minimum;
};
SixBits unpack_six(const std::uint8_t* b) {
  SixBits s{};
  for (std::size_t j = 0; j < 4; ++j) {
    s.scale[j] = b[j] & 63;
    s.minimum[j] = b[j + 4] & 63;
    s.scale[j + 4] = static_cast<std::uint8_t>((b[j + 8] & 15) | ((b[j] >> 6) << 4));
    s.minimum[j + 4] = static_cast<std::uint8_t>((b[j + 8] >> 4) | ((b[j + 4] >> 6) << 4));
  }
  return s;
}

// 256 values: scale of scales, scale of minima, 12 bytes of both, then halves of 128 bytes: groups
// 2 c and 2 c + 1 in the low and high halves of bytes 32 c to 32 c + 31.
void block_q4_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  const SixBits s = unpack_six(b + 4);
  for (std::size_t group = 0; group < 8; ++group) {
    const float scale = d * static_cast<float>(s.scale[group]);
    const float minimum = dmin * static_cast<float>(s.minimum[group]);
    const std::uint8_t* q = b + 16 + group / 2 * 32;
    const int shift = group % 2 == 0 ? 0 : 4;
    for (std::size_t i = 0; i < 32; ++i)
      out[group * 32 + i] = scale * static_cast<float>((q[i] >> shift) & 15) - minimum;
  }
}

// The same with a fifth bit: bit `group` of byte i in 32 bytes before the halves.
void block_q5_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  const SixBits s = unpack_six(b + 4);
  const std::uint8_t* high = b + 16;
  for (std::size_t group = 0; group < 8; ++group) {
    const float scale = d * static_cast<float>(s.scale[group]);
    const float minimum = dmin * static_cast<float>(s.minimum[group]);
    const std::uint8_t* q = b + 48 + group / 2 * 32;
    const int shift = group % 2 == 0 ? 0 : 4;
    for (std::size_t i = 0; i < 32; ++i) {
      const int value = ((q[i] >> shift) & 15) | (((high[i] >> group) & 1) << 4);
      out[group * 32 + i] = scale * static_cast<float>(value) - minimum;
    }
  }
}

// 256 values in two parts of 128: four low bits (128 bytes), two high bits (64), 16 signed scales
// of 16 values each, scale of scales.
void block_q6_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b + 208);
  for (std::size_t part = 0; part < 2; ++part) {
    const std::uint8_t* low = b + part * 64;
    const std::uint8_t* high = b + 128 + part * 32;
    const std::uint8_t* scales = b + 192 + part * 8;
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t i = 0; i < 32; ++i) {
        const int four = (low[row % 2 * 32 + i] >> (row < 2 ? 0 : 4)) & 15;
        const int two = (high[i] >> (2 * row)) & 3;
        const float scale =
            d * static_cast<float>(static_cast<std::int8_t>(scales[row * 2 + i / 16]));
        out[part * 128 + row * 32 + i] = scale * static_cast<float>((four | (two << 4)) - 32);
      }
    }
  }
}

}  // namespace

const char* weight_type_name(WeightType type) { return info(type).name; }

std::optional<WeightType> weight_type_of(std::string_view name) {
  for (const TypeInfo& one : kTypes)
    if (one.name == name) return one.type;
  return std::nullopt;
}

BlockShape block_shape(WeightType type) { return info(type).shape; }

std::size_t row_bytes(WeightType type, int n_cols) {
  const BlockShape shape = block_shape(type);
  return static_cast<std::size_t>(n_cols) / static_cast<std::size_t>(shape.n_values) *
         static_cast<std::size_t>(shape.n_bytes);
}

void dequantize(WeightType type, const std::byte* row, std::size_t n, float* out) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
  const auto each_block = [&](auto block) {
    const BlockShape shape = block_shape(type);
    const auto n_values = static_cast<std::size_t>(shape.n_values);
    for (std::size_t i = 0; i < n / n_values; ++i)
      block(bytes + i * static_cast<std::size_t>(shape.n_bytes), out + i * n_values);
  };
  switch (type) {
    case WeightType::kF32:
      std::memcpy(out, bytes, n * sizeof(float));
      return;
    case WeightType::kF16:
      for (std::size_t i = 0; i < n; ++i) out[i] = half_at(bytes + 2 * i);
      return;
    case WeightType::kBF16:
      for (std::size_t i = 0; i < n; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes + 2 * i, 2);
        out[i] = bf16_to_float(bits);
      }
      return;
    case WeightType::kQ8_0:
      return each_block(block_q8_0);
    case WeightType::kQ4_0:
      return each_block(block_q4_0);
    case WeightType::kQ4_1:
      return each_block(block_q4_1);
    case WeightType::kQ5_0:
      return each_block(block_q5_0);
    case WeightType::kQ5_1:
      return each_block(block_q5_1);
    case WeightType::kQ4_K:
      return each_block(block_q4_k);
    case WeightType::kQ5_K:
      return each_block(block_q5_k);
    case WeightType::kQ6_K:
      return each_block(block_q6_k);
  }
}

}  // namespace specbench::engine
