// Weights are run in the types they are stored in. Every one stands for one float32, so that the
// results must be, bit for bit, those of the same weights given as float32, one row at a time on
// one thread: for every type, shape, number of rows and of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/cpu/backend_test_support.h"
#include "engine/cpu/head_product_test_support.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/stored_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr int kMostRows = 64;

std::vector<std::pair<int, int>> shapes_of(WeightType type) {
  const int block = block_shape(type).n_values;
  if (block == 1) return {{33, 17}, {70, 257}, {1, 1}, {129, 300}};
  if (block == 32) return {{33, 32}, {70, 160}, {1, 96}, {129, 288}};
  return {{33, 256}, {70, 512}, {129, 768}};
}

class StoredWeights : public ::testing::TestWithParam<WeightType> {};
class StoredWeightsSlow : public ::testing::TestWithParam<WeightType> {};

TEST_P(StoredWeights, ProductsHaveTheBitsOfFloats) {
  for (const auto& [n_out, n_in] : shapes_of(GetParam())) {
    Numbers numbers(7);
    const Matrix stored = testing::stored_matrix(GetParam(), n_out, n_in, 1.0, numbers);
    testing::HeadProduct product(stored, kMostRows);
    testing::HeadProduct floats(testing::as_floats(stored), kMostRows);
    testing::on_every_target([&, n_out = n_out, n_in = n_in](bool) {
      std::vector<float> want;
      for (int r = 0; r < kMostRows; ++r) {
        const auto one = floats.run(1, 1, r);
        want.insert(want.end(), one.begin(), one.end());
      }
      for (int n_rows = 1; n_rows <= kMostRows; ++n_rows) {
        const auto got = product.run(n_rows, 1 + n_rows % 3);
        ASSERT_TRUE(std::equal(got.begin(), got.end(), want.begin()))
            << vector_target() << ", " << n_out << "x" << n_in << ", " << n_rows << " rows";
      }
    });
  }
}

void expect_bits_of_floats(const Model& model, const std::string& what) {
  const auto floats = testing::as_floats(model);
  const auto tokens = testing::random_tokens(kMostRows, model.config, 3);
  testing::on_every_target([&](bool is_default) {
    const auto plain = make_backend("cpu", *floats, testing::backend_options(1, 1));
    const auto want = testing::logits_row_by_row(*plain, 0, tokens);
    for (const int n_threads : is_default ? std::vector{1, 2, 3} : std::vector{2}) {
      const auto backend = make_backend("cpu", model, testing::backend_options(1, n_threads));
      for (const int n_rows : {1, 2, 3, 5, 7, 12, 13, 30, 64})
        ASSERT_EQ(testing::logits_in_steps(*backend, tokens, n_rows), want)
            << what << ", " << vector_target() << ", " << n_rows << " rows, " << n_threads
            << " threads";
    }
  });
}

TEST_P(StoredWeightsSlow, ModelsHaveTheBitsOfFloats) {
  const ModelConfig shape = testing::make_shape(61, 256, 2, 8, 2, 32, 512);
  expect_bits_of_floats(*testing::stored_model(GetParam(), shape, 5), weight_type_name(GetParam()));
}

TEST_P(StoredWeightsSlow, TiedHeadsAreReadFromTheEmbedding) {
  ModelConfig shape = testing::make_shape(61, 256, 1, 2, 1, 128, 256);
  shape.tied_head = true;
  expect_bits_of_floats(*testing::stored_model(GetParam(), shape, 6), weight_type_name(GetParam()));
}

TEST_P(StoredWeightsSlow, RowsMayLieInAnotherOrder) {
  const ModelConfig shape = testing::make_shape(61, 256, 1, 2, 1, 128, 256);
  const auto model = testing::stored_model(GetParam(), shape, 6);
  const auto order = std::make_shared<std::vector<std::int32_t>>(256);
  for (int i = 0; i < 256; ++i) (*order)[static_cast<std::size_t>(i)] = (i * 37 + 5) % 256;
  model->weights.layers[0].query.row_order = order;
  expect_bits_of_floats(*model, weight_type_name(GetParam()));
}

// A wrong quant in one block must show.
TEST_P(StoredWeights, ComparisonSeesOneWeight) {
  Numbers numbers(7);
  const Matrix stored = testing::stored_matrix(GetParam(), 40, 256, 1.0, numbers);
  const auto bytes = std::make_shared<std::vector<std::byte>>(stored.data.get(),
                                                              stored.data.get() + stored.n_bytes());
  (*bytes)[bytes->size() - 18] ^= std::byte{32};
  Matrix changed = stored;
  changed.data = {bytes, bytes->data()};
  testing::HeadProduct product(changed, 1), floats(testing::as_floats(stored), 1);
  EXPECT_NE(product.run(1), floats.run(1));
}

INSTANTIATE_TEST_SUITE_P(Types, StoredWeights, ::testing::ValuesIn(kAllWeightTypes),
                         [](const auto& type) { return weight_type_name(type.param); });
INSTANTIATE_TEST_SUITE_P(Types, StoredWeightsSlow, ::testing::ValuesIn(kAllWeightTypes),
                         [](const auto& type) { return weight_type_name(type.param); });

// Types that differ inside a layer, parts that end inside a block of 32 outputs.
TEST(MixedWeights, HaveTheBitsOfFloats) {
  const ModelConfig shape = testing::make_shape(61, 64, 2, 4, 2, 20, 96);
  const auto model = testing::random_model(shape, 8);
  Numbers numbers(9);
  const auto as = [&](WeightType type, Matrix& m) {
    m = testing::stored_matrix(type, m.n_rows, m.n_cols, 0.12, numbers);
  };
  LayerWeights& a = model->weights.layers[0];
  as(WeightType::kQ8_0, a.query);
  as(WeightType::kF16, a.key);
  as(WeightType::kQ4_0, a.value);
  as(WeightType::kQ4_1, a.gate);
  as(WeightType::kQ8_0, a.up);
  as(WeightType::kBF16, a.down);
  LayerWeights& b = model->weights.layers[1];
  as(WeightType::kQ4_1, b.query);
  as(WeightType::kQ4_1, b.key);
  as(WeightType::kBF16, b.value);
  expect_bits_of_floats(*model, "mixed");
}

TEST(MixedWeightsSlow, KQuantsMixAsFilesOfTheMDo) {
  const ModelConfig shape = testing::make_shape(61, 256, 2, 8, 2, 32, 256);
  const auto model = testing::stored_model(WeightType::kQ4_K, shape, 5);
  Numbers numbers(9);
  for (Matrix* m : {&model->weights.layers[0].value, &model->weights.layers[0].down})
    *m = testing::stored_matrix(WeightType::kQ6_K, m->n_rows, m->n_cols, 0.06, numbers);
  expect_bits_of_floats(*model, "Q4_K and Q6_K");
}

}  // namespace
}  // namespace specbench::engine
