// Scores of given texts: the arithmetic by hand, the pass over the text against laws taken one at a
// time, and two backends held against each other.
#include "suites/score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/engine_test_support.h"

namespace specbench::suites {
namespace {

using engine::TokenId;
using engine::testing::backend_options;
using engine::testing::logits_row_by_row;
using engine::testing::random_model;
using engine::testing::random_tokens;

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

TEST(Score, LogSoftmaxIsThatOfTheFormula) {
  const std::vector<float> logits{1.0F, kImpossible, 1.0F, 1.0F + std::log(2.0F)};
  std::vector<double> log_probs(4);
  log_softmax(logits, log_probs);
  EXPECT_NEAR(log_probs[0], std::log(0.25), 1e-7);
  EXPECT_NEAR(log_probs[3], std::log(0.5), 1e-7);
  EXPECT_EQ(log_probs[1], kImpossible);
  log_softmax(std::vector<float>{1000.0F, 0.0F, 0.0F, 0.0F}, log_probs);  // nothing overflows
  EXPECT_NEAR(log_probs[0], 0.0, 1e-12);
  EXPECT_NEAR(log_probs[1], -1000.0, 1e-9);
}

TEST(Score, TheLikeliestComeInOrderAndTiesById) {
  const std::vector<double> log_probs{-2.0, -1.0, -3.0, -1.0};
  const auto top = likeliest(log_probs, 3);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_EQ(top[1].id, 3);
  EXPECT_EQ(top[2].id, 0);
  EXPECT_EQ(top[2].log_prob, -2.0);
  EXPECT_EQ(likeliest(log_probs, 9).size(), 4U);
}

// 80 tokens are three steps of the pass.
TEST(Score, ATextIsScoredAsTokenByToken) {
  const auto model = random_model(engine::testing::small_shape(), 3);
  const auto tokens = random_tokens(80, model->config, 4);
  const auto backend = engine::make_backend("cpu", *model, backend_options(1, 1));
  const auto scores = score_text(*backend, tokens);
  const auto logits = logits_row_by_row(*backend, 0, tokens);
  ASSERT_EQ(scores.size(), tokens.size());
  EXPECT_FALSE(scores[0].log_prob);
  EXPECT_TRUE(scores[0].top.empty());
  const auto n_ids = static_cast<std::size_t>(model->config.vocab_size);
  std::vector<double> log_probs(n_ids);
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    log_softmax(std::span(logits).subspan((i - 1) * n_ids, n_ids), log_probs);
    EXPECT_EQ(scores[i].token, tokens[i]);
    EXPECT_EQ(*scores[i].log_prob, log_probs[static_cast<std::size_t>(tokens[i])]) << i;
    EXPECT_EQ(scores[i].top[0].id, likeliest(log_probs, 1)[0].id) << i;
    EXPECT_EQ(scores[i].top.size(), kTop);
  }
}

TEST(Score, ShortTextsAndStopsAreTaken) {
  const auto model = random_model(engine::testing::small_shape(), 3);
  const auto backend = engine::make_backend("cpu", *model, backend_options(1, 1));
  EXPECT_TRUE(score_text(*backend, {}).empty());
  const std::vector<TokenId> one{5};
  EXPECT_EQ(score_text(*backend, one).size(), 1U);
  const auto tokens = random_tokens(80, model->config, 4);
  int n_asked = 0;
  EXPECT_EQ(score_text(*backend, tokens, [&] { return n_asked++ == 1; }).size(), 33U);
}

TEST(Score, BackendsAgreeAndAFaultIsFound) {
  const auto model = random_model(engine::testing::small_shape(), 3);
  auto other = random_model(engine::testing::small_shape(), 3);
  const auto tokens = random_tokens(12, model->config, 4);
  const auto cpu = engine::make_backend("cpu", *model, backend_options(1, 1));
  const auto reference = engine::make_backend("reference", *model, backend_options(1, 1));
  const Difference fine = compare_backends(*cpu, *reference, tokens);
  EXPECT_EQ(fine.n_laws, 11);
  EXPECT_LT(fine.largest, 1e-3);
  EXPECT_EQ(compare_backends(*cpu, *cpu, tokens).largest, 0.0);
  other->weights.layers[11].ffn_norm[7] *= 1.05F;
  const auto wrong = engine::make_backend("reference", *other, backend_options(1, 1));
  EXPECT_GT(compare_backends(*cpu, *wrong, tokens).largest, 1e-3);
  other->weights.final_norm[0] = std::numeric_limits<float>::quiet_NaN();
  const auto broken = engine::make_backend("reference", *other, backend_options(1, 1));
  EXPECT_EQ(compare_backends(*cpu, *broken, tokens).largest,
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace specbench::suites
