// The kernels against the reference functions, over the shapes that have edges.
#include "engine/cpu/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "engine/cpu/backend_test_support.h"
#include "engine/cpu/head_product_test_support.h"
#include "engine/cpu/reference_backend.h"
#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr int kMost = 64;

testing::HeadProduct random_product(int n_out, int n_in) {
  Numbers numbers(static_cast<std::uint64_t>(n_out * 1000 + n_in));
  return {testing::random_matrix(n_out, n_in, 1.0, numbers), kMost};
}

// Largest error over its bound. A float sum of n products is off by at most n 2^-24 of the sum of
// their sizes; the norm before it adds n/16 + 20 roundings of its own.
double worst_share_of_bound(const testing::HeadProduct& product, const std::vector<float>& got,
                            int n_rows) {
  const ModelConfig& config = product.config();
  const auto n_in = static_cast<std::size_t>(config.width);
  const double bound = (config.width * (1.0 + 1.0 / 16) + 20) * 0x1p-24;
  const std::vector<float> values = to_floats(product.head());
  double worst = 0.0;
  for (int r = 0; r < n_rows; ++r) {
    const std::span<const float> x(product.hidden().data() + static_cast<std::size_t>(r) * n_in,
                                   n_in);
    const auto normed = rmsnorm_reference(x, product.gain(), config.norm_eps);
    const auto want = matmul_reference(product.head(), normed);
    for (std::size_t o = 0; o < want.size(); ++o) {
      double size = 0.0;
      for (std::size_t i = 0; i < n_in; ++i) size += std::fabs(values[o * n_in + i] * normed[i]);
      const double error = std::fabs(got[static_cast<std::size_t>(r) * want.size() + o] - want[o]);
      worst = std::max(worst, error / (bound * size));
    }
  }
  return worst;
}

TEST(Matmul, AgreesWithTheReferenceForEveryNumberOfRows) {
  for (const auto& [n_out, n_in] :
       {std::pair{33, 17}, {32, 256}, {1, 1}, {31, 64}, {64, 5}, {101, 33}}) {
    testing::HeadProduct product = random_product(n_out, n_in);
    for (int n_rows = 1; n_rows <= kMost; ++n_rows)
      ASSERT_LT(worst_share_of_bound(product, product.run(n_rows), n_rows), 1.0)
          << n_out << "x" << n_in << ", " << n_rows;
  }
}

TEST(Matmul, TheBoundSeesOneWrongInput) {
  testing::HeadProduct product = random_product(33, 257);
  std::vector<float> got = product.run(5);
  got[40] += 0.05F;  // a fraction of one product
  EXPECT_GT(worst_share_of_bound(product, got, 5), 1.0);
}

// Float rounding of sums of up to 128 terms, through three layers whose residual branches neither
// grow nor shrink it: some 3 x 4 products of about sqrt(128) ulps each, 1e-5 of the size of a logit
// at the very most.
constexpr double kTolerance = 2e-5;

const ModelConfig kShapes[] = {
    testing::make_shape(61, 20, 3, 2, 2, 10,
                        33),  // everything odd; one query head a key head; dim below a vector
    testing::make_shape(33, 40, 3, 4, 2, 20, 17),   // groups of 2; dim not a multiple of any vector
    testing::make_shape(97, 64, 3, 4, 1, 64, 100),  // groups of 4; dim of four vectors
    testing::make_shape(31, 48, 3, 3, 3, 80, 50),   // dim of five vectors
    testing::make_shape(128, 32, 3, 8, 2, 2, 16),   // the smallest head
};

TEST(CpuBackend, AgreesWithTheReferenceOnEveryTargetAndShape) {
  for (const ModelConfig& shape : kShapes) {
    const auto model = testing::random_model(shape, 3);
    const auto tokens = testing::random_tokens(90, shape, 4);
    const auto reference = make_backend("reference", *model, testing::backend_options(1, 1));
    const auto want = testing::logits_in_steps(*reference, tokens, 90);
    testing::on_every_target([&](bool) {
      const auto cpu = make_backend("cpu", *model, testing::backend_options(1, 2));
      EXPECT_LT(testing::relative_difference(testing::logits_in_steps(*cpu, tokens, 90), want),
                kTolerance)
          << vector_target() << ", width " << shape.width;
    });
  }
}

// A shut gate: silu(-300) is -0, not -300. Found: hn::Exp has no meaning above 104.
TEST(CpuBackend, ShutsGatesFarBelowZero) {
  const auto model = testing::random_model(kShapes[2], 8);
  for (LayerWeights& layer : model->weights.layers) {
    std::vector<float> gate = to_floats(layer.gate);
    for (float& v : gate) v *= 150.0F;
    layer.gate = make_matrix(layer.gate.n_rows, layer.gate.n_cols, std::move(gate));
  }
  const auto tokens = testing::random_tokens(20, kShapes[2], 4);
  const auto reference = make_backend("reference", *model, testing::backend_options(1, 1));
  const auto cpu = make_backend("cpu", *model, testing::backend_options(1, 1));
  EXPECT_LT(testing::relative_difference(testing::logits_in_steps(*cpu, tokens, 20),
                                         testing::logits_in_steps(*reference, tokens, 20)),
            2e-3);
}

}  // namespace
}  // namespace specbench::engine
