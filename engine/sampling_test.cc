#include "engine/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "engine/engine_test_support.h"
#include "engine/error.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

SamplingParams params(double temperature, int top_k = 0, double top_p = 1.0, double min_p = 0.0) {
  return {temperature, top_k, top_p, min_p};
}

std::vector<double> law_probs(const std::vector<float>& logits, const SamplingParams& p) {
  const int n = static_cast<int>(logits.size());
  LawBuffer room(1, n);
  return testing::probs_of(make_law(logits.data(), n, p, room.weights(0), room.chunk_sums(0)));
}

void renormalise(std::vector<double>& probs) {
  const double total = std::accumulate(probs.begin(), probs.end(), 0.0);
  for (double& v : probs) v /= total;
}

// The processors by definition: sort, cut, renormalise, one after another.
std::vector<double> naive(const std::vector<float>& logits, const SamplingParams& p) {
  const std::size_t n = logits.size();
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> probs(n);
  for (std::size_t i = 0; i < n; ++i)
    probs[i] = std::exp((static_cast<double>(logits[i]) - largest) / p.temperature);
  renormalise(probs);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (p.top_k > 0) {
    for (std::size_t rank = static_cast<std::size_t>(p.top_k); rank < n; ++rank)
      probs[order[rank]] = 0.0;
    renormalise(probs);
  }
  if (p.top_p < 1.0) {
    double mass = 0.0;
    for (const std::size_t id : order) {
      if (mass >= p.top_p) probs[id] = 0.0;
      mass += probs[id];
    }
    renormalise(probs);
  }
  const double top = *std::max_element(probs.begin(), probs.end());
  for (double& v : probs)
    if (v < p.min_p * top) v = 0.0;
  renormalise(probs);
  return probs;
}

void expect_same(const std::vector<float>& logits, const SamplingParams& p) {
  const std::vector<double> got = law_probs(logits, p);
  const std::vector<double> want = naive(logits, p);
  double total = 0.0;
  for (std::size_t id = 0; id < want.size(); ++id) {
    // Exponentials and sums of a few hundred terms in double: 1e-13 is some hundred ulps.
    EXPECT_NEAR(got[id], want[id], 1e-13 * want[id])
        << "id " << id << " of " << want.size() << ", T " << p.temperature << ", top-k " << p.top_k
        << ", top-p " << p.top_p << ", min-p " << p.min_p;
    total += got[id];
  }
  EXPECT_NEAR(total, 1.0, 1e-12);
}

TEST(MakeLaw, AgreesWithTheDefinitionOnRandomLogits) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Numbers numbers(seed);
    std::vector<float> logits(
        static_cast<std::size_t>(1 + numbers.below(seed % 5 == 0 ? 700 : 40)));
    for (float& v : logits)
      v = numbers.uniform() < 0.1 ? -kInf : static_cast<float>(3.0 * numbers.spread());
    logits[static_cast<std::size_t>(numbers.below(static_cast<int>(logits.size())))] = 1.5F;
    const int n = static_cast<int>(logits.size());
    const double temperature = 0.2 + 2.0 * numbers.uniform();
    const int k = 1 + numbers.below(n + 3);
    const double mass = 0.05 + 0.94 * numbers.uniform();
    const double share = 0.5 * numbers.uniform();
    for (const SamplingParams& p :
         {params(temperature), params(temperature, k), params(temperature, 0, mass),
          params(temperature, 0, 1.0, share), params(temperature, k, mass, share)})
      expect_same(logits, p);
  }
}

TEST(MakeLaw, AgreesWithTheDefinitionOnTiedLogits) {
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    Numbers numbers(seed);
    std::vector<float> logits(static_cast<std::size_t>(2 + numbers.below(300)));
    for (float& v : logits) v = static_cast<float>(numbers.below(3));
    const int k = 1 + numbers.below(static_cast<int>(logits.size()));
    expect_same(logits, params(0.9, k));
    expect_same(logits, params(0.9, 0, 0.03 + 0.9 * numbers.uniform()));
    expect_same(logits, params(0.9, k, 0.03 + 0.9 * numbers.uniform(), 0.3));
  }
}

