#include "engine/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;
using testing::OwnedLaw;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Largest relative error of `f` against long double libm over [-708, 0], evenly and near zero.
template <typename F>
double worst_exp_error(F f) {
  constexpr int kPoints = 400000;
  double worst = 0.0;
  for (int i = 0; i <= kPoints; ++i) {
    const double x = i % 2 == 0 ? -708.0 * i / kPoints : -std::exp(-i / 8000.0);
    const long double exact = std::exp(static_cast<long double>(x));
    worst = std::max(worst, static_cast<double>(std::fabs((f(x) - exact) / exact)));
  }
  return worst;
}

TEST(ExpFixed, StaysWithinItsStatedError) { EXPECT_LT(worst_exp_error(exp_fixed), 0x1p-51); }

TEST(ExpFixed, ErrorCheckSeesAWrongLastTerm) {
  EXPECT_GT(worst_exp_error([](double x) { return exp_fixed(x) * (1.0 + 0x1p-50); }), 0x1p-51);
}

TEST(ExpFixed, EndsOfItsRange) {
  EXPECT_EQ(exp_fixed(0.0), 1.0);
  EXPECT_EQ(exp_fixed(-0.0), 1.0);
  EXPECT_GT(exp_fixed(-708.0), 0.0);
  EXPECT_EQ(exp_fixed(std::nextafter(-708.0, -800.0)), 0.0);
  EXPECT_EQ(exp_fixed(-1e300), 0.0);
  EXPECT_EQ(exp_fixed(-kInfinity), 0.0);
}

TEST(MinusLogFixed, StaysWithinItsStatedError) {
  constexpr int kPoints = 400000;
  double relative = 0.0;
  double absolute = 0.0;
  for (int i = 1; i < kPoints; ++i) {
    const double u = i % 2 == 0 ? static_cast<double>(i) / kPoints : std::exp(-i / 570.0);
    const long double exact = -std::log(static_cast<long double>(u));
    const auto error = static_cast<double>(std::fabs(minus_log_fixed(u) - exact));
    double& worst = u < 0.9 ? relative : absolute;
    worst = std::max(worst, u < 0.9 ? error / static_cast<double>(exact) : error);
  }
  EXPECT_LT(relative, 0x1p-49);
  EXPECT_LT(absolute, 0x1p-52);
  EXPECT_EQ(minus_log_fixed(1.0), 0.0);
  EXPECT_GT(minus_log_fixed(1.0 - 0x1p-53), 0.0);
}

// Every sampled id depends on these bits: a change of the arithmetic shows here and nowhere sooner.
TEST(LawGolden, ExpKeepsItsBits) {
  const struct {
    double x;
    std::uint64_t bits;
  } golden[] = {
      {-0x1.999999999999ap-4, 0x3fecf46d99d52b3aULL},
      {-0x1.62e42fead449cp-2, 0x3fe6a09e669a7145ULL},
      {-0x1p+0, 0x3fd78b56362cef38ULL},
      {-0x1.921f9f01b866ep+1, 0x3fa62026546050afULL},
      {-0x1.4p+4, 0x3e21b48655f37267ULL},
      {-0x1.edd2f1a9fbe77p+6, 0x34cda9fb9e4ee720ULL},
      {-0x1.61f3333333333p+9, 0x001a4904f4342894ULL},
  };
  for (const auto& g : golden)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(exp_fixed(g.x)), g.bits) << g.x;
}

TEST(LawGolden, MinusLogKeepsItsBits) {
  const struct {
    double u;
    std::uint64_t bits;
  } golden[] = {
      {0x1p-53, 0x40425e4f7b2737faULL},
      {0x1.56e1fc2f8f359p-997, 0x4085963447f87fb5ULL},
      {0x1.999999999999ap-4, 0x40026bb1bbb55515ULL},
      {0x1p-1, 0x3fe62e42fefa39efULL},
      {0x1.6a09e65dc27dfp-1, 0x3fd62e4300c77ae8ULL},
      {0x1.ccccccccccccdp-1, 0x3fbaf8e8210a415cULL},
      {0x1.ffffde7210be9p-1, 0x3eb0c6f82d74d230ULL},
      {0x1.fffffffffffffp-1, 0x3ca0000000000000ULL},
  };
  for (const auto& g : golden)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(minus_log_fixed(g.u)), g.bits) << g.u;
}

OwnedLaw golden_law() {
  std::vector<double> weights(600);
  for (int i = 0; i < 600; ++i)
    weights[static_cast<std::size_t>(i)] = exp_fixed(-0.01 * ((i * 37) % 600));
  return OwnedLaw(weights);
}

TEST(LawGolden, SumsKeepTheirBits) {
  const OwnedLaw owned = golden_law();
  EXPECT_EQ(std::bit_cast<std::uint64_t>(owned.law.total), 0x4059101c203f21e1ULL);
  const std::uint64_t chunks[] = {0x40458b87166e5a39ULL, 0x4045aa4cac3a4953ULL,
                                  0x402ba991f75680d9ULL};
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(owned.sums[c]), chunks[c]);
}

