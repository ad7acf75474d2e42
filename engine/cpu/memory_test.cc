#include "engine/cpu/memory.h"

#include <gtest/gtest.h>

#include "engine/cpu/kernels.h"
#include "engine/cpu/packed_weights.h"
#include "engine/cpu/stored_test_support.h"
#include "engine/error.h"
#include "engine/model/test_files.h"
#include "engine/weight_pool.h"

namespace specbench::engine {
namespace {

TEST(Memory, AStepReadsTheBytesThatWerePacked) {
  const ModelConfig shape = testing::make_shape(61, 256, 2, 8, 2, 32, 512);
  for (const WeightType type : kAllWeightTypes) {
    const auto model = testing::stored_model(type, shape, 5);
    testing::Numbers numbers(9);
    LayerWeights& first = model->weights.layers[0];
    first.value = testing::stored_matrix(WeightType::kQ6_K, 64, 256, 0.06, numbers);
    first.up = testing::stored_matrix(WeightType::kQ8_0, 512, 256, 0.06, numbers);
    PackedRoom room(packed_weight_bytes(*model));
    std::size_t bytes = 0;
    for (const LayerWeights& w : model->weights.layers) {
      for (const auto& stack : query_key_value_stacks(w))
        bytes += pack_stacked(stack, 1, room).n_bytes();
      for (const Matrix* m : {&w.attention_out, &w.down})
        bytes += pack_stacked({&m, 1}, 1, room).n_bytes();
      bytes += pack_gate_up(w.gate, w.up, 1, room).n_bytes();
      bytes += (w.attention_norm.size() + w.ffn_norm.size()) * sizeof(float);
    }
    EXPECT_EQ(weight_bytes(*model).layers, static_cast<std::int64_t>(bytes));
    const Matrix* const head = &model->weights.head;
    EXPECT_EQ(weight_bytes(*model).head,
              static_cast<std::int64_t>(pack_stacked({&head, 1}, 1, room).n_bytes() + 256 * 4));
    EXPECT_THROW((void)room.take(1), std::bad_alloc);
  }
}

TEST(Memory, EqualTypesAreOneStack) {
  const auto model = testing::random_model(testing::make_shape(61, 32, 1, 2, 1, 16, 32), 5);
  LayerWeights& w = model->weights.layers[0];
  EXPECT_EQ(query_key_value_stacks(w).size(), 1U);
  testing::Numbers numbers(9);
  w.value = testing::stored_matrix(WeightType::kQ8_0, 16, 32, 0.1, numbers);
  EXPECT_EQ(query_key_value_stacks(w).size(), 2U);
  EXPECT_EQ(query_key_value_stacks(w)[0].size(), 2U);
  w.key = testing::stored_matrix(WeightType::kQ4_0, 16, 32, 0.1, numbers);
  EXPECT_EQ(query_key_value_stacks(w).size(), 3U);
}

TEST(Memory, AModelThatDoesNotFitIsRefused) {
  const auto model = testing::random_model(testing::small_shape(), 5);
  BackendOptions options = testing::backend_options(3, 2);
  const std::size_t needed = backend_bytes(*model, options);
  options.memory_limit_bytes = needed;
  EXPECT_EQ(make_backend("cpu", *model, options)->name(), "cpu");
  options.memory_limit_bytes = needed - 1;
  EXPECT_EQ(testing::wrong_error([&] { (void)make_backend("cpu", *model, options); },
                                 "a cache of 3 x 256 tokens"),
            "");
  options.memory_limit_bytes = 1'000'000;
  EXPECT_EQ(testing::wrong_error([&] { (void)make_backend("cpu", *model, options); },
                                 "and 1.0 MB are free; weights take"),
            "");
}

TEST(Memory, WeightsThatThePoolHoldsAreNotTakenAgain) {
  const auto model = testing::random_model(testing::small_shape(), 5);
  BackendOptions options = testing::backend_options(1, 1);
  const WeightBytes weights = weight_bytes(*model);
  options.memory_limit_bytes =
      backend_bytes(*model, options) - static_cast<std::size_t>(weights.layers + weights.head);
  options.pool = std::make_shared<WeightPool>();
  EXPECT_THROW((void)make_backend("cpu", *model, options), InputError);
  const auto packed = options.pool->packed(*model, 1);
  EXPECT_EQ(make_backend("cpu", *model, options)->name(), "cpu");
}

TEST(Memory, TheCacheCountsByItsLengthLanesAndType) {
  const auto model = testing::random_model(testing::small_shape(), 5);
  const BackendOptions options = testing::backend_options(1, 1);
  BackendOptions more = options;
  more.n_lanes = 2;
  const std::size_t a_cache = 2U * 12 * 1 * 256 * 12 * 4;
  EXPECT_EQ(backend_bytes(*model, more) - backend_bytes(*model, options), a_cache);
  BackendOptions narrow = options;
  narrow.kv_type = KvType::kF16;
  EXPECT_EQ(backend_bytes(*model, options) - backend_bytes(*model, narrow), a_cache / 2);
}

}  // namespace
}  // namespace specbench::engine