std::vector<int> support(const std::vector<float>& logits, const SamplingParams& p) {
  const std::vector<double> probs = law_probs(logits, p);
  std::vector<int> ids;
  for (std::size_t id = 0; id < probs.size(); ++id)
    if (probs[id] > 0.0) ids.push_back(static_cast<int>(id));
  return ids;
}

std::vector<float> logs(const std::vector<double>& probs) {
  std::vector<float> logits;
  for (const double v : probs) logits.push_back(static_cast<float>(std::log(v)));
  return logits;
}

TEST(MakeLaw, TiesAtAnEdgeGoToTheSmallestId) {
  const std::vector<float> level(300, 2.0F);
  EXPECT_EQ(support(level, params(1.0, 3)), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(support({1, 1, 1, 1}, params(1.0, 0, 0.5)), (std::vector<int>{0, 1}));
  EXPECT_EQ(support({0, 5, 1, 5, 1, 1}, params(1.0, 3)), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(support({-0.0F, 0.0F, -0.0F}, params(1.0, 2)), (std::vector<int>{0, 1}));
}

// Fault Q10: another order of the processors keeps another set.
TEST(MakeLaw, ProcessorsComeInOneOrder) {
  // Top-k before top-p: .4/.7 = .57 alone reaches .5, while .4 of the whole would not.
  EXPECT_EQ(support(logs({0.4, 0.3, 0.2, 0.1}), params(1.0, 2, 0.5)), (std::vector<int>{0}));
  // Temperature before top-p: squared and renormalised, .5 becomes .66 and suffices for .6.
  EXPECT_EQ(support(logs({0.5, 0.3, 0.2}), params(0.5, 0, 0.6)), (std::vector<int>{0}));
  EXPECT_EQ(support(logs({0.5, 0.3, 0.2}), params(1.0, 0, 0.6)), (std::vector<int>{0, 1}));
  // Min-p compares with the likeliest after temperature.
  EXPECT_EQ(support(logs({0.5, 0.3, 0.2}), params(0.5, 0, 1.0, 0.5)), (std::vector<int>{0}));
  EXPECT_EQ(support(logs({0.5, 0.3, 0.2}), params(1.0, 0, 1.0, 0.5)), (std::vector<int>{0, 1}));
}

TEST(MakeLaw, GreedyIsAPointMassAtTheSmallestArgmax) {
  const std::vector<float> logits{1, 7, 7, -kInf};
  LawBuffer room(1, 4);
  const Law law = make_law(logits.data(), 4, params(0.0), room.weights(0), room.chunk_sums(0));
  EXPECT_TRUE(law.is_point());
  EXPECT_EQ(law.point, 1);
  EXPECT_EQ(testing::probs_of(law), (std::vector<double>{0, 1, 0, 0}));
}

TEST(MakeLaw, MinusInfinityIsImpossibleAndALoneIdIsCertain) {
  EXPECT_EQ(law_probs({-kInf, 3, -kInf}, params(0.7)), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(law_probs({-2000, 0}, params(1.0)), (std::vector<double>{0, 1}));  // below e^-708: zero
}

std::string violation(const std::vector<float>& logits, double temperature) {
  try {
    (void)law_probs(logits, params(temperature));
  } catch (const StateViolation& error) {
    return error.what();
  }
  return "no error";
}

TEST(MakeLaw, RefusesRowsThatAreNotFinite) {
  for (const double temperature : {0.0, 1.0}) {
    EXPECT_EQ(violation({1, kNan, 2}, temperature), "A row of logits is not finite: id 1 has nan.");
    EXPECT_EQ(violation({kNan}, temperature), "A row of logits is not finite: id 0 has nan.");
    EXPECT_EQ(violation({1, 2, kInf}, temperature), "A row of logits is not finite: id 2 has inf.");
    EXPECT_EQ(violation({-kInf, kInf, kNan}, temperature),
              "A row of logits is not finite: id 1 has inf.");
    EXPECT_EQ(violation({-kInf, -kInf}, temperature),
              "A row of logits is -inf everywhere: no token is possible.");
  }
}

std::string refusal(const SamplingParams& p) {
  try {
    validate(p);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Validate, NamesTheOptionItsValueAndItsRange) {
  EXPECT_EQ(refusal(params(-1)), "--temperature is -1; it must be 0 (greedy) to 100.");
  EXPECT_EQ(refusal(params(100.5)), "--temperature is 100.5; it must be 0 (greedy) to 100.");
  EXPECT_EQ(refusal(params(std::nan(""))), "--temperature is nan; it must be 0 (greedy) to 100.");
  EXPECT_EQ(refusal(params(1e-7)),
            "--temperature is 1e-07; it must be 0 (greedy) or at least 0.001.");
  EXPECT_EQ(refusal(params(1, -1)), "--top-k is -1; it must be 0 (off) or more.");
  EXPECT_EQ(refusal(params(1, 0, 0.0)), "--top-p is 0; it must be above 0 and at most 1 (off).");
  EXPECT_EQ(refusal(params(1, 0, 1.01)),
            "--top-p is 1.01; it must be above 0 and at most 1 (off).");
  EXPECT_EQ(refusal(params(1, 0, std::nan(""))),
            "--top-p is nan; it must be above 0 and at most 1 (off).");
  EXPECT_EQ(refusal(params(1, 0, 1, -0.5)), "--min-p is -0.5; it must be 0 (off) to 1.");
  EXPECT_EQ(refusal(params(1, 0, 1, 2)), "--min-p is 2; it must be 0 (off) to 1.");
  for (const SamplingParams& p : {params(0), params(0.001), params(100), params(1, 5, 0.01, 1.0)})
    EXPECT_EQ(refusal(p), "accepted");
}

template <typename Value>
std::string refusal_with(Value SamplingParams::*field, Value value) {
  SamplingParams p;
  p.*field = value;
  return refusal(p);
}

TEST(Validate, NamesTheProcessors) {
  EXPECT_EQ(refusal_with(&SamplingParams::min_tokens, -1),
            "--min-tokens is -1; it must be 0 (off) or more.");
  for (const double penalty : {0.0, -1.0, 101.0, std::nan(""), static_cast<double>(kInf)})
    EXPECT_NE(refusal_with(&SamplingParams::repetition_penalty, penalty)
                  .find("; it must be 0.01 to 100 (1: off)."),
              std::string::npos)
        << penalty;
  EXPECT_EQ(refusal_with(&SamplingParams::presence_penalty, -100.5),
            "--presence-penalty is -100.5; it must be -100 to 100 (0: off).");
  EXPECT_EQ(refusal_with(&SamplingParams::presence_penalty, std::nan("")),
            "--presence-penalty is nan; it must be -100 to 100 (0: off).");
  EXPECT_EQ(refusal_with(&SamplingParams::frequency_penalty, static_cast<double>(kInf)),
            "--frequency-penalty is inf; it must be -100 to 100 (0: off).");
}

// A bias that is not finite would make a row unusable in the middle of a run.
TEST(Validate, BiasesAreFinite) {
  const auto bias = [](double value) {
    return refusal_with(&SamplingParams::logit_bias, {{3, 1.0}, {4, value}});
  };
  EXPECT_EQ(bias(std::nan("")), "--logit-bias is nan; it must be -1000 to 1000; --ban forbids.");
  EXPECT_EQ(bias(static_cast<double>(kInf)),
            "--logit-bias is inf; it must be -1000 to 1000; --ban forbids.");
  EXPECT_EQ(bias(static_cast<double>(-kInf)),
            "--logit-bias is -inf; it must be -1000 to 1000; --ban forbids.");
  EXPECT_EQ(bias(-1000.5), "--logit-bias is -1000.5; it must be -1000 to 1000; --ban forbids.");
  EXPECT_EQ(bias(-1000.0), "accepted");
}

}  // namespace
}  // namespace specbench::engine
