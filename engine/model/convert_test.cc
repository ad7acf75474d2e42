// Conversion: exact where it should be, rounded as the formats say, refused where it cannot be
// done, and seen in name, hash and dtype.
#include "engine/model/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/model/half.h"
#include "engine/model/narrow.h"
#include "engine/model/synthetic.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::wrong_error;

/// One layer of 4 x 32 matrices, all of the same values.
Model model_of(std::vector<float> values) {
  values.resize(128, 0.25F);
  Model model;
  model.name = "m";
  model.weights_hash = 5;
  model.weights_dtype = "F32";
  LayerWeights layer;
  for (Matrix* matrix : {&layer.query, &layer.key, &layer.value, &layer.attention_out, &layer.gate,
                         &layer.up, &layer.down, &model.weights.embedding})
    *matrix = make_matrix(4, 32, values);
  model.weights.layers.push_back(layer);
  return model;
}

TEST(Convert, ToFloatIsExactAndCoversEveryMatrix) {
  Model model = make_synthetic("synthetic:tiny-q4_k");
  const Model stored = make_synthetic("synthetic:tiny-q4_k");
  convert(model, WeightType::kF32);
  EXPECT_EQ(model.name, stored.name + "@f32");
  EXPECT_EQ(model.weights_dtype, "F32");
  EXPECT_NE(model.weights_hash, stored.weights_hash);
  const auto same = [](const Matrix& a, const Matrix& b) {
    return a.type == WeightType::kF32 && b.type == WeightType::kQ4_K &&
           to_floats(a) == to_floats(b);
  };
  EXPECT_TRUE(same(model.weights.embedding, stored.weights.embedding));
  EXPECT_TRUE(same(model.weights.head, stored.weights.head));
  for (std::size_t i = 0; i < model.weights.layers.size(); ++i) {
    const LayerWeights &a = model.weights.layers[i], &b = stored.weights.layers[i];
    for (Matrix LayerWeights::*m : {&LayerWeights::query, &LayerWeights::key, &LayerWeights::value,
                                    &LayerWeights::attention_out, &LayerWeights::gate,
                                    &LayerWeights::up, &LayerWeights::down})
      EXPECT_TRUE(same(a.*m, b.*m));
    EXPECT_EQ(a.attention_norm, b.attention_norm);
  }
}

TEST(Convert, SixteenBitsAreRoundedToNearest) {
  for (const WeightType type : {WeightType::kF16, WeightType::kBF16}) {
    Model model = model_of({1.0F / 3, -1e-6F, 0x1.01p0F, 0.0F, -0.0F, 60000.0F});
    const std::vector<float> before = to_floats(model.weights.layers[0].up);
    convert(model, type);
    const std::vector<float> after = to_floats(model.weights.layers[0].up);
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(after[i], type == WeightType::kF16 ? f16_to_float(to_f16(before[i]))
                                                   : bf16_to_float(to_bf16(before[i])))
          << i;
  }
}

TEST(Convert, Q8BlocksAreThoseOfTheRule) {
  std::vector<float> values(32);
  std::iota(values.begin(), values.end(), -16.0F);  // largest 16: scale 16 / 127
  values[3] = 0.5F * 16 / 127;                      // half a step: away from zero
  values[4] = -0.5F * 16 / 127;
  Model model = model_of(values);
  convert(model, WeightType::kQ8_0);
  const Matrix& matrix = model.weights.layers[0].down;
  std::uint16_t scale = 0;
  std::memcpy(&scale, matrix.row(0), 2);
  EXPECT_EQ(scale, to_f16(16.0F / 127));
  const auto quant = [&](int i) { return static_cast<std::int8_t>(matrix.row(0)[2 + i]); };
  EXPECT_EQ(quant(0), -127);
  EXPECT_EQ(quant(3), 1);
  EXPECT_EQ(quant(4), -1);
  EXPECT_EQ(quant(16), 0);
  EXPECT_EQ(quant(31), 119);  // 15 x 127 / 16 = 119.06
}

