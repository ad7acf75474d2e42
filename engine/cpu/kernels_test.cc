// The kernels against the reference functions, over the shapes that have edges.
#include "engine/cpu/kernels.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "engine/cpu/reference_backend.h"
#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

// Norm and head of n rows by head_thread on one thread: the product of any n_out x n_in matrix with
// any number of rows.
class HeadProduct {
 public:
  HeadProduct(int n_out, int n_in) : numbers_(static_cast<std::uint64_t>(n_out * 1000 + n_in)) {
    config_.width = n_in;
    config_.vocab_size = n_out;
    config_.norm_eps = 1e-5;
    head_ = testing::random_matrix(n_out, n_in, 1.0, numbers_);
    values_ = to_floats(head_);
    gain_ = testing::random_vector(n_in, 1.0, 0.2, numbers_);
    const Matrix* const parts[] = {&head_};
    packed_head_ = pack_stacked(parts);
    hidden_ = testing::random_vector(n_in * kMost, 0.0, 1.0, numbers_);
  }

  std::vector<float> run(int n_rows, int first_slot = 0) {
    std::vector<Row> rows;
    for (int i = 0; i < n_rows; ++i) rows.push_back({0, i, 0, first_slot + i});
    AlignedFloats packed(static_cast<std::size_t>(n_rows * config_.width));
    AlignedFloats scratch(thread_scratch_floats(config_, 1));
    std::vector<float> out(static_cast<std::size_t>(n_rows * config_.vocab_size));
    Barrier barrier;
    Job job;
    job.barrier = &barrier;
    job.config = &config_;
    job.rows = rows;
    job.hidden = hidden_.data();
    job.packed = packed.data();
    job.thread_scratch = scratch.data();
    job.thread_scratch_size = scratch.size();
    job.head = &packed_head_;
    job.final_norm = gain_.data();
    job.logits = out.data();
    head_thread(job, 0, 1);
    return out;
  }

  // Largest error over its bound. A float sum of n products is off by at most n 2^-24 of the sum of
  // their sizes; the norm before it adds n/16 + 20 roundings of its own.
  double worst_share_of_bound(const std::vector<float>& got, int n_rows) const {
    const auto n_in = static_cast<std::size_t>(config_.width);
    const double bound = (config_.width * (1.0 + 1.0 / 16) + 20) * 0x1p-24;
    double worst = 0.0;
    for (int r = 0; r < n_rows; ++r) {
      const std::span<const float> x(hidden_.data() + static_cast<std::size_t>(r) * n_in, n_in);
      const auto normed = rmsnorm_reference(x, gain_, config_.norm_eps);
      const auto want = matmul_reference(head_, normed);
      for (std::size_t o = 0; o < want.size(); ++o) {
        double size = 0.0;
        for (std::size_t i = 0; i < n_in; ++i)
          size += std::fabs(values_[o * n_in + i] * normed[i]);
        const double error =
            std::fabs(got[static_cast<std::size_t>(r) * want.size() + o] - want[o]);
        worst = std::max(worst, error / (bound * size));
      }
    }
    return worst;
  }

  static constexpr int kMost = 67;

 private:
  Numbers numbers_;
  ModelConfig config_;
  Matrix head_;
  std::vector<float> values_, gain_, hidden_;
  PackedMatrix packed_head_;
};

TEST(Matmul, AgreesWithTheReferenceForEveryNumberOfRows) {
  for (const auto& [n_out, n_in] :
       {std::pair{33, 17}, {32, 256}, {1, 1}, {31, 64}, {64, 5}, {101, 33}}) {
    HeadProduct product(n_out, n_in);
    for (int n_rows = 1; n_rows <= 64; ++n_rows)
      ASSERT_LT(product.worst_share_of_bound(product.run(n_rows), n_rows), 1.0)
          << n_out << "x" << n_in << ", " << n_rows;
  }
}

TEST(Matmul, TheBoundSeesOneWrongInput) {
  HeadProduct product(33, 257);
  std::vector<float> got = product.run(5);
  got[40] += 0.05F;  // a fraction of one product
  EXPECT_GT(product.worst_share_of_bound(got, 5), 1.0);
}

TEST(Matmul, ARowIsTheSameWithAnyOtherRows) {
  for (const auto& [n_out, n_in] : {std::pair{33, 17}, {70, 256}}) {
    HeadProduct product(n_out, n_in);
    std::vector<float> alone;
    for (int r = 0; r < 64; ++r) {
      const auto one = product.run(1, r);
      alone.insert(alone.end(), one.begin(), one.end());
    }
    for (int n_rows = 2; n_rows <= 64; ++n_rows) {
      const auto together = product.run(n_rows);
      ASSERT_TRUE(std::equal(together.begin(), together.end(), alone.begin())) << n_rows;
    }
  }
}

