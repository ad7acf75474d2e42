// The block rule on numbers worked out by hand, against the token rule, and where rounding leaves
// nothing. That it is exact is shown by enumeration (suites/enumeration_test.cc).
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "engine/accept.h"
#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;
using testing::OwnedLaw;

constexpr double kLastCoin = 1.0 - 0x1p-53;

struct Rows {
  std::vector<OwnedLaw> drafts, targets;  // one target more

  Acceptance judge(AcceptRule rule, const std::vector<TokenId>& drafted,
                   const std::vector<double>& accept, double residual, double bonus) const {
    RoundCoins coins;
    std::copy(accept.begin(), accept.end(), coins.accept.begin());
    coins.residual.fill(residual);
    coins.bonus = bonus;
    std::vector<Law> q, p;
    for (const OwnedLaw& law : drafts) q.push_back(law.law);
    for (const OwnedLaw& law : targets) p.push_back(law.law);
    OwnedLaw room(std::vector<double>(static_cast<std::size_t>(p.front().n_ids)));
    return rule({drafted, q, p}, coins, {room.weights.data(), room.sums.data()});
  }
};

void expect(const Acceptance& a, int n_accepted, TokenId final_token, Source source) {
  EXPECT_EQ(a.n_accepted, n_accepted);
  EXPECT_EQ(a.final_token, final_token);
  EXPECT_EQ(a.source, source);
  EXPECT_FALSE(a.residual_was_empty);
}

Rows rows_of(const std::vector<std::vector<double>>& drafts,
             const std::vector<std::vector<double>>& targets) {
  Rows rows;
  for (const auto& probs : drafts) rows.drafts.emplace_back(probs);
  for (const auto& probs : targets) rows.targets.emplace_back(probs);
  return rows;
}

Rows hand_rows() {
  return rows_of({{0.25, 0.5, 0.25}, {0.5, 0.25, 0.25}},
                 {{0.5, 0.25, 0.25}, {0.25, 0.25, 0.5}, {0.25, 0.5, 0.25}});
}

// Drafted 1, 0: P_1 = .25/.5 = .5, P_2 = .5 x .25/.5 = .25. Half the target of row 1 nowhere
// exceeds its draft: E_1 = 0, h_1 = 0. So two tokens stand iff u_2 < .25, else none; then token 0,
// the only one with p > q in row 0.
TEST(AcceptBlock, TheLargestThatPassesDecides) {
  const Rows rows = hand_rows();
  for (const double first : {0.0, 0.5, kLastCoin}) {
    const std::vector<TokenId> drafted{1, 0};
    expect(rows.judge(accept_block, drafted, {first, 0.0}, 0.9, 0.3), 2, 1, Source::kBonus);
    expect(rows.judge(accept_block, drafted, {first, 0.2499}, 0.9, 0.2), 2, 0, Source::kBonus);
    expect(rows.judge(accept_block, drafted, {first, 0.25}, 0.0, 0.3), 0, 0, Source::kResidual);
    expect(rows.judge(accept_block, drafted, {first, kLastCoin}, 0.9, 0.3), 0, 0,
           Source::kResidual);
  }
}

// Drafted 0, 0: P_1 = min(2, 1) = 1, P_2 = .25/.5 = .5. E_1 = .25 (token 2 alone), 1 - P_1 = 0:
// h_1 = 1. Two stand iff u_2 < .5, else one.
TEST(AcceptBlock, AFirstTokenWithAllItsMassAlwaysStands) {
  const Rows rows = hand_rows();
  expect(rows.judge(accept_block, {0, 0}, {kLastCoin, 0.4999}, 0.9, 0.9), 2, 2, Source::kBonus);
  expect(rows.judge(accept_block, {0, 0}, {kLastCoin, 0.5}, 0.0, 0.0), 1, 2, Source::kResidual);
  // Drafted 2, 2: P_1 = 1, P_2 = min(.5/.25, 1) = 1.
  expect(rows.judge(accept_block, {2, 2}, {kLastCoin, kLastCoin}, 0, 0.8), 2, 2, Source::kBonus);
}

// P_1 = .5; half of (.75, .25, 0) less (.25, 0, .75) leaves (.125, .125, 0): E_1 = .25, h_1 = .25 /
// (.25 + .5) = 1/3, and tokens 0 and 1 alike. The token rule's residual there would be (.5, .25,
// 0), two thirds for token 0: fault R9.
TEST(AcceptBlock, TheResidualIsThatOfTheScaledTarget) {
  const Rows rows = rows_of({{0.25, 0.5, 0.25}, {0.25, 0.0, 0.75}},
                            {{0.5, 0.25, 0.25}, {0.75, 0.25, 0.0}, {0.25, 0.5, 0.25}});
  const std::vector<TokenId> drafted{1, 2};  // P_2 = 0: never both
  expect(rows.judge(accept_block, drafted, {0.333, 0.0}, 0.499, 0), 1, 0, Source::kResidual);
  expect(rows.judge(accept_block, drafted, {0.333, 0.0}, 0.501, 0), 1, 1, Source::kResidual);
  expect(rows.judge(accept_block, drafted, {0.334, 0.0}, 0.501, 0), 0, 0, Source::kResidual);
  expect(rows.judge(accept_token, drafted, {0.333, 0.999}, 0.6, 0), 1, 0, Source::kResidual);
}

