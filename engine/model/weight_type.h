// How weights are stored: plain floats of three widths, and ggml's blocks of small integers with
// their scales (https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h). What a stored
// weight stands for is defined here, once, and nowhere rounded twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace specbench::engine {

// Spelled as ggml does. NOLINTNEXTLINE(readability-identifier-naming)
enum class WeightType { kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ4_K, kQ5_K, kQ6_K };

inline constexpr WeightType kAllWeightTypes[] = {
    WeightType::kF32,  WeightType::kF16,  WeightType::kBF16, WeightType::kQ8_0,
    WeightType::kQ4_0, WeightType::kQ4_1, WeightType::kQ5_0, WeightType::kQ5_1,
    WeightType::kQ4_K, WeightType::kQ5_K, WeightType::kQ6_K};

/// As the formats spell it: "F32", "BF16", "Q4_K".
const char* weight_type_name(WeightType type);
std::optional<WeightType> weight_type_of(std::string_view name);

/// A row is a whole number of blocks, one behind the other along the inputs.
struct BlockShape {
  int n_values = 1;
  int n_bytes = 4;
};
BlockShape block_shape(WeightType type);

/// Bytes of a row of n_cols values; n_cols must be a multiple of the block.
std::size_t row_bytes(WeightType type, int n_cols);

/// The n values (whole blocks) that `row` stands for. Every product of scales and integers is exact
/// in float32 and a minimum is added with one rounding, so that any order of evaluation, with or
/// without fused operations, gives these bits. A scale that is not finite gives values that are
/// not.
void dequantize(WeightType type, const std::byte* row, std::size_t n, float* out);

}  // namespace specbench::engine
