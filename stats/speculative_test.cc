#include "stats/speculative.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;

TEST(Speculative, ExpectedTokensByHand) {
  EXPECT_DOUBLE_EQ(expected_tokens_per_round(0.5, 2), 1.75);
  EXPECT_DOUBLE_EQ(expected_tokens_per_round(0.8, 0), 1.0);
  EXPECT_DOUBLE_EQ(expected_tokens_per_round(0.0, 5), 1.0);
  EXPECT_DOUBLE_EQ(expected_tokens_per_round(1.0, 5), 6.0);
  EXPECT_NEAR(expected_tokens_per_round(1.0 - 1e-12, 5), 6.0, 1e-10);  // no cancellation near 1
  EXPECT_DOUBLE_EQ(expected_tokens_no_bonus(0.5, 2), 1.5);
  EXPECT_DOUBLE_EQ(expected_tokens_no_bonus(1.0, 5), 5.0);
}

TEST(Speculative, PositionDependentAcceptance) {
  // 1 + .9 + .9 x .5 + .9 x .5 x .2.
  EXPECT_DOUBLE_EQ(expected_tokens_per_round(std::vector<double>{0.9, 0.5, 0.2}), 2.44);
  EXPECT_DOUBLE_EQ(expected_tokens_per_round(std::vector<double>{}), 1.0);
  for (int g = 0; g < 12; ++g) {
    const std::vector<double> constant(static_cast<std::size_t>(g), 0.7);
    EXPECT_NEAR(expected_tokens_per_round(constant), expected_tokens_per_round(0.7, g), 1e-14);
    EXPECT_NEAR(expected_tokens_per_round(0.7, g), (1 - std::pow(0.7, g + 1)) / 0.3, 1e-14);
  }
}

TEST(Speculative, ArticleTableByItsOwnFormula) {
  for (const auto& row : golden::kSpeedups) {
    SCOPED_TRACE(::testing::Message() << "a = " << row.a << ", g = " << row.g);
    EXPECT_LE(relative_error(expected_tokens_per_round(row.a, row.g), row.tokens), 1e-14);
    EXPECT_LE(relative_error(speedup_no_reuse(row.a, row.g, row.c), row.no_reuse), 1e-14);
    EXPECT_LE(relative_error(speedup_article_reuse(row.a, row.g, row.c), row.article_reuse), 1e-14);
  }
}

TEST(Speculative, TheThreeAccountingsDifferAsStated) {
  // a = .8, g = 3, c = .25: E = 2.952; 1 + .75; 1 + .5; without bonus 2.44 over 1 - .2 + .75.
  EXPECT_NEAR(speedup_no_reuse(0.8, 3, 0.25), 2.952 / 1.75, 1e-14);
  EXPECT_NEAR(speedup_article_reuse(0.8, 3, 0.25), 2.952 / 1.5, 1e-14);
  EXPECT_NEAR(speedup_no_bonus(0.8, 3, 0.25, 0.2), 2.44 / 1.55, 1e-14);
  EXPECT_NEAR(speedup_measured(2.952, 3, 0.25, 1.1), 2.952 / 1.85, 1e-14);
  // One full pass as the verification gives the plain formula back.
  EXPECT_DOUBLE_EQ(speedup_measured(2.952, 3, 0.25, 1.0), speedup_no_reuse(0.8, 3, 0.25));
}

struct OptimumRow {
  double a;
  double c;
  int g;
  double speedup;
};

// RULES, section 5, whole.
constexpr OptimumRow kOptimumTable[] = {
    {0.5, 0.05, 3, 1.630},   {0.5, 0.1, 2, 1.458},   {0.5, 0.25, 1, 1.200},  {0.5, 0.5, 0, 1.000},
    {0.6, 0.05, 4, 1.921},   {0.6, 0.1, 3, 1.674},   {0.6, 0.25, 2, 1.307},  {0.6, 0.5, 1, 1.067},
    {0.7, 0.05, 6, 2.353},   {0.7, 0.1, 4, 1.981},   {0.7, 0.25, 2, 1.460},  {0.7, 0.5, 1, 1.133},
    {0.8, 0.05, 8, 3.092},   {0.8, 0.1, 6, 2.470},   {0.8, 0.25, 3, 1.687},  {0.8, 0.5, 2, 1.220},
    {0.9, 0.05, 13, 4.674},  {0.9, 0.1, 10, 3.431},  {0.9, 0.25, 6, 2.087},  {0.9, 0.5, 3, 1.376},
    {0.95, 0.05, 21, 6.600}, {0.95, 0.1, 15, 4.479}, {0.95, 0.25, 9, 2.469}, {0.95, 0.5, 5, 1.514},
};

