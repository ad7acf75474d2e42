#include "engine/coins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "engine/accept.h"
#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;
using testing::OwnedLaw;

std::array<std::uint64_t, 2> words_of(std::uint64_t seed, std::uint32_t c0, std::uint32_t c1,
                                      std::uint32_t c2, std::uint32_t c3) {
  return coin_words({seed, c0, c1, c2, static_cast<Purpose>(c3 >> 24), c3 & 0xffffffU});
}

// Known answers of philox4x32-10 published with Random123 (tests/kat_vectors).
TEST(Philox, KnownAnswers) {
  using Words = std::array<std::uint64_t, 2>;
  constexpr std::uint32_t kOnes = 0xffffffffU;
  EXPECT_EQ(words_of(0, 0, 0, 0, 0), (Words{0xe169c58d6627e8d5ULL, 0x9b00dbd8bc57ac4cULL}));
  EXPECT_EQ(words_of(0xffffffffffffffffULL, kOnes, kOnes, kOnes, kOnes),
            (Words{0x41c83b0e408f276dULL, 0x6d5451fda20bc7c6ULL}));
  EXPECT_EQ(words_of(0x299f31d0a4093822ULL, 0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U),
            (Words{0x94fdccebd16cfe09ULL, 0x24126ea15001e420ULL}));
}

TEST(Coins, NoTwoKeysShareAWord) {
  std::set<std::uint64_t> seen;
  std::size_t n = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32})
    for (std::uint32_t request = 0; request < 4; ++request)
      for (std::uint32_t round = 0; round < 4; ++round)
        for (std::uint32_t pos = 0; pos < 8; ++pos)
          for (std::uint32_t purpose = 1; purpose <= 7; ++purpose)
            for (std::uint32_t index = 0; index < 4; ++index)
              for (const std::uint64_t word :
                   coin_words({seed, request, round, pos, static_cast<Purpose>(purpose), index})) {
                seen.insert(word);
                ++n;
              }
  EXPECT_EQ(seen.size(), n);  // 21,504 words of 64 bits: a chance collision has probability 1e-11
}

TEST(Coins, OneRoundUsesEachCoinOnceAndRoundsShareOnlyTargets) {
  const RoundCoins a = round_coins(9, 2, 40, 5);
  const RoundCoins b = round_coins(9, 2, 42, 5);
  std::set<double> once;
  for (std::size_t i = 0; i < 5; ++i) once.insert({a.accept[i], a.residual[i], a.target[i]});
  once.insert({a.target[5], a.bonus});
  EXPECT_EQ(once.size(), 17U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(a.target[i + 2], b.target[i]);  // keyed by position alone
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_FALSE(once.contains(b.accept[i]));  // same positions, another round: other coins
    EXPECT_FALSE(once.contains(b.residual[i]));
  }
  EXPECT_EQ(a.first_pos, 40U);
  EXPECT_EQ(a.seed, 9U);
  EXPECT_EQ(a.request, 2U);
}

TEST(Coins, UniformHas53BitsAndNeverReachesOne) {
  EXPECT_EQ(uniform_of_word(0), 0.0);
  EXPECT_EQ(uniform_of_word(0x7ff), 0.0);
  EXPECT_EQ(uniform_of_word(0x800), 0x1p-53);
  EXPECT_EQ(uniform_of_word(~0ULL), 1.0 - 0x1p-53);
}

TEST(Coins, ExponentialIsNeverZeroNorInfinite) {
  for (const std::uint64_t word :
       {0ULL, 1ULL, 0xfffULL, 0x1000ULL, ~0ULL >> 1, ~0ULL - 0xfff, ~0ULL}) {
    EXPECT_GT(exponential_of_word(word), 0.0) << word;
    EXPECT_LT(exponential_of_word(word), 37.0) << word;  // 53 ln 2 = 36.7
  }
}

