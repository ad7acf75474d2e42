#include "engine/model/rope.h"

#include <gtest/gtest.h>

#include <cmath>

namespace specbench::engine {
namespace {

using Kind = RopeScaling::Kind;

RopeScaling scaling(Kind kind, double factor, int original_positions = 0) {
  RopeScaling s;
  s.kind = kind;
  s.factor = factor;
  s.original_positions = original_positions;
  return s;
}

void expect_frequencies(const RopeAngles& angles, const std::vector<double>& expected) {
  ASSERT_EQ(angles.frequencies.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(angles.frequencies[i] / expected[i], 1.0, 1e-14) << i;
}

TEST(Rope, PlainFrequenciesFallFromOneByPowers) {
  const RopeAngles angles = rope_angles(8, 10000.0, {});
  expect_frequencies(angles, {1.0, 0.1, 0.01, 0.001});
  EXPECT_EQ(angles.magnitude, 1.0);
  // Bit for bit what a backend computes without frequencies (ModelConfig).
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(angles.frequencies[static_cast<std::size_t>(i)], std::pow(10000.0, -2.0 * i / 8));
}

TEST(Rope, LinearScalesEveryFrequency) {
  expect_frequencies(rope_angles(8, 10000.0, scaling(Kind::kLinear, 4.0)),
                     {0.25, 0.025, 0.0025, 0.00025});
}

// Wavelengths of 6, 32, 167, 862, 4443, 22911, ... positions against 8192 / 4 and 8192 / 1: four
// pairs keep their frequency, the fifth is blended, three are divided by 8.
TEST(Rope, Llama3BlendsBetweenKeptAndScaled) {
  RopeScaling llama3 = scaling(Kind::kLlama3, 8.0, 8192);
  const RopeAngles angles = rope_angles(16, 500000.0, llama3);
  expect_frequencies(angles, {1.0, 0.19392274474868576, 0.03760603093086393, 0.007292664737217109,
                              0.0005248461609929547, 3.428102195952591e-05, 6.647869871181235e-06,
                              1.2891731721515574e-06});
  EXPECT_EQ(angles.magnitude, 1.0);
}

TEST(Rope, YarnScalesWhatTurnsSeldom) {
  // The ramp runs from pair 2 (floor of 2.016) to pair 6 (ceiling of 5.026).
  const RopeAngles angles = rope_angles(16, 10000.0, scaling(Kind::kYarn, 4.0, 2048));
  expect_frequencies(angles, {1.0, 0.31622776601683794, 0.1, 0.02569350598886808, 0.00625,
                              0.001383496476323666, 0.00025, 7.905694150420948e-05});
  EXPECT_NEAR(angles.magnitude, 1.138629436111989, 1e-15);
  // From 2 (2.949) to 5 (4.956), as of Qwen2.5's recipe for long texts.
  expect_frequencies(rope_angles(16, 1e6, scaling(Kind::kYarn, 4.0, 32768)),
                     {1.0, 0.1778279410038923, 0.03162277660168379, 0.004217559938927619, 0.0005,
                      4.445698525097307e-05, 7.905694150420949e-06, 1.4058533129758728e-06});
}

TEST(Rope, YarnTakesItsOptions) {
  RopeScaling yarn = scaling(Kind::kYarn, 4.0, 2048);
  yarn.beta_fast = yarn.beta_slow = 40.0;  // the ramp is one step, from 0 (0.911) to 1
  yarn.attention_factor = 0.5;
  const RopeAngles angles = rope_angles(8, 10000.0, yarn);
  expect_frequencies(angles, {1.0, 0.025, 0.0025, 0.00025});
  EXPECT_EQ(angles.magnitude, 0.5);
  EXPECT_EQ(rope_angles(8, 10000.0, scaling(Kind::kYarn, 1.0, 2048)).magnitude, 1.0);
  // A length so short that both ends of the ramp fall on pair 0 divides by no zero.
  expect_frequencies(rope_angles(8, 10000.0, scaling(Kind::kYarn, 4.0, 4)),
                     {1.0, 0.025, 0.0025, 0.00025});
}

}  // namespace
}  // namespace specbench::engine