TEST(Pack, StacksAndInterleavesWhereTheKernelsLook) {
  Numbers numbers(1);
  const Matrix a = testing::random_matrix(20, 3, 1.0, numbers);
  const Matrix b = testing::random_matrix(21, 3, 1.0, numbers);
  const std::vector<float> a_values = to_floats(a), b_values = to_floats(b);
  const Matrix* const parts[] = {&a, &b};
  const PackedMatrix stacked = pack_stacked(parts);
  EXPECT_EQ(stacked.n_out, 41);
  EXPECT_EQ(stacked.n_blocks(), 2);
  EXPECT_EQ(stacked.block(0)[2 * 32 + 19], a_values[19 * 3 + 2]);
  EXPECT_EQ(stacked.block(0)[1 * 32 + 20], b_values[0 * 3 + 1]);
  EXPECT_EQ(stacked.block(1)[0 * 32 + 8], b_values[20 * 3 + 0]);
  EXPECT_EQ(stacked.block(1)[0 * 32 + 9], 0.0F);  // behind the last output
  const PackedMatrix pairs = pack_gate_up(b, b);
  EXPECT_EQ(pairs.n_blocks(), 2);
  EXPECT_EQ(pairs.block(0)[1 * 32 + 15], b_values[15 * 3 + 1]);
  EXPECT_EQ(pairs.block(0)[1 * 32 + 31], b_values[15 * 3 + 1]);
  EXPECT_EQ(pairs.block(1)[1 * 32 + 4], b_values[20 * 3 + 1]);
  EXPECT_EQ(pairs.block(1)[1 * 32 + 16 + 4], b_values[20 * 3 + 1]);
  EXPECT_EQ(pairs.block(1)[1 * 32 + 5], 0.0F);
}

// Largest difference between two arrays over the root mean square of the second.
double relative_difference(const std::vector<float>& got, const std::vector<float>& want) {
  double largest = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    largest =
        std::max(largest, std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
    squares += static_cast<double>(want[i]) * static_cast<double>(want[i]);
    if (std::isnan(got[i])) return HUGE_VAL;
  }
  return largest / std::sqrt(squares / static_cast<double>(want.size()));
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

std::vector<float> all_logits(Backend& backend, const std::vector<TokenId>& tokens) {
  const std::vector<Row> rows = testing::rows_of(0, 0, tokens, 0);
  std::vector<float> out(tokens.size() * static_cast<std::size_t>(backend.config().vocab_size));
  backend.reset(0, 0);
  backend.forward(rows, 0, backend.config().n_layers);
  backend.logits(rows, out.data());
  return out;
}

TEST(CpuBackend, AgreesWithTheReferenceOnEveryTargetAndShape) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  for (const ModelConfig& shape : kShapes) {
    const auto model = testing::random_model(shape, 3);
    const auto tokens = testing::random_tokens(90, shape, 4);
    const auto reference = make_backend("reference", *model, testing::backend_options(1, 1));
    const auto want = all_logits(*reference, tokens);
    for (const std::int64_t target : targets) {
      hwy::SetSupportedTargetsForTest(target);
      const auto cpu = make_backend("cpu", *model, testing::backend_options(1, 2));
      // Bits may differ between targets (fused or not, the softmax sum's columns); a run uses one.
      EXPECT_LT(relative_difference(all_logits(*cpu, tokens), want), kTolerance)
          << vector_target() << ", width " << shape.width;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// A shut gate: silu(-300) is -0, not -300. Found: hn::Exp has no meaning above 104.
TEST(CpuBackend, ShutsGatesFarBelowZero) {
  const auto model = testing::random_model(kShapes[2], 8);
  for (LayerWeights& layer : model->weights.layers)
  {
    std::vector<float> gate = to_floats(layer.gate);
    for (float& v : gate) v *= 150.0F;
    layer.gate = make_matrix(layer.gate.n_rows, layer.gate.n_cols, std::move(gate));
  }
  const auto tokens = testing::random_tokens(20, kShapes[2], 4);
  const auto reference = make_backend("reference", *model, testing::backend_options(1, 1));
  const auto cpu = make_backend("cpu", *model, testing::backend_options(1, 1));
  EXPECT_LT(relative_difference(all_logits(*cpu, tokens), all_logits(*reference, tokens)), 2e-3);
}

}  // namespace
}  // namespace specbench::engine