TEST(Coins, KeepTheirBits) {
  EXPECT_EQ(uniform({0x0123456789abcdefULL, 5, 6, 7, Purpose::kAccept, 0}), 0x1.1874abd10c136p-1);
}

// log p + Gumbel in long double, sharing only Philox with the engine.
TokenId coupled_oracle(const Law& law, std::uint64_t seed, std::uint32_t request,
                       std::uint32_t pos) {
  TokenId best = -1;
  long double best_score = -std::numeric_limits<long double>::infinity();
  for (int id = 0; id < law.n_ids; ++id) {
    if (!(law.weights[id] > 0.0)) continue;
    const auto words =
        coin_words({seed, request, 0, pos, Purpose::kCoupled, static_cast<std::uint32_t>(id) / 2});
    const long double u =
        (static_cast<long double>(words[static_cast<std::size_t>(id % 2)] >> 12) + 0.5L) * 0x1p-52L;
    const long double score =
        std::log(static_cast<long double>(law.prob(id))) - std::log(-std::log(u));
    if (score > best_score) {
      best_score = score;
      best = id;
    }
  }
  return best;
}

TEST(CoupledDraw, IsTheArgmaxOfLogProbPlusGumbel) {
  Numbers numbers(4);
  for (std::uint32_t i = 0; i < 600; ++i) {
    const int n = 1 + numbers.below(i % 3 == 0 ? 600 : 9);
    std::vector<double> w(static_cast<std::size_t>(n));
    for (double& v : w) v = numbers.uniform() < 0.3 ? 0.0 : std::exp(4.0 * numbers.spread());
    w[static_cast<std::size_t>(numbers.below(n))] = 1.0;
    const OwnedLaw owned(w);
    EXPECT_EQ(coupled_draw(owned.law, 12, i % 5, i), coupled_oracle(owned.law, 12, i % 5, i)) << n;
  }
}

TEST(CoupledDraw, KeepsItsIds) {
  std::vector<double> w(600);
  for (int i = 0; i < 600; ++i)
    w[static_cast<std::size_t>(i)] = exp_fixed(-0.01 * ((i * 37) % 600));
  const OwnedLaw owned(w);
  const TokenId ids[] = {504, 232, 130, 487, 472, 276, 228, 68, 399, 536, 55, 570};
  for (std::uint32_t pos = 0; pos < 12; ++pos)
    EXPECT_EQ(coupled_draw(owned.law, 2026, 3, pos), ids[pos]);
}

TEST(CoupledDraw, PointMassesAndLonePossibleIds) {
  EXPECT_EQ(coupled_draw(testing::point_law(9, 4), 1, 2, 3), 4);
  for (const int only : {0, 1, 7, 8}) {
    std::vector<double> w(9);
    w[static_cast<std::size_t>(only)] = 1e-300;
    const OwnedLaw owned(w);
    for (std::uint32_t pos = 0; pos < 50; ++pos)
      EXPECT_EQ(coupled_draw(owned.law, 1, 2, pos), only);
  }
}

double coupled_frequencies(const OwnedLaw& owned, const std::vector<double>& claimed) {
  std::vector<std::int64_t> counts(claimed.size());
  for (std::uint32_t pos = 0; pos < 200000; ++pos)
    ++counts[static_cast<std::size_t>(coupled_draw(owned.law, 31, pos % 7, pos))];
  return testing::chi_squared(counts, claimed);
}

TEST(CoupledDrawStatistical, FrequenciesFollowTheLaw) {
  Numbers numbers(6);
  const OwnedLaw owned = testing::random_law(17, 1.0, numbers);
  std::vector<double> probs = testing::probs_of(owned.law);
  EXPECT_LT(coupled_frequencies(owned, probs), 70.0);  // 16 degrees of freedom: p = 1e-8
  std::swap(probs[3], probs[4]);                       // the planted fault
  EXPECT_GT(coupled_frequencies(owned, probs), 70.0);
}

}  // namespace
}  // namespace specbench::engine
