// Weights that backends share: packed once, read by all, and never taken for another model's.
#include "engine/cpu/packed_weights.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::backend_options;
using testing::logits_row_by_row;
using testing::random_model;
using testing::random_tokens;

std::shared_ptr<WeightPool> put_pool(BackendOptions& options) {
  options.pool = std::make_shared<WeightPool>();
  return options.pool;
}

TEST(WeightPool, PacksOnceAndChangesNothing) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto tokens = random_tokens(9, model->config, 6);
  BackendOptions options = backend_options(1, 1);
  const auto own = make_backend("cpu", *model, options);
  const auto pool = put_pool(options);
  EXPECT_FALSE(pool->holds(*model));
  const auto first = make_backend("cpu", *model, options);
  options.n_threads = 2;
  const auto second = make_backend("cpu", *model, options);
  EXPECT_TRUE(pool->holds(*model));
  EXPECT_EQ(pool->packed(*model, 1).get(), pool->packed(*model, 2).get());
  EXPECT_EQ(pool->packed(*model, 1).use_count(), 4);  // pool, two backends, this one
  const auto logits = logits_row_by_row(*own, 0, tokens);
  EXPECT_EQ(logits_row_by_row(*first, 0, tokens), logits);
  EXPECT_EQ(logits_row_by_row(*second, 0, tokens), logits);
}

TEST(WeightPool, OutlivesNoBackend) {
  const auto model = random_model(testing::small_shape(), 5);
  BackendOptions options = backend_options(1, 1);
  const std::weak_ptr<WeightPool> pool = put_pool(options);
  const auto backend = make_backend("cpu", *model, options);
  const auto tokens = random_tokens(3, model->config, 6);
  const auto before = logits_row_by_row(*backend, 0, tokens);
  options.pool.reset();
  EXPECT_TRUE(pool.expired());  // and the backend holds what it reads
  EXPECT_EQ(logits_row_by_row(*backend, 0, tokens), before);
}

TEST(WeightPool, KnowsItsModel) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto twin = random_model(testing::small_shape(), 5);  // equal, but other bytes
  WeightPool pool;
  (void)pool.packed(*model, 1);
  EXPECT_TRUE(pool.holds(*model));
  EXPECT_FALSE(pool.holds(*twin));
  const auto holds = [&](const auto& change) {
    Model copy;
    copy.config = model->config;
    copy.weights = model->weights;
    change(copy);
    return pool.holds(copy);
  };
  EXPECT_TRUE(holds([](Model& m) { m.config.eos = {3}; }));
  EXPECT_FALSE(holds([](Model& m) { m.config.tied_head = !m.config.tied_head; }));
  EXPECT_FALSE(holds([&](Model& m) { m.weights.layers[4].down = twin->weights.layers[4].down; }));
  EXPECT_FALSE(holds([](Model& m) { m.weights.layers[7].ffn_norm[2] += 1.0F; }));
  EXPECT_FALSE(holds([](Model& m) { m.weights.layers.pop_back(); }));
  EXPECT_FALSE(holds([](Model& m) {
    Matrix& query = m.weights.layers[0].query;
    std::vector<int> order(static_cast<std::size_t>(query.n_rows));
    std::iota(order.begin(), order.end(), 0);
    query.row_order = std::make_shared<const std::vector<int>>(order);
  }));
}

// What is packed are the weights a model had; a model that was given others since is another one.
TEST(WeightPool, WeightsChangedSinceAreNotThose) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto other = random_model(testing::small_shape(), 6);
  const auto tokens = random_tokens(3, model->config, 6);
  BackendOptions options = backend_options(1, 1);
  put_pool(options);
  const auto before = logits_row_by_row(*make_backend("cpu", *model, options), 0, tokens);
  model->weights.layers[0].gate = other->weights.layers[0].gate;
  const auto after = logits_row_by_row(*make_backend("cpu", *model, options), 0, tokens);
  EXPECT_NE(after, before);
  options.pool.reset();
  EXPECT_EQ(logits_row_by_row(*make_backend("cpu", *model, options), 0, tokens), after);
}

// A backend that is given a foreign pool runs its own weights.
TEST(WeightPool, OfAnotherModelIsNotRead) {
  const auto model = random_model(testing::small_shape(), 5);
  const auto other = random_model(testing::small_shape(), 6);
  const auto tokens = random_tokens(3, model->config, 6);
  BackendOptions options = backend_options(1, 1);
  const auto own = make_backend("cpu", *model, options);
  (void)put_pool(options)->packed(*other, 1);
  const auto backend = make_backend("cpu", *model, options);
  EXPECT_EQ(logits_row_by_row(*backend, 0, tokens), logits_row_by_row(*own, 0, tokens));
}

}  // namespace
}  // namespace specbench::engine
