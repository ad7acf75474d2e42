#include "engine/cpu/kv_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

TEST(KvStore, GivesBackWhatWasWritten) {
  const ModelConfig shape = testing::make_shape(31, 24, 3, 4, 2, 6, 20);
  for (const KvType type : {KvType::kF32, KvType::kF16}) {
    KvStore store(2, shape, 20, type);
    std::vector<float> key(12), value(12);
    for (int h = 0; h < 2; ++h) {
      const float k[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F + static_cast<float>(h)};
      const float v[] = {-1.0F, 0.5F, 0.25F, 7.0F, 8.0F, 9.0F};
      store.write(1, 2, h, 17, k, v);
    }
    store.read(1, 2, 17, key, value);
    EXPECT_EQ(key, (std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7}));
    EXPECT_EQ(value, (std::vector<float>{-1, .5, .25, 7, 8, 9, -1, .5, .25, 7, 8, 9}));
    store.poison(1, 2, 17, 18);
    store.read(1, 2, 17, key, value);
    for (std::size_t i = 0; i < 12; ++i) EXPECT_TRUE(std::isnan(key[i]) && std::isnan(value[i]));
    store.read(1, 2, 16, key, value);
    EXPECT_EQ(key[0], 0.0F);  // its neighbours are untouched
  }
  EXPECT_EQ(KvStore::n_bytes(2, shape, 20, KvType::kF32), 2U * 2 * 3 * 2 * 32 * 6 * 4);
  EXPECT_EQ(KvStore::n_bytes(2, shape, 20, KvType::kF16), 2U * 2 * 3 * 2 * 32 * 6 * 2);
}

}  // namespace
}  // namespace specbench::engine