TEST(LawGolden, DrawsKeepTheirIds) {
  const OwnedLaw owned = golden_law();
  const TokenId ids[] = {0,   33,  66,  105, 146, 180, 214, 260,
                         293, 332, 373, 407, 440, 487, 520, 556};
  for (int k = 0; k < 16; ++k) EXPECT_EQ(draw(owned.law, k / 16.0), ids[k]) << k;
}

// The butterfly of RULES section 1 written down plainly.
double butterfly(std::vector<double> w) {
  for (std::size_t step = 128; step >= 1; step /= 2)
    for (std::size_t i = 0; i < step; ++i) w[i] += w[i + step];
  return w[0];
}

TEST(ChunkSum, FollowsTheWrittenOrder) {
  int n_differing_from_plain_order = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Numbers numbers(seed);
    std::vector<double> w(kChunk);
    for (double& v : w) v = std::exp(20.0 * numbers.spread());
    EXPECT_EQ(chunk_sum(w.data()), butterfly(w));
    double plain = 0.0;
    for (const double v : w) plain += v;
    n_differing_from_plain_order += plain != butterfly(w) ? 1 : 0;
  }
  EXPECT_GT(n_differing_from_plain_order, 50);  // the planted fault: another order gives other bits
}

TEST(SumChunks, AddsChunksLeftToRight) {
  Numbers numbers(5);
  std::vector<double> w(1024);
  for (std::size_t i = 0; i < 1000; ++i) w[i] = std::exp(20.0 * numbers.spread());
  std::vector<double> sums(4);
  double expected = 0.0;
  for (std::size_t c = 0; c < 4; ++c)
    expected += butterfly({w.begin() + static_cast<std::ptrdiff_t>(c * 256),
                           w.begin() + static_cast<std::ptrdiff_t>(c * 256 + 256)});
  EXPECT_EQ(sum_chunks(w.data(), 1000, sums.data()), expected);
}

TEST(ResidualLaw, MakesUpExactlyWhatAcceptanceLacks) {
  Numbers numbers(11);
  for (const int n : {2, 3, 17, 256, 700, 4096}) {
    for (const double scale : {0.1, 1.0, 8.0}) {
      const OwnedLaw target = testing::random_law(n, scale, numbers);
      const OwnedLaw draft = testing::random_law(n, scale, numbers);
      OwnedLaw room(std::vector<double>(static_cast<std::size_t>(n)));
      const Law r = residual_law(target.law, draft.law, {room.weights.data(), room.sums.data()});
      double accepted = 0.0;
      for (int id = 0; id < n; ++id) accepted += std::min(target.law.prob(id), draft.law.prob(id));
      double l1 = 0.0;
      for (int id = 0; id < n; ++id)
        l1 += std::fabs(std::min(target.law.prob(id), draft.law.prob(id)) +
                        (1.0 - accepted) * r.prob(id) - target.law.prob(id));
      EXPECT_LT(l1, 2e-15) << n << " ids, scale " << scale;  // a few ulps of 1
    }
  }
}

TEST(ResidualLaw, OfPointMasses) {
  OwnedLaw soft({0.25, 0.0, 0.75});
  OwnedLaw room({0, 0, 0});
  const auto residual = [&](const Law& target, const Law& draft) {
    return residual_law(target, draft, {room.weights.data(), room.sums.data()});
  };
  EXPECT_EQ(testing::probs_of(residual(soft.law, testing::point_law(3, 2))),
            (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(testing::probs_of(residual(testing::point_law(3, 0), soft.law)),
            (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(testing::probs_of(residual(testing::point_law(3, 1), testing::point_law(3, 2))),
            (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(residual(soft.law, soft.law).total, 0.0);
}

TEST(Argmax, SmallestIdAtATie) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> ties{1.0F, 3.0F, 3.0F, 2.0F, 3.0F};
  const std::vector<float> zeros{-0.0F, 0.0F};
  const std::vector<float> last{-kInf, -kInf, -5.0F};
  const std::vector<float> none{-kInf, -kInf};
  EXPECT_EQ(argmax(ties.data(), 5), 1);
  EXPECT_EQ(argmax(zeros.data(), 2), 0);
  EXPECT_EQ(argmax(last.data(), 3), 2);
  EXPECT_EQ(argmax(none.data(), 2), 0);
}

TEST(OrderedKey, OrdersLikeTheFloat) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float ascending[] = {-kInf,  -3e38F, -2.0F,      -1.0F, -1e-40F, 0.0F,
                             1e-45F, 1.0F,   1.0000001F, 3e38F, kInf};
  for (std::size_t i = 1; i < std::size(ascending); ++i)
    EXPECT_LT(ordered_key(ascending[i - 1]), ordered_key(ascending[i])) << ascending[i];
  EXPECT_EQ(ordered_key(-0.0F), ordered_key(0.0F));
  Numbers numbers(3);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<float>(numbers.spread());
    const auto b = static_cast<float>(numbers.spread());
    EXPECT_EQ(a < b, ordered_key(a) < ordered_key(b)) << a << " " << b;
  }
}

}  // namespace
}  // namespace specbench::engine
