// Models made up: their shapes, that a source is one model, and the dial of acceptance.
#include "engine/model/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/decode_test_support.h"
#include "engine/model/synthetic_rows.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::wrong_error;

std::string bytes_of(const Matrix& matrix) {
  return {reinterpret_cast<const char*>(matrix.data.get()), matrix.n_bytes()};
}

TEST(Synthetic, TinyHasItsShape) {
  const Model model = make_synthetic("synthetic:tiny");
  EXPECT_EQ(model.name, "synthetic:tiny-bf16");
  EXPECT_EQ(model.weights_dtype, "BF16");
  const ModelConfig& c = model.config;
  EXPECT_EQ(c.vocab_size, 512);
  EXPECT_EQ(c.n_heads % c.n_kv_heads, 0);
  EXPECT_EQ(c.bos, 510);
  EXPECT_EQ(c.eos, std::vector<TokenId>{511});
  ASSERT_EQ(model.weights.layers.size(), 8U);
  const LayerWeights& layer = model.weights.layers.back();
  EXPECT_EQ(layer.query.n_rows, 256);
  EXPECT_EQ(layer.key.n_rows, 128);
  EXPECT_EQ(layer.down.n_cols, 512);
  EXPECT_EQ(layer.attention_norm.size(), 256U);
  EXPECT_EQ(model.weights.head.n_rows, 512);
  EXPECT_FALSE(layer.down.is_mapped);
}

TEST(Synthetic, EveryTypeIsMadeAsAsked) {
  for (const char* type : {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q4_k", "q5_k", "q6_k"}) {
    const Model model = make_synthetic(std::string("synthetic:tiny-") + type);
    std::string name = type;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char ch) { return ch >= 'a' ? static_cast<char>(ch - 32) : ch; });
    EXPECT_EQ(model.weights_dtype, name);
    EXPECT_STREQ(weight_type_name(model.weights.layers[3].gate.type), name.c_str());
    EXPECT_STREQ(weight_type_name(model.weights.embedding.type), name.c_str());
  }
  EXPECT_EQ(make_synthetic("synthetic:tiny-q4").name, "synthetic:tiny-q4_0");
}

TEST(Synthetic, OneSourceIsOneModel) {
  const Model a = make_synthetic("synthetic:tiny-q4_k:seed=7");
  const Model b = make_synthetic("synthetic:tiny-q4_k:seed=7");
  const Model other = make_synthetic("synthetic:tiny-q4_k:seed=8");
  EXPECT_EQ(a.weights_hash, b.weights_hash);
  EXPECT_NE(a.weights_hash, other.weights_hash);
  EXPECT_EQ(bytes_of(a.weights.layers[5].up), bytes_of(b.weights.layers[5].up));
  EXPECT_NE(bytes_of(a.weights.layers[5].up), bytes_of(other.weights.layers[5].up));
  EXPECT_NE(bytes_of(a.weights.layers[5].up), bytes_of(a.weights.layers[5].gate));
  // Spelled as the default, it is the default.
  EXPECT_EQ(make_synthetic("synthetic:tiny-bf16:later=1:seed=1").weights_hash,
            make_synthetic("synthetic:tiny").weights_hash);
}

// However rows are shared out over threads, each is what its key gives.
TEST(Synthetic, RowsAreThoseOfTheirKeys) {
  const Model model = make_synthetic("synthetic:tiny-q5_k:seed=9");
  const Matrix& embedding = model.weights.embedding;
  std::string row(embedding.row_bytes(), '\0');
  for (int r = 0; r < embedding.n_rows; ++r) {
    fill_row(embedding.type, 2.0 / 16, {9, 0, static_cast<std::uint32_t>(r)}, embedding.n_cols,
             reinterpret_cast<std::byte*>(row.data()));
    ASSERT_EQ(row, std::string(reinterpret_cast<const char*>(embedding.row(r)), row.size())) << r;
  }
}

TEST(Synthetic, TheTokenizerTakesAnyText) {
  const Model model = make_synthetic("synthetic:tiny");
  EXPECT_EQ(model.encode_prompt("Ab\xff"), (std::vector<TokenId>{510, 'A', 'b', 255}));
  EXPECT_EQ(model.tokenizer.decode(std::vector<TokenId>{'A', 300, 255}), "A<300>\xff");
  EXPECT_EQ(model.tokenizer.size(), 512);
}

