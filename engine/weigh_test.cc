// Weights must have the bits of exp_fixed on every vector target: ids that are sampled depend on
// them.
#include "engine/weigh.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "engine/engine_test_support.h"
#include "engine/law.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr float kInf = std::numeric_limits<float>::infinity();

// All targets that this binary has code for and this machine can run; the normal choice again at
// the end.
class AllTargets {
 public:
  AllTargets() : targets_(hwy::SupportedAndGeneratedTargets()) {}
  ~AllTargets() { hwy::SetSupportedTargetsForTest(0); }
  AllTargets(const AllTargets&) = delete;
  AllTargets& operator=(const AllTargets&) = delete;
  const std::vector<std::int64_t>& list() const { return targets_; }

 private:
  std::vector<std::int64_t> targets_;
};

int n_differing_bits(const std::vector<float>& logits, double inverse_temperature, double planted) {
  const int n = static_cast<int>(logits.size());
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weights(static_cast<std::size_t>(padded_size(n)), -1.0);
  weigh(logits.data(), n, largest, inverse_temperature, weights.data());
  int n_differing = 0;
  for (int id = 0; id < padded_size(n); ++id) {
    const auto at = static_cast<std::size_t>(id);
    double want = 0.0;
    if (id < n)
      want = exp_fixed((static_cast<double>(logits[at]) - static_cast<double>(largest)) *
                       inverse_temperature * planted);
    n_differing +=
        std::bit_cast<std::uint64_t>(weights[at]) != std::bit_cast<std::uint64_t>(want) ? 1 : 0;
  }
  return n_differing;
}

TEST(Weigh, HasTheBitsOfTheScalarOnEveryTarget) {
  const AllTargets targets;
  ASSERT_GE(targets.list().size(), 2U) << "only one vector target: nothing is compared";
  for (const std::int64_t target : targets.list()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const int n : {1, 2, 7, 255, 256, 257, 1000, 4096}) {
      Numbers numbers(static_cast<std::uint64_t>(n));
      std::vector<float> logits(static_cast<std::size_t>(n));
      for (float& v : logits)
        v = numbers.uniform() < 0.05 ? -kInf : static_cast<float>(20.0 * numbers.spread());
      logits[static_cast<std::size_t>(numbers.below(n))] = 1.0F;
      logits[static_cast<std::size_t>(n - 1)] = -0.0F;
      for (const double t : {1.0, 0.7, 0.001, 100.0})
        EXPECT_EQ(n_differing_bits(logits, 1.0 / t, 1.0), 0)
            << hwy::TargetName(target) << ", " << n << ", T " << t;
    }
  }
}

TEST(Weigh, ComparisonSeesOneBit) {
  std::vector<float> logits(600);
  for (std::size_t i = 0; i < 600; ++i) logits[i] = static_cast<float>(i) * -0.01F;
  EXPECT_EQ(n_differing_bits(logits, 1.0, 1.0), 0);
  EXPECT_GT(n_differing_bits(logits, 1.0, 1.0 + 0x1p-52), 100);  // one bit in the argument
}

}  // namespace
}  // namespace specbench::engine