TEST(Speculative, OptimumTableOfTheRules) {
  for (const OptimumRow& row : kOptimumTable) {
    SCOPED_TRACE(::testing::Message() << "a = " << row.a << ", c = " << row.c);
    const DraftOptimum best = best_draft_length(row.a, row.c);
    EXPECT_EQ(best.g, row.g);
    EXPECT_NEAR(best.speedup, row.speedup, 0.00051);
  }
}

TEST(Speculative, OptimumAgreesWithSearchAndLimits) {
  for (double a : {0.0, 0.3, 0.77, 0.99}) {
    for (double c : {0.01, 0.2, 0.9}) {
      const DraftOptimum best = best_draft_length(a, c);
      for (int g = 0; g <= 256; ++g) EXPECT_LE(speedup_no_reuse(a, g, c), best.speedup);
      EXPECT_GE(best.speedup, 1.0);
    }
  }
  EXPECT_EQ(best_draft_length(0.9, 0.05, 4).g, 4);
  EXPECT_EQ(best_draft_length(1.0, 0.1, 32).g, 32);
  EXPECT_EQ(best_draft_length(0.0, 0.0).g, 0);  // a tie everywhere: the smallest
}

TEST(Speculative, AcceptanceRates) {
  EXPECT_DOUBLE_EQ(acceptance_of_drafted(6, 8), 0.75);
  EXPECT_DOUBLE_EQ(acceptance_censored(6, 2), 0.75);
  EXPECT_THROW(acceptance_of_drafted(9, 8), std::invalid_argument);
  EXPECT_THROW(acceptance_of_drafted(0, 0), std::invalid_argument);
  EXPECT_THROW(acceptance_censored(0, 0), std::invalid_argument);
  // LayerSkip's .76 accepted / drafted at g = 8 is a = .939 (RULES, section 5).
  EXPECT_NEAR((expected_tokens_per_round(0.939, 8) - 1.0) / 8, 0.76, 0.005);
}

TEST(Speculative, TokenLayersAreCountedExactly) {
  const RoundWork reuse = round_work_reuse(3, 4, 12);
  EXPECT_EQ(reuse.shallow_token_layers, 16);
  EXPECT_EQ(reuse.deep_token_layers, 32);
  EXPECT_EQ(reuse.token_layers(), 4 * 12);
  EXPECT_EQ(reuse.head_rows, 7);
  const RoundWork plain = round_work_no_reuse(3, 4, 12);
  EXPECT_EQ(plain.token_layers(), 3 * 4 + 4 * 12);
  EXPECT_EQ(plain.head_rows, 7);
}

TEST(Speculative, RefusesBadInput) {
  EXPECT_THROW(expected_tokens_per_round(1.1, 2), std::invalid_argument);
  EXPECT_THROW(expected_tokens_per_round(std::nan(""), 2), std::invalid_argument);
  EXPECT_THROW(expected_tokens_per_round(0.5, -1), std::invalid_argument);
  EXPECT_THROW(expected_tokens_per_round(std::vector<double>{2.0}), std::invalid_argument);
  EXPECT_THROW(expected_tokens_no_bonus(0.5, 0), std::invalid_argument);
  EXPECT_THROW(speedup_no_reuse(0.5, 2, -0.1), std::invalid_argument);
  EXPECT_THROW(speedup_article_reuse(0.5, 0, 1.0), std::invalid_argument);  // a free round
  EXPECT_THROW(speedup_no_bonus(0.5, 2, 0.1, 1.1), std::invalid_argument);
  EXPECT_THROW(speedup_measured(2.0, 2, 0.1, 0.0), std::invalid_argument);
  EXPECT_THROW(speedup_measured(std::numeric_limits<double>::infinity(), 2, 0.1, 1.0),
               std::invalid_argument);
  EXPECT_THROW(best_draft_length(0.5, 0.1, -1), std::invalid_argument);
  EXPECT_THROW(round_work_reuse(0, 1, 2), std::invalid_argument);
  EXPECT_THROW(round_work_no_reuse(1, 3, 2), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::stats