TEST(Synthetic, RefusesWhatItDoesNotKnow) {
  const auto says = [](const char* source, const char* fragment) {
    return wrong_error([&] { make_synthetic(source); }, fragment);
  };
  EXPECT_EQ(says("synthetic:llama-70b", "'llama-70b'; supported is"), "");
  EXPECT_EQ(says("synthetic:llama-70b", "llama-1b, llama-7b, tiny"), "");
  EXPECT_EQ(says("synthetic:tiny-q3_k", "'tiny-q3_k'"), "");
  EXPECT_EQ(says("synthetic:tiny-", "'tiny-'"), "");
  EXPECT_EQ(says("synthetic:", "''"), "");
  EXPECT_EQ(says("synthetic:tiny:", "the setting ''"), "");
  EXPECT_EQ(says("synthetic:tiny:seed=-1", "'seed=-1'"), "");
  EXPECT_EQ(says("synthetic:tiny:seed=1x", "'seed=1x'"), "");
  EXPECT_EQ(says("synthetic:tiny:later=1.5", "'later=1.5'"), "");
  EXPECT_EQ(says("synthetic:tiny:later=nan", "'later=nan'"), "");
  EXPECT_EQ(says("synthetic:tiny:depth=3", "'depth=3'"), "");
  EXPECT_EQ(says("tiny", "is not synthetic"), "");
}

testing::Decoded decode(const Model& model, const char* verifier) {
  testing::Plan plan;
  plan.drafter = "layer-skip";
  plan.draft_layers = 2;
  plan.draft_tokens = 3;
  plan.verifier = verifier;
  plan.temperature = plan.verifier == "greedy" ? 0.0 : 1.0;
  plan.stop_at_eos = false;
  return testing::run(model, testing::some_requests(4, model.config, 48), plan);
}

double acceptance(const testing::Decoded& decoded) {
  double accepted = 0.0, drafted = 0.0;
  for (const testing::KeptRound& round : decoded.log.rounds) {
    accepted += round.n_accepted;
    drafted += static_cast<double>(round.drafted.size());
  }
  return accepted / drafted;
}

TEST(Synthetic, WithoutLaterLayersEveryDraftIsRight) {
  for (const char* source : {"synthetic:tiny-f32:later=0", "synthetic:tiny-q4_0:later=0",
                             "synthetic:tiny-q4_k:later=0"}) {
    const Model model = make_synthetic(source);
    EXPECT_EQ(acceptance(decode(model, "greedy")), 1.0) << source;
    EXPECT_EQ(acceptance(decode(model, "token")), 1.0) << source;
  }
}

TEST(Synthetic, TheDialTurnsAcceptance) {
  double last = 1.0;
  for (const char* later : {"0.25", "0.5", "1"}) {
    const Model model = make_synthetic(std::string("synthetic:tiny-f32:later=") + later);
    const double now = acceptance(decode(model, "token"));
    EXPECT_LT(now, last - 0.05) << later;
    EXPECT_GT(now, 0.1) << later;
    last = now;
  }
}

TEST(Synthetic, LogitsSpreadByAboutTwo) {
  for (const char* type : {"bf16", "q8_0", "q4_0", "q4_1", "q4_k", "q5_k", "q6_k"}) {
    const Model model = make_synthetic(std::string("synthetic:tiny-") + type);
    const auto backend = make_backend("cpu", model, testing::backend_options(1, 1));
    const auto logits =
        testing::logits_row_by_row(*backend, 0, testing::random_tokens(12, model.config, 3));
    double sum = 0.0, squares = 0.0;
    for (const float logit : logits) {
      ASSERT_TRUE(std::isfinite(logit)) << type;
      sum += logit;
      squares += static_cast<double>(logit) * logit;
    }
    const double n = static_cast<double>(logits.size());
    EXPECT_NEAR(std::sqrt(squares / n - sum * sum / n / n), 2.0, 0.4) << type;
  }
}

TEST(Synthetic, WhatDoesNotFitIsRefusedBeforeItIsTaken) {
  EXPECT_EQ(wrong_error([] { make_synthetic("synthetic:llama-7b-f32", 20'000'000'000); },
                        "synthetic:llama-7b-f32 needs 53.91 GB of memory and 20.00 GB are free"),
            "");
  EXPECT_EQ(make_synthetic("synthetic:tiny", 1 << 30).name, "synthetic:tiny-bf16");
}

}  // namespace
}  // namespace specbench::engine
