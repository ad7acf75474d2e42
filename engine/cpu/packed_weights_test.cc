// Weights that backends share: packed once, read by all, and never taken for another model's.
#include "engine/cpu/packed_weights.h"

#include <gtest/gtest.h>

#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::backend_options;
using testing::logits_row_by_row;
using testing::random_model;
using testing::random_tokens;

TEST(WeightPool, PacksOnceAndChangesNothing) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto tokens = random_tokens(9, model->config, 6);
  BackendOptions options = backend_options(1, 1);
  const auto own = make_backend("cpu", *model, options);
  options.pool = std::make_shared<WeightPool>(*model);
  const auto first = make_backend("cpu", *model, options);
  options.n_threads = 2;
  const auto second = make_backend("cpu", *model, options);
  EXPECT_EQ(options.pool->packed(1).get(), options.pool->packed(2).get());
  EXPECT_EQ(options.pool->packed(1).use_count(), 4);  // pool, two backends, this one
  const auto logits = logits_row_by_row(*own, 0, tokens);
  EXPECT_EQ(logits_row_by_row(*first, 0, tokens), logits);
  EXPECT_EQ(logits_row_by_row(*second, 0, tokens), logits);
}

TEST(WeightPool, OutlivesNoBackend) {
  const auto model = random_model(testing::small_shape(), 5);
  BackendOptions options = backend_options(1, 1);
  options.pool = std::make_shared<WeightPool>(*model);
  const auto backend = make_backend("cpu", *model, options);
  const auto tokens = random_tokens(3, model->config, 6);
  const auto before = logits_row_by_row(*backend, 0, tokens);
  options.pool.reset();  // the backend holds what it reads
  EXPECT_EQ(logits_row_by_row(*backend, 0, tokens), before);
}

TEST(WeightPool, KnowsItsModel) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto twin = random_model(testing::small_shape(), 5);  // equal, but other bytes
  WeightPool pool(*model);
  EXPECT_TRUE(pool.is_of(*model));
  EXPECT_FALSE(pool.is_of(*twin));
  Model copy;
  copy.config = model->config;
  copy.weights = model->weights;
  copy.config.eos = {3};
  EXPECT_TRUE(pool.is_of(copy));
  copy.weights.layers[4].down = twin->weights.layers[4].down;
  EXPECT_FALSE(pool.is_of(copy));
  copy.weights = model->weights;
  copy.weights.layers[7].ffn_norm[2] += 1.0F;
  EXPECT_FALSE(pool.is_of(copy));
  copy.weights = model->weights;
  copy.weights.layers.pop_back();
  EXPECT_FALSE(pool.is_of(copy));
}

// A backend that is given a foreign pool runs its own weights.
TEST(WeightPool, OfAnotherModelIsNotRead) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto other = random_model(testing::small_shape(), 6);
  const auto tokens = random_tokens(3, model->config, 6);
  BackendOptions options = backend_options(1, 1);
  const auto own = make_backend("cpu", *model, options);
  options.pool = std::make_shared<WeightPool>(*other);
  const auto backend = make_backend("cpu", *model, options);
  EXPECT_EQ(logits_row_by_row(*backend, 0, tokens), logits_row_by_row(*own, 0, tokens));
}

}  // namespace
}  // namespace specbench::engine
