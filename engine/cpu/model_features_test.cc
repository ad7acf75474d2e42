// What some architectures add, in both backends: biases, norms of queries and keys, other angles,
// ids without a token.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/backend_test_support.h"
#include "engine/cpu/kernels.h"
#include "engine/decode_test_support.h"
#include "engine/model/test_files.h"
#include "engine/sampling.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr double kTolerance = 2e-5;  // see kernels_test.cc

const ModelConfig kShape = testing::make_shape(61, 48, 3, 4, 2, 20, 33);

std::vector<float> logits_of(const std::string& backend, const Model& model) {
  const auto tokens = testing::random_tokens(40, model.config, 4);
  const auto made = make_backend(backend, model, testing::backend_options(1, 2));
  return testing::logits_in_steps(*made, tokens, 7);
}

/// Both backends agree on the changed model and see the change.
template <typename Change>
void expect_feature(const Change& change) {
  const auto plain = testing::random_model(kShape, 3);
  auto changed = testing::random_model(kShape, 3);
  Numbers numbers(11);
  change(*changed, numbers);
  const auto before = logits_of("reference", *plain);
  const auto want = logits_of("reference", *changed);
  EXPECT_GT(testing::relative_difference(want, before), 100 * kTolerance);
  testing::on_every_target([&](bool) {
    EXPECT_LT(testing::relative_difference(logits_of("cpu", *changed), want), kTolerance)
        << vector_target();
  });
}

TEST(ModelFeatures, BiasesOfQueries) {
  expect_feature([](Model& model, Numbers& numbers) {
    for (LayerWeights& l : model.weights.layers)
      l.query_bias = testing::random_vector(l.query.n_rows, 0.0, 0.5, numbers);
  });
}

TEST(ModelFeatures, BiasesOfKeysAndValues) {
  expect_feature([](Model& model, Numbers& numbers) {
    for (LayerWeights& l : model.weights.layers) {
      l.key_bias = testing::random_vector(l.key.n_rows, 0.0, 0.5, numbers);
      l.value_bias = testing::random_vector(l.value.n_rows, 0.0, 0.5, numbers);
    }
  });
}

TEST(ModelFeatures, NormsOfQueriesAndKeys) {
  expect_feature([](Model& model, Numbers& numbers) {
    for (LayerWeights& l : model.weights.layers) {
      l.query_norm = testing::random_vector(kShape.head_dim, 1.0, 0.3, numbers);
      l.key_norm = testing::random_vector(kShape.head_dim, 1.0, 0.3, numbers);
    }
  });
}

TEST(ModelFeatures, BiasesComeBeforeNorms) {
  expect_feature([](Model& model, Numbers& numbers) {
    for (LayerWeights& l : model.weights.layers) {
      l.key_bias = testing::random_vector(l.key.n_rows, 0.0, 0.5, numbers);
      l.key_norm = testing::random_vector(kShape.head_dim, 1.0, 0.3, numbers);
    }
  });
}

TEST(ModelFeatures, OtherFrequenciesAndMagnitude) {
  expect_feature([](Model& model, Numbers&) {
    for (int i = 0; i < kShape.head_dim / 2; ++i)
      model.config.rope_frequencies.push_back(0.7 / (i + 1));
    model.config.rope_magnitude = 1.2;
  });
}

TEST(ModelFeatures, PlainFrequenciesMayBeSpeltOut) {
  const auto plain = testing::random_model(kShape, 3);
  auto spelt = testing::random_model(kShape, 3);
  for (int i = 0; i < kShape.head_dim / 2; ++i)
    spelt->config.rope_frequencies.push_back(
        std::pow(kShape.rope_theta, -2.0 * i / kShape.head_dim));
  EXPECT_EQ(logits_of("cpu", *spelt), logits_of("cpu", *plain));
}

TEST(ModelFeatures, IdsWithoutATokenAreImpossible) {
  const auto plain = testing::random_model(kShape, 3);
  auto masked = testing::random_model(kShape, 3);
  masked->config.n_tokens = 50;
  for (const char* name : {"cpu", "reference"}) {
    const auto before = logits_of(name, *plain);
    const auto after = logits_of(name, *masked);
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (i % 61 < 50)
        ASSERT_EQ(after[i], before[i]);
      else
        ASSERT_EQ(after[i], -std::numeric_limits<float>::infinity());
    }
    LawBuffer room(1, 61);
    SamplingParams params;
    params.temperature = 100.0;  // all but flat
    const Law law = make_law(after.data(), 61, params, room.weights(0), room.chunk_sums(0));
    double total = 0.0;
    for (int id = 0; id < 50; ++id) total += law.prob(id);
    EXPECT_NEAR(total, 1.0, 1e-12);
    for (int id = 50; id < 61; ++id) EXPECT_EQ(law.prob(id), 0.0);
  }
}

// Decoding never meets them, drafted or emitted; naming one is an error.
TEST(ModelFeatures, IdsWithoutATokenAreNeverDecoded) {
  auto model = testing::random_model(testing::small_shape(), 3);
  model->config.n_tokens = 50;
  const std::vector<Request> requests = {{1, {3, 49, 7}, 40}};
  for (const char* drafter : {"layer-skip", "oracle", "uniform", ""}) {
    testing::Plan plan;
    plan.drafter = drafter;
    plan.temperature = 100.0;
    const auto decoded = testing::run(*model, requests, plan);
    EXPECT_EQ(decoded.completions[0].tokens.size(), 40U);
    for (const TokenId id : decoded.completions[0].tokens) EXPECT_LT(id, 50);
    for (const auto& round : decoded.log.rounds)
      for (const TokenId id : round.drafted) EXPECT_LT(id, 50);
  }
  EXPECT_EQ(testing::wrong_error(
                [&] {
                  (void)testing::run(*model, {{1, {3, 50}, 4}}, testing::Plan{});
                },
                "prompt token 50 is outside the vocabulary of 50"),
            "");
}

}  // namespace
}  // namespace specbench::engine
