// Attention over contexts of several spans, several rows and heads together, and a cache of
// float16.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/cpu/backend_test_support.h"
#include "engine/cpu/kernels.h"
#include "engine/model/narrow.h"

namespace specbench::engine {
namespace {

constexpr double kTolerance = 2e-5;  // see kernels_test.cc

BackendOptions options_of(int n_threads, KvType type) {
  BackendOptions options = testing::backend_options(2, n_threads);
  options.kv_type = type;
  return options;
}

ModelConfig long_shape(int heads, int kv_heads, int dim) {
  ModelConfig c = testing::make_shape(31, 24, 2, heads, kv_heads, dim, 20);
  c.max_positions = 1024;
  return c;
}

class LongAttention : public ::testing::TestWithParam<KvType> {};
class AttentionSlow : public ::testing::TestWithParam<KvType> {};

TEST_P(AttentionSlow, ARowIsTheSameInAnyStepOnAnyThreads) {
  // One span is 256 slots; groups of 1, of 3, and of 14, which no piece of queries holds.
  for (const ModelConfig& shape :
       {long_shape(3, 3, 20), long_shape(6, 2, 32), long_shape(14, 1, 16)}) {
    const auto model = testing::random_model(shape, 5);
    const auto tokens = testing::random_tokens(700, shape, 3);
    testing::on_every_target([&](bool is_default) {
      const auto one = make_backend("cpu", *model, options_of(1, GetParam()));
      const auto want = testing::logits_row_by_row(*one, 0, tokens);
      for (const int n_threads : is_default ? std::vector{1, 2, 3} : std::vector{2}) {
        const auto backend = make_backend("cpu", *model, options_of(n_threads, GetParam()));
        for (const int n_rows :
             is_default ? std::vector{1, 2, 5, 37, 300, 512} : std::vector{5, 300})
          ASSERT_EQ(testing::logits_in_steps(*backend, tokens, n_rows), want)
              << vector_target() << ", " << shape.n_heads << " heads, " << n_rows << " rows, "
              << n_threads << " threads";
      }
    });
  }
}

TEST_P(LongAttention, LanesOfDifferentLengthsGoTogether) {
  const ModelConfig shape = long_shape(6, 2, 32);
  const auto model = testing::random_model(shape, 5);
  const auto tokens = testing::random_tokens(600, shape, 3);
  const auto one = make_backend("cpu", *model, options_of(1, GetParam()));
  const auto want = testing::logits_row_by_row(*one, 0, tokens);
  const auto backend = make_backend("cpu", *model, options_of(2, GetParam()));
  backend->reset(0, 0);
  backend->reset(1, 1);
  // Lane 0 is 500 tokens ahead.
  const std::vector<TokenId> head(tokens.begin(), tokens.begin() + 500);
  backend->forward(testing::rows_of(0, 0, head, 0), 0, 2);
  for (int pos = 0; pos < 100; pos += 5) {
    const auto piece = [&](int from) {
      return std::vector<TokenId>(tokens.begin() + from, tokens.begin() + from + 5);
    };
    auto rows = testing::rows_of(0, 500 + pos, piece(500 + pos), 0);
    const auto behind = testing::rows_of(1, pos, piece(pos), 5);
    rows.insert(rows.end(), behind.begin(), behind.end());
    std::vector<float> out(10 * 31);
    backend->forward(rows, 0, 2);
    backend->logits(rows, out.data());
    ASSERT_TRUE(std::equal(out.begin(), out.begin() + 5 * 31, want.begin() + (500 + pos) * 31));
    ASSERT_TRUE(std::equal(out.begin() + 5 * 31, out.end(), want.begin() + pos * 31));
  }
}

INSTANTIATE_TEST_SUITE_P(Cache, LongAttention, ::testing::Values(KvType::kF32, KvType::kF16),
                         [](const auto& type) {
                           return std::string(type.param == KvType::kF16 ? "F16" : "F32");
                         });
INSTANTIATE_TEST_SUITE_P(Cache, AttentionSlow, ::testing::Values(KvType::kF32, KvType::kF16),
                         [](const auto& type) {
                           return std::string(type.param == KvType::kF16 ? "F16" : "F32");
                         });

TEST(LongAttentionSlow, AgreesWithTheReference) {
  const ModelConfig shape = long_shape(6, 2, 20);
  const auto model = testing::random_model(shape, 5);
  const auto tokens = testing::random_tokens(600, shape, 3);
  const auto reference = make_backend("reference", *model, options_of(1, KvType::kF32));
  const auto want = testing::logits_in_steps(*reference, tokens, 300);
  testing::on_every_target([&](bool) {
    const auto cpu = make_backend("cpu", *model, options_of(2, KvType::kF32));
    EXPECT_LT(testing::relative_difference(testing::logits_in_steps(*cpu, tokens, 100), want),
              kTolerance)
        << vector_target();
  });
}

// A cache of float16: what lies in it are float16 values, the same as of the reference but where
// rounding fell on the other side.
TEST(Float16Cache, IsRoundedToNearest) {
  const ModelConfig shape = testing::make_shape(31, 24, 2, 4, 2, 20, 20);
  const auto model = testing::random_model(shape, 5);
  const auto tokens = testing::random_tokens(40, shape, 3);
  const auto exact = make_backend("cpu", *model, options_of(1, KvType::kF32));
  const auto cpu = make_backend("cpu", *model, options_of(1, KvType::kF16));
  const auto reference = make_backend("reference", *model, options_of(1, KvType::kF16));
  const auto want = testing::logits_in_steps(*reference, tokens, 40);
  const auto got = testing::logits_in_steps(*cpu, tokens, 40);
  const auto exact_logits = testing::logits_in_steps(*exact, tokens, 40);
  const double rounding = testing::relative_difference(exact_logits, want);
  EXPECT_GT(rounding, 1e-5);
  // A few of some thousand entries lie within 1e-7 of the middle between two float16.
  EXPECT_LT(testing::relative_difference(got, want), rounding);
  std::vector<float> key(40), value(40), exact_key(40), exact_value(40);
  for (int pos = 0; pos < 40; ++pos) {
    cpu->read_kv(0, 0, pos, key, value);  // of layer 0: nothing rounded goes into it
    exact->read_kv(0, 0, pos, exact_key, exact_value);
    for (std::size_t i = 0; i < 40; ++i) {
      ASSERT_EQ(key[i], f16_to_float(to_f16(exact_key[i])));
      ASSERT_EQ(value[i], f16_to_float(to_f16(exact_value[i])));
    }
  }
}

TEST(Float16Cache, PoisonShows) {
  const ModelConfig shape = testing::make_shape(31, 24, 2, 4, 2, 20, 20);
  const auto model = testing::random_model(shape, 5);
  for (const char* name : {"cpu", "reference"}) {
    const auto backend = make_backend(name, *model, options_of(1, KvType::kF16));
    std::vector<float> key(40), value(40);
    backend->read_kv(1, 1, 17, key, value);
    EXPECT_TRUE(std::all_of(key.begin(), key.end(), [](float x) { return x != x; }));
    EXPECT_TRUE(std::all_of(value.begin(), value.end(), [](float x) { return x != x; }));
  }
}

// A fault that shows a row what lies behind it must be seen through either cache.
TEST(Float16Cache, ReadingBehindTheEndShowsOnEveryTarget) {
  const ModelConfig shape = testing::make_shape(31, 24, 2, 4, 2, 20, 20);
  const auto model = testing::random_model(shape, 5);
  const auto tokens = testing::random_tokens(3, shape, 3);
  testing::on_every_target([&](bool) {
    for (const KvType type : {KvType::kF32, KvType::kF16}) {
      BackendOptions options = options_of(1, type);
      options.n_visible = [](int pos, int) { return pos + 2; };
      const auto backend = make_backend("cpu", *model, options);
      const auto logits = testing::logits_row_by_row(*backend, 0, tokens);
      EXPECT_TRUE(logits[0] != logits[0]) << vector_target();
    }
  });
}

}  // namespace
}  // namespace specbench::engine
