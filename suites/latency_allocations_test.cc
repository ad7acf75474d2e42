#include "suites/latency_allocations.h"

#include <gtest/gtest.h>

#include <memory>

#include "harness/allocations.h"
#include "suites/fault_test_support.h"
#include "suites/latency_report.h"

namespace specbench::suites {
namespace {

/// Drafts as the drafter it holds, and takes a piece of memory from the heap for every draft.
class LeakyDrafter final : public engine::Drafter {
 public:
  explicit LeakyDrafter(std::unique_ptr<engine::Drafter> inner) : inner_(std::move(inner)) {}
  int reused_layers() const override { return inner_->reused_layers(); }
  void propose(engine::Backend& backend, engine::DraftSampler& sampler,
               std::span<engine::LaneDraft> lanes) override {
    scratch_ = std::make_unique<int>(1);
    ++n_proposals;
    inner_->propose(backend, sampler, lanes);
  }
  int n_proposals = 0;

 private:
  std::unique_ptr<engine::Drafter> inner_;
  std::unique_ptr<int> scratch_;
};

TEST(LatencyAllocations, OneInEveryRoundIsSeenAndASoundLoopHasNone) {
  if (!harness::n_allocations() || kPoisonByDefault)
    GTEST_SKIP() << "allocations are counted in release builds without sanitizers";
  testing::Bench bench(testing::embedded_options("latency"));
  const Context& context = bench.context;
  constexpr int kTokens = 24;
  engine::DecodeOptions decoding = decode_options(context);
  decoding.stop_at_eos = false;
  const auto backend =
      open_backend(context, 1, longest_sequence(context, kTokens), decoding.draft_tokens);
  const std::vector<Case> cases{{{0, context.prompts.front().ids, kTokens}}};
  const auto sound = open_drafter(context);
  LeakyDrafter leaky(open_drafter(context));
  Arm plain(kArmNames[kAutoregressive], *backend, nullptr, decoding, cases);
  Arm speculative(kArmNames[kSpeculative], *backend, sound.get(), decoding, cases);
  Arm leaking(kArmNames[kSpeculative], *backend, &leaky, decoding, cases);

  results::Record record;
  const auto passed = check_allocations(context, plain, speculative, record);
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_EQ(passed[0].status, results::CheckStatus::kPassed) << passed[0].detail;
  EXPECT_EQ(*results::find_counter(record, "allocations.speculative"), 0);

  results::Record leaked;
  const auto failed = check_allocations(context, plain, leaking, leaked);
  EXPECT_EQ(failed[0].status, results::CheckStatus::kFailed) << failed[0].detail;
  // The first two rounds may grow.
  EXPECT_EQ(*results::find_counter(leaked, "allocations.speculative"), leaky.n_proposals - 2);
}

}  // namespace
}  // namespace specbench::suites