TEST(AcceptBlock, NoDraftIsAPlainStep) {
  const Rows rows = rows_of({}, {{0.5, 0.25, 0.25}});
  expect(rows.judge(accept_block, {}, {}, 0.0, 0.6), 0, 1, Source::kBonus);
  expect(rows.judge(accept_block, {}, {}, 0.0, kLastCoin), 0, 2, Source::kBonus);
}

TEST(AcceptBlock, OneDraftIsJudgedAsByTheTokenRule) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Numbers numbers(seed);
    Rows rows;
    rows.drafts.push_back(testing::random_law(7, 1.5, numbers));
    rows.targets.push_back(testing::random_law(7, 1.5, numbers));
    rows.targets.push_back(testing::random_law(7, 1.5, numbers));
    const std::vector<TokenId> drafted{numbers.below(7)};
    const double u = numbers.uniform();
    const double v = numbers.uniform();
    const Acceptance token = rows.judge(accept_token, drafted, {u}, v, 1 - v);
    expect(rows.judge(accept_block, drafted, {u}, v, 1 - v), token.n_accepted, token.final_token,
           token.source);
  }
}

// Row 0 has equal laws (P_1 = 1). Row 1 too, but for the last bit of the draft's sum: P_2 is a
// rounding below 1 and E_1 = 0, so h_1 = 0/0, which is 1.
TEST(AcceptBlock, NothingOverNothingStandsAndTheTargetIsDrawn) {
  Rows rows = rows_of({{0.5, 0.5}, {0.25, 0.75}}, {{0.5, 0.5}, {0.25, 0.75}, {0.5, 0.5}});
  rows.drafts[1].law.total = 1.0 - 0x1p-53;
  const Acceptance a = rows.judge(accept_block, {0, 1}, {kLastCoin, kLastCoin}, 0.1, 0.0);
  EXPECT_EQ(a.n_accepted, 1);
  EXPECT_EQ(a.final_token, 0);
  EXPECT_TRUE(a.residual_was_empty);
}

// Measure of the coins u in [0, 1) for which `is_low` holds: those below some point.
double share(const std::function<bool(double)>& is_low) {
  if (is_low(kLastCoin)) return 1.0;
  if (!is_low(0.0)) return 0.0;
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 55; ++i) {
    const double middle = low + (high - low) / 2;
    (is_low(middle) ? low : high) = middle;
  }
  return high;
}

// Tokens accepted of two, on average over drafts and coins: exact.
double mean_accepted(const Rows& rows, AcceptRule rule, bool is_block) {
  double mean = 0.0;
  for (TokenId x = 0; x < 3; ++x)
    for (TokenId y = 0; y < 3; ++y) {
      const auto n = [&](double u, double v) {
        return rows.judge(rule, {x, y}, {u, v}, 0.5, 0.5).n_accepted;
      };
      const double weight = rows.drafts[0].law.prob(x) * rows.drafts[1].law.prob(y);
      if (is_block) {
        const double both = share([&](double v) { return n(kLastCoin, v) == 2; });
        const double one = share([&](double u) { return n(u, kLastCoin) >= 1; });
        mean += weight * (2 * both + (1 - both) * one);
      } else {
        const double one = share([&](double u) { return n(u, kLastCoin) >= 1; });
        mean += weight * one * (1 + share([&](double v) { return n(0.0, v) == 2; }));
      }
    }
  return mean;
}

TEST(AcceptBlock, AcceptsAtLeastAsManyAsTheTokenRule) {
  int n_more = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Numbers numbers(seed);
    Rows rows;
    for (int i = 0; i < 2; ++i) rows.drafts.push_back(testing::random_law(3, 1.5, numbers));
    for (int i = 0; i < 3; ++i) rows.targets.push_back(testing::random_law(3, 1.5, numbers));
    const double token = mean_accepted(rows, accept_token, false);
    const double block = mean_accepted(rows, accept_block, true);
    EXPECT_GE(block, token - 1e-14) << seed;
    if (block > token + 1e-3) ++n_more;
  }
  EXPECT_GE(n_more, 20);
}

}  // namespace
}  // namespace specbench::engine
