// Rows of random weights in every stored form: their spread, their mean, and what they depend on.
#include "engine/model/synthetic_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace specbench::engine {
namespace {

constexpr int kCols = 1024, kRows = 256;
std::vector<std::byte> bytes_of(WeightType type, double deviation, const RowKey& key) {
  std::vector<std::byte> bytes(row_bytes(type, kCols));
  fill_row(type, deviation, key, kCols, bytes.data());
  return bytes;
}

std::vector<float> values_of(WeightType type, double deviation, const RowKey& key) {
  const std::vector<std::byte> bytes = bytes_of(type, deviation, key);
  std::vector<float> values(kCols);
  dequantize(type, bytes.data(), values.size(), values.data());
  return values;
}

TEST(SyntheticRows, HaveMeanZeroAndTheDeviation) {
  for (const WeightType type : kAllWeightTypes) {
    double sum = 0.0, squares = 0.0, largest = 0.0, row_sums = 0.0;
    constexpr double kDeviation = 0.01;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      double row_sum = 0.0;
      for (const float value : values_of(type, kDeviation, {3, 5, row})) {
        row_sum += value;
        squares += static_cast<double>(value) * value;
        largest = std::fmax(largest, std::fabs(value));
      }
      sum += row_sum;
      row_sums += row_sum * row_sum;
    }
    constexpr double kN = static_cast<double>(kCols) * kRows;
    // 262,144 values: the mean's own deviation is 1/512 of a value's; scales correlate 256 of them.
    EXPECT_NEAR(sum / kN, 0.0, kDeviation * 5 / 512) << weight_type_name(type);
    EXPECT_NEAR(std::sqrt(squares / kN), kDeviation, 0.02 * kDeviation) << weight_type_name(type);
    EXPECT_LT(largest, 4 * kDeviation) << weight_type_name(type);
    // Sums of a row vary as those of independent values do: no row leans. Blocks of Q4_0 and Q6_K
    // lean by half a step, one way or the other.
    EXPECT_LT(std::sqrt(row_sums / kRows), 1.3 * kDeviation * std::sqrt(kCols))
        << weight_type_name(type);
  }
}

TEST(SyntheticRows, OfDeviationZeroAreZero) {
  for (const WeightType type : kAllWeightTypes)
    for (const float value : values_of(type, 0.0, {1, 2, 3}))
      ASSERT_EQ(value, 0.0F) << weight_type_name(type);
}

TEST(SyntheticRows, DependOnTheWholeKeyAndOnNothingElse) {
  for (const WeightType type : kAllWeightTypes) {
    const RowKey key{1, 2, 3};
    const auto bytes = bytes_of(type, 0.02, key);
    EXPECT_EQ(bytes, bytes_of(type, 0.02, key));
    for (const RowKey& other :
         {RowKey{2, 2, 3}, RowKey{1ULL << 40 | 1, 2, 3}, RowKey{1, 3, 3}, RowKey{1, 2, 4}})
      EXPECT_NE(bytes, bytes_of(type, 0.02, other)) << weight_type_name(type);
  }
}

// Values of one row that stand k apart are not related: counters do not repeat along a row.
TEST(SyntheticRows, DoNotRepeatAlongARow) {
  for (const WeightType type : kAllWeightTypes) {
    for (const int k : {1, 4, 8, 32, 256}) {
      double products = 0.0;
      int n = 0;
      for (std::uint32_t row = 0; row < 64; ++row) {
        const auto values = values_of(type, 1.0 / 64, {7, 0, row});
        for (std::size_t i = 0; i + static_cast<std::size_t>(k) < values.size(); ++i, ++n)
          products += 4096.0 * values[i] * values[i + static_cast<std::size_t>(k)];
      }
      // The deviation of a mean of about 60,000 products of independent values is 1/245; values of
      // one leaning block share the square of half a step, at most .012.
      EXPECT_NEAR(products / n, 0.0, 5.0 / 245 + 0.012) << weight_type_name(type) << ", " << k;
    }
  }
}

}  // namespace
}  // namespace specbench::engine
