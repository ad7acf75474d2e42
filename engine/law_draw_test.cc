// The inverse-CDF draw: on every law and coin it returns an id that can happen.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/engine_test_support.h"
#include "engine/law.h"

namespace specbench::engine {
namespace {

using testing::Numbers;
using testing::OwnedLaw;

constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
constexpr double kLastCoin = 1.0 - 0x1p-53;

std::vector<double> zeros(int n) { return std::vector<double>(static_cast<std::size_t>(n)); }

std::vector<double> with(std::vector<double> w,
                         std::initializer_list<std::pair<int, double>> entries) {
  for (const auto& [id, weight] : entries) w[static_cast<std::size_t>(id)] = weight;
  return w;
}

std::vector<OwnedLaw> nasty_laws() {
  std::vector<OwnedLaw> laws;
  for (const int n : {1, 2, 255, 256, 257, 511, 512, 513, 700}) {
    laws.emplace_back(with(zeros(n), {{n - 1, 1.0}}));        // only the last id
    laws.emplace_back(with(zeros(n), {{0, 1.0}}));            // only the first
    laws.emplace_back(with(zeros(n), {{n / 2, kDenormal}}));  // only one, and hardly that
    laws.emplace_back(std::vector<double>(static_cast<std::size_t>(n), kDenormal));
    laws.emplace_back(std::vector<double>(static_cast<std::size_t>(n), 0.1));  // 0.1 sums inexactly
    if (n > 4) laws.emplace_back(with(zeros(n), {{1, 1.0}, {n - 2, 1e-17}}));  // zeros at both ends
    if (n > 4) laws.emplace_back(with(zeros(n), {{1, 1e-300}, {n / 2, 1.0}, {n - 2, 1e-300}}));
  }
  for (const int n : {512, 513}) {
    laws.emplace_back(with(zeros(n), {{255, 0.3}, {256, 0.7}}));
    laws.emplace_back(with(zeros(n), {{254, 0.1}, {257, 0.2}}));
  }
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Numbers numbers(seed);
    std::vector<double> w = zeros(300 + numbers.below(500));
    for (double& v : w) v = numbers.uniform() < 0.7 ? 0.0 : std::exp(30.0 * numbers.spread());
    w[static_cast<std::size_t>(numbers.below(static_cast<int>(w.size())))] = 1.0;
    laws.emplace_back(w);
  }
  return laws;
}

TEST(Draw, NeverReturnsAnIdOfProbabilityZero) {
  Numbers numbers(1);
  for (const OwnedLaw& owned : nasty_laws()) {
    std::vector<double> coins{0.0, kDenormal, 0x1p-53, 0.5, kLastCoin};
    for (int i = 0; i < 300; ++i) coins.push_back(numbers.uniform());
    for (int i = 0; i < 50; ++i) coins.push_back(1.0 - 0x1p-53 * (1 + numbers.below(64)));
    for (const double u : coins) {
      const TokenId id = draw(owned.law, u);
      ASSERT_TRUE(id >= 0 && id < owned.law.n_ids)
          << id << " of " << owned.law.n_ids << " at u = " << u;
      ASSERT_GT(owned.law.weights[id], 0.0) << id << " of " << owned.law.n_ids << " at u = " << u;
    }
  }
}

// Fault R5: a walk that runs out returns the last id, which may be impossible.
TEST(Draw, FallsThroughToTheLastPossibleId) {
  std::vector<double> weights = with(zeros(600), {{3, 0.25}, {300, 0.5}, {310, 0.25}});
  OwnedLaw owned(weights);
  // A total larger than the chunks hold, as rounding might leave it, takes the walk past every
  // chunk.
  owned.law.total = 2.0;
  EXPECT_EQ(draw(owned.law, 0.9), 310);
  // A chunk sum larger than its ids takes the walk past the ids of a chunk, but not into the next.
  OwnedLaw chunk(weights);
  chunk.sums[0] = 0.75;
  EXPECT_EQ(draw(chunk.law, 0.5), 3);
}

TEST(Draw, WalksIdsInOrderAndHitsBoundariesExactly) {
  const OwnedLaw owned({0.25, 0.0, 0.5, 0.25});
  EXPECT_EQ(draw(owned.law, 0.0), 0);
  EXPECT_EQ(draw(owned.law, std::nextafter(0.25, 0.0)), 0);
  EXPECT_EQ(draw(owned.law, 0.25), 2);
  EXPECT_EQ(draw(owned.law, std::nextafter(0.75, 0.0)), 2);
  EXPECT_EQ(draw(owned.law, 0.75), 3);
  EXPECT_EQ(draw(owned.law, kLastCoin), 3);
}

TEST(Draw, OfAPointMass) {
  for (const double u : {0.0, 0.5, kLastCoin}) EXPECT_EQ(draw(testing::point_law(9, 4), u), 4);
}

double frequencies(const OwnedLaw& owned, const std::vector<double>& claimed, int n_draws) {
  std::vector<std::int64_t> counts(claimed.size());
  Numbers numbers(77);
  for (int i = 0; i < n_draws; ++i)
    ++counts[static_cast<std::size_t>(draw(owned.law, numbers.uniform()))];
  return testing::chi_squared(counts, claimed);
}

TEST(DrawStatistical, FrequenciesFollowTheLaw) {
  Numbers numbers(8);
  const OwnedLaw owned = testing::random_law(700, 0.7, numbers);
  // 699 degrees of freedom: mean 699, standard deviation 37; the bound lies 8 deviations above.
  EXPECT_LT(frequencies(owned, testing::probs_of(owned.law), 300000), 1000.0);
}

TEST(DrawStatistical, FrequencyCheckSeesAnIdHeldTooLikely) {
  Numbers numbers(8);
  const OwnedLaw owned = testing::random_law(700, 0.7, numbers);
  std::vector<double> claimed = testing::probs_of(owned.law);
  claimed[0] += 0.01;  // the planted fault: a drift of .01
  for (double& p : claimed) p /= 1.01;
  EXPECT_GT(frequencies(owned, claimed, 300000), 1000.0);
}

}  // namespace
}  // namespace specbench::engine
