// The promise of both host backends: a row's bits do not depend on the other rows, the packing, the
// lanes, the threads or what lies dead in the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr int kPrompt = 64;

ModelConfig shape_of(const std::string& backend) {
  // The cpu shape has odd sizes everywhere; the reference is slow and needs fewer numbers.
  return backend == "cpu" ? testing::make_shape(97, 40, 3, 4, 2, 20, 33)
                          : testing::make_shape(31, 12, 2, 2, 1, 6, 10);
}

class RowIndependence : public ::testing::TestWithParam<std::string> {
 protected:
  RowIndependence() : model_(testing::random_model(shape_of(GetParam()), 21)) {
    tokens_ = testing::random_tokens(kPrompt, model_->config, 5);
    other_ = testing::random_tokens(kPrompt, model_->config, 6);
    alone_ = testing::logits_row_by_row(*backend(1, 1), 0, tokens_);
  }
  std::unique_ptr<Backend> backend(int n_lanes, int n_threads, bool poison = true) const {
    BackendOptions options = testing::backend_options(n_lanes, n_threads);
    options.poison = poison;
    return make_backend(GetParam(), *model_, options);
  }
  std::size_t vocab() const { return static_cast<std::size_t>(model_->config.vocab_size); }
  bool is_row(const float* logits, std::size_t pos) const {
    return std::equal(logits, logits + vocab(),
                      alone_.begin() + static_cast<std::ptrdiff_t>(pos * vocab()));
  }

  // All layers and the head on rows; each row of lane `lane` must have the bits it has alone.
  void expect_rows(Backend& b, const std::vector<Row>& rows, int lane,
                   const std::string& what) const {
    std::vector<float> out(rows.size() * vocab());
    b.forward(rows, 0, model_->config.n_layers);
    b.logits(rows, out.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].lane != lane) continue;
      ASSERT_TRUE(is_row(out.data() + i * vocab(), static_cast<std::size_t>(rows[i].pos)))
          << what << ", position " << rows[i].pos;
    }
  }
  std::vector<TokenId> piece(int begin, int end) const {
    return {tokens_.begin() + begin, tokens_.begin() + end};
  }

  std::unique_ptr<Model> model_;
  std::vector<TokenId> tokens_, other_;
  std::vector<float> alone_;
};

TEST_P(RowIndependence, StepsOfAnyNumberOfRowsAndThreads) {
  for (const int n_threads : {1, 2, 3, 5}) {
    const auto b = backend(1, n_threads);
    for (int n_rows = 1; n_rows <= kPrompt; n_rows += n_threads == 2 ? 1 : 7) {
      b->reset(0, 0);
      for (int pos = 0; pos < kPrompt; pos += n_rows)
        expect_rows(*b, testing::rows_of(0, pos, piece(pos, std::min(kPrompt, pos + n_rows)), 3), 0,
                    std::to_string(n_rows) + " rows, " + std::to_string(n_threads) + " threads");
    }
  }
}

TEST_P(RowIndependence, AnyPackingOfLanes) {
  const auto b = backend(5, 2);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Numbers numbers(seed);
    const int watched = numbers.below(5);
    std::vector<int> next(5);
    for (int lane = 0; lane < 5; ++lane) b->reset(lane, 0);
    while (next[static_cast<std::size_t>(watched)] < kPrompt) {
      std::vector<int> order(5);
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = 4; i > 0; --i)
        std::swap(order[i],
                  order[static_cast<std::size_t>(numbers.below(static_cast<int>(i + 1)))]);
      std::vector<Row> rows;
      for (const int lane : order) {
        int& pos = next[static_cast<std::size_t>(lane)];
        const auto& text = lane == watched ? tokens_ : other_;
        for (int n = numbers.below(lane == watched ? 6 : 9); n > 0 && pos < kPrompt; --n, ++pos)
          rows.push_back({lane, pos, text[static_cast<std::size_t>(pos)],
                          static_cast<int>(rows.size()) * 7 % 64});
      }
      expect_rows(*b, rows, watched, "seed " + std::to_string(seed));
    }
  }
}

TEST_P(RowIndependence, LayersInPiecesGiveTheSameRows) {
  const auto b = backend(1, 2);
  for (int middle = 1; middle < model_->config.n_layers; ++middle) {
    b->reset(0, 0);
    const auto rows = testing::rows_of(0, 0, tokens_, 100);
    for (const Row& row : rows)
      b->forward({&row, 1}, 0, middle);                 // one by one through the first layers
    b->forward(rows, middle, model_->config.n_layers);  // together through the rest
    std::vector<float> out(rows.size() * vocab());
    b->logits(rows, out.data());
    EXPECT_EQ(out, alone_) << middle;
  }
}

TEST_P(RowIndependence, WhatWasTrimmedIsNeverRead) {
  for (const bool poison : {false, true}) {
    const auto b = backend(2, 2, poison);
    for (int pos = 0; pos < kPrompt; pos += 5) {
      const int end = std::min(kPrompt, pos + 5);
      // Other tokens first, as drafts that were rejected; then the cache is cut back.
      std::vector<Row> wrong = testing::rows_of(0, pos, {other_.begin(), other_.begin() + 20}, 0);
      b->forward(wrong, 0, model_->config.n_layers);
      b->trim(0, pos);
      expect_rows(*b, testing::rows_of(0, pos, piece(pos, end), 0), 0,
                  poison ? "poisoned" : "plain");
    }
  }
}

TEST_P(RowIndependence, ComparisonSeesAnotherToken) {
  const auto b = backend(1, 1);
  std::vector<TokenId> changed = tokens_;
  changed[10] = (changed[10] + 1) % model_->config.vocab_size;
  const auto logits = testing::logits_row_by_row(*b, 0, changed);
  EXPECT_TRUE(is_row(logits.data() + 9 * vocab(), 9));
  for (std::size_t pos = 10; pos < kPrompt; ++pos)
    EXPECT_FALSE(is_row(logits.data() + pos * vocab(), pos)) << pos;
}

TEST_P(RowIndependence, CountsItsWork) {
  const auto b = backend(1, 2);
  const auto rows = testing::rows_of(0, 0, tokens_, 0);
  std::vector<float> out(rows.size() * vocab());
  b->forward(rows, 0, 1);
  b->forward(rows, 1, 2);
  b->forward({}, 0, 2);
  b->logits(rows, out.data());
  EXPECT_EQ(b->work().token_layers, 2 * kPrompt);
  EXPECT_EQ(b->work().head_rows, kPrompt);
  EXPECT_EQ(b->work().steps, 2);
  b->clear_work();
  EXPECT_EQ(b->work().token_layers, 0);
  EXPECT_EQ(b->name(), GetParam());  // the named one runs
}

INSTANTIATE_TEST_SUITE_P(Host, RowIndependence, ::testing::Values("cpu", "reference"));

}  // namespace
}  // namespace specbench::engine