TEST(Convert, Q8HoldsZeroAndVanishingBlocks) {
  std::vector<float> values(32, 0.0F);
  values.resize(64, 1e-42F);  // its scale is 0 in float16, its inverse would be infinite
  Model model = model_of(values);
  convert(model, WeightType::kQ8_0);
  const std::vector<float> after = to_floats(model.weights.layers[0].key);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(after[i], 0.0F);
  EXPECT_NEAR(after[64], 0.25F, 1e-4);
}

TEST(Convert, RowOrderIsFollowed) {
  Model model = model_of({});
  std::vector<float> values(128);
  std::iota(values.begin(), values.end(), 0.0F);
  Matrix& query = model.weights.layers[0].query;
  query = make_matrix(4, 32, values);
  query.row_order =
      std::make_shared<const std::vector<std::int32_t>>(std::vector<std::int32_t>{2, 0, 3, 1});
  const std::vector<float> before = to_floats(query);
  convert(model, WeightType::kBF16);
  EXPECT_EQ(to_floats(model.weights.layers[0].query), before);
}

TEST(Convert, ToTheStoredTypeChangesNothing) {
  Model model = model_of({});
  const std::byte* const data = model.weights.embedding.data.get();
  convert(model, WeightType::kF32);
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.weights_hash, 5U);
  EXPECT_EQ(model.weights.embedding.data.get(), data);
}

TEST(Convert, TypesHaveHashesOfTheirOwn) {
  Model half = model_of({}), brain = model_of({}), other = model_of({});
  other.weights_hash = 6;
  convert(half, WeightType::kF16);
  convert(brain, WeightType::kBF16);
  convert(other, WeightType::kF16);
  EXPECT_NE(half.weights_hash, brain.weights_hash);
  EXPECT_NE(half.weights_hash, other.weights_hash);
  EXPECT_EQ(brain.name, "m@bf16");
}

TEST(Convert, RefusesWhatItCannotDo) {
  const auto says = [](Model model, WeightType type, const char* fragment) {
    return wrong_error([&] { convert(model, type); }, fragment);
  };
  const auto deep = [] {
    Model model = model_of({});
    model.weights.layers[0].gate = make_matrix(1, 2, {1.0F, -65520.0F});
    return model;
  };
  EXPECT_EQ(says(model_of({70000.0F}), WeightType::kF16, "the embedding holds 70000"), "");
  EXPECT_EQ(says(deep(), WeightType::kF16, "the gate matrix of layer 0 holds -65520"), "");
  EXPECT_EQ(says(deep(), WeightType::kQ8_0, "layer 0 has rows of 2 values"), "");
  EXPECT_EQ(says(model_of({1e9F}), WeightType::kQ8_0, "a 127th of which, Q8_0's scale"), "");
  EXPECT_EQ(says(model_of({}), WeightType::kQ4_K, "cannot be converted to Q4_K"), "");
  EXPECT_EQ(says(model_of({3.4e38F}), WeightType::kBF16, "rounds to infinity in bfloat16"), "");
  Model large = model_of({65504.0F, -65519.0F});
  convert(large, WeightType::kF16);  // rounds to the largest
  EXPECT_EQ(to_floats(large.weights.embedding)[1], -65504.0F);
}

TEST(Convert, WhatDoesNotFitIsRefusedBeforeItIsTaken) {
  Model model = model_of({1.0F, 2.0F});
  constexpr std::size_t kBytes = 2 * 8 * 128 * 2;  // as float16, twice
  convert(model, WeightType::kF32, 1);             // nothing changes, nothing is taken
  EXPECT_EQ(
      wrong_error([&] { convert(model, WeightType::kF16, kBytes - 1); }, "needs 0.0 MB of memory"),
      "");
  EXPECT_EQ(model.weights_dtype, "F32");
  convert(model, WeightType::kF16, kBytes);
  EXPECT_EQ(model.weights_dtype, "F16");
}

}  // namespace
}  // namespace specbench::engine
