#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/stored_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

/// With memory of its own.
struct Packed : PackedMatrix {
  explicit Packed(std::vector<const Matrix*> parts, int n_threads = 2) : room(1 << 20) {
    static_cast<PackedMatrix&>(*this) = pack_stacked(parts, n_threads, room);
  }
  Packed(const Matrix& gate, const Matrix& up) : room(1 << 20) {
    static_cast<PackedMatrix&>(*this) = pack_gate_up(gate, up, 2, room);
  }
  PackedRoom room;
};

float float_at(const PackedMatrix& packed, int block, int input, int output) {
  return reinterpret_cast<const float*>(packed.block(block))[input * kBlock + output];
}
int byte_at(const std::byte* bytes, int at) { return std::to_integer<int>(bytes[at]); }
std::uint32_t word_at(const std::byte* bytes, int at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes + 4 * at, 4);
  return word;
}

TEST(Pack, StacksAndInterleavesWhereTheKernelsLook) {
  Numbers numbers(1);
  const Matrix a = testing::random_matrix(20, 3, 1.0, numbers);
  const Matrix b = testing::random_matrix(21, 3, 1.0, numbers);
  const std::vector<float> a_values = to_floats(a), b_values = to_floats(b);
  const Packed stacked({&a, &b});
  EXPECT_EQ(stacked.n_out, 41);
  EXPECT_EQ(stacked.n_blocks(), 2);
  EXPECT_EQ(float_at(stacked, 0, 2, 19), a_values[19 * 3 + 2]);
  EXPECT_EQ(float_at(stacked, 0, 1, 20), b_values[0 * 3 + 1]);
  EXPECT_EQ(float_at(stacked, 1, 0, 8), b_values[20 * 3 + 0]);
  EXPECT_EQ(float_at(stacked, 1, 0, 9), 0.0F);  // behind the last output
  const Packed pairs(b, b);
  EXPECT_EQ(pairs.n_blocks(), 2);
  EXPECT_EQ(float_at(pairs, 0, 1, 15), b_values[15 * 3 + 1]);
  EXPECT_EQ(float_at(pairs, 0, 1, 31), b_values[15 * 3 + 1]);
  EXPECT_EQ(float_at(pairs, 1, 1, 4), b_values[20 * 3 + 1]);
  EXPECT_EQ(float_at(pairs, 1, 1, 16 + 4), b_values[20 * 3 + 1]);
  EXPECT_EQ(float_at(pairs, 1, 1, 5), 0.0F);
}

TEST(Pack, GatesAndUpsOfTwoTypesBecomeFloats) {
  Numbers numbers(1);
  const Matrix gate = testing::stored_matrix(WeightType::kQ8_0, 18, 32, 1.0, numbers);
  const Matrix up = testing::stored_matrix(WeightType::kQ4_0, 18, 32, 1.0, numbers);
  const Packed pairs(gate, up);
  EXPECT_EQ(pairs.type, WeightType::kF32);
  EXPECT_EQ(float_at(pairs, 1, 9, 1), to_floats(gate)[17 * 32 + 9]);
  EXPECT_EQ(float_at(pairs, 1, 9, 17), to_floats(up)[17 * 32 + 9]);
}

// Bytes of one stored block of 32 outputs, the same for all but marked output 3.
Packed packed_block(WeightType type, const std::vector<int>& marked) {
  const auto n_bytes = static_cast<std::size_t>(block_shape(type).n_bytes);
  Matrix matrix{kBlock, block_shape(type).n_values, type, {}, {}, false};
  const auto bytes = std::make_shared<std::vector<std::byte>>(kBlock * n_bytes);
  for (std::size_t i = 0; i < marked.size(); ++i)
    (*bytes)[3 * n_bytes + i] = static_cast<std::byte>(marked[i]);
  matrix.data = {bytes, bytes->data()};
  return Packed({&matrix});
}

TEST(Pack, PairsOfBf16ShareAWord) {
  Numbers numbers(1);
  const Matrix m = testing::stored_matrix(WeightType::kBF16, 32, 5, 1.0, numbers);
  const Packed packed({&m});
  const std::uint32_t word = word_at(packed.block(0), 2 * 16 + 7);  // input 2, outputs 7 and 23
  EXPECT_EQ(std::bit_cast<float>(word << 16), to_floats(m)[7 * 5 + 2]);
  EXPECT_EQ(std::bit_cast<float>(word & 0xffff0000U), to_floats(m)[23 * 5 + 2]);
}

TEST(Pack, Q8_0PutsFourInputsInAWord) {
  std::vector<int> stored = {0x34, 0x12};
  for (int i = 0; i < 32; ++i) stored.push_back(i);
  const Packed packed = packed_block(WeightType::kQ8_0, stored);
  EXPECT_EQ(byte_at(packed.block(0), 2 * 3), 0x34);
  EXPECT_EQ(byte_at(packed.block(0), 2 * 3 + 1), 0x12);
  EXPECT_EQ(word_at(packed.block(0) + 64, 5 * 32 + 3), 0x97969594U);  // inputs 20 to 23, plus 128
}

TEST(Pack, Q4PutsEightInputsInAWord) {
  // Input i has quant i % 16 here: low nibbles 0 to 15, high ones 15 down to 0.
  std::vector<int> stored = {0x34, 0x12};
  for (int i = 0; i < 16; ++i) stored.push_back(i | (15 - i) << 4);
  const Packed packed = packed_block(WeightType::kQ4_0, stored);
  EXPECT_EQ(word_at(packed.block(0) + 64, 0 * 32 + 3), 0x76543210U);
  EXPECT_EQ(word_at(packed.block(0) + 64, 2 * 32 + 3), 0x89abcdefU);
  EXPECT_EQ(word_at(packed.block(0) + 64, 2 * 32 + 4), 0U);
}

TEST(Pack, TakesTheBytesOfTheStoredFormat) {
  for (const WeightType type : kAllWeightTypes) {
    const std::size_t stored = 64 * row_bytes(type, 512);
    const std::size_t packed = packed_bytes(type, 64, 512);
    EXPECT_GE(packed, stored) << weight_type_name(type);
    EXPECT_LE(static_cast<double>(packed), 1.03 * static_cast<double>(stored))
        << weight_type_name(type);
    EXPECT_EQ(packed % 64, 0U);
  }
}

TEST(Pack, IsTheSameOnAnyNumberOfThreads) {
  for (const WeightType type : kAllWeightTypes) {
    Numbers numbers(1);
    const Matrix m = testing::stored_matrix(type, 333, 256, 1.0, numbers);
    const Packed one({&m}, 1), three({&m}, 3);
    EXPECT_EQ(std::memcmp(one.data, three.data, one.n_bytes()), 0);
  }
}

}  // namespace
}  // namespace specbench::engine
