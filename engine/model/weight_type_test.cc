#include "engine/model/weight_type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::vector<float> values_of(WeightType type, const std::string& blocks) {
  const BlockShape shape = block_shape(type);
  std::vector<float> values(blocks.size() / static_cast<std::size_t>(shape.n_bytes) *
                            static_cast<std::size_t>(shape.n_values));
  dequantize(type, reinterpret_cast<const std::byte*>(blocks.data()), values.size(), values.data());
  return values;
}

TEST(WeightType, NamesAndShapesAgree) {
  for (const WeightType type : kAllWeightTypes) {
    EXPECT_EQ(weight_type_of(weight_type_name(type)), type) << weight_type_name(type);
    const BlockShape shape = block_shape(type);
    EXPECT_EQ(row_bytes(type, 3 * shape.n_values), static_cast<std::size_t>(3 * shape.n_bytes));
  }
  EXPECT_FALSE(weight_type_of("Q2_K"));
  EXPECT_FALSE(weight_type_of("f32"));
  EXPECT_FALSE(weight_type_of(""));
}

// ci/oracles/quant_golden.py wrote the file with the format's own package.
TEST(WeightType, GivesTheBitsOfTheOracle) {
  std::istringstream lines(testing::slurp(std::filesystem::path(SPECBENCH_SOURCE_DIR) /
                                          "engine/model/golden/weight_types.txt"));
  std::set<WeightType> seen;
  std::string name, blocks, expected;
  while (lines >> name >> blocks >> expected) {
    const auto type = weight_type_of(name);
    ASSERT_TRUE(type) << name;
    seen.insert(*type);
    const std::vector<float> values = values_of(*type, from_hex(blocks));
    const std::string bits = from_hex(expected);
    ASSERT_EQ(values.size() * sizeof(float), bits.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      float wanted = 0;
      std::memcpy(&wanted, bits.data() + i * sizeof(float), sizeof(float));
      // The bits, so that the sign of a zero counts too.
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(wanted))
          << name << " value " << i << ": " << values[i] << ", the oracle has " << wanted;
    }
  }
  // Float32 needs no oracle.
  EXPECT_EQ(seen.size(), std::size(kAllWeightTypes) - 1);
}

TEST(WeightType, ReadsFloat32AsItIs) {
  const std::vector<float> values = {1.5F, -0.0F, 3e38F, 1e-45F};
  const std::string bytes(reinterpret_cast<const char*>(values.data()), 16);
  EXPECT_EQ(values_of(WeightType::kF32, bytes), values);
}

// Typed by hand: value i in the low half of byte i, value 16 + i in the high one.
TEST(WeightType, ReadsOneBlockTypedByHand) {
  std::string block = {'\x00', '\x3c'};  // scale 1
  for (int i = 0; i < 16; ++i) block += static_cast<char>(i | ((15 - i) << 4));
  const std::vector<float> values = values_of(WeightType::kQ4_0, block);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], static_cast<float>(i - 8));
    EXPECT_EQ(values[static_cast<std::size_t>(16 + i)], static_cast<float>(7 - i));
  }
}

TEST(WeightType, AScaleThatIsNotFiniteShows) {
  for (const WeightType type :
       {WeightType::kQ8_0, WeightType::kQ4_0, WeightType::kQ4_1, WeightType::kQ5_0,
        WeightType::kQ5_1, WeightType::kQ4_K, WeightType::kQ5_K, WeightType::kQ6_K}) {
    std::string block(static_cast<std::size_t>(block_shape(type).n_bytes), '\x55');
    const std::size_t scale = type == WeightType::kQ6_K ? 208 : 0;
    block[scale] = '\x00';
    block[scale + 1] = '\x7c';  // infinity
    for (const float value : values_of(type, block))
      ASSERT_FALSE(std::isfinite(value)) << weight_type_name(type);
  }
}

}  // namespace
}  // namespace specbench::engine
