#include "engine/drafter.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/engine_test_support.h"
#include "engine/error.h"
#include "engine/steps.h"

namespace specbench::engine {
namespace {

std::string refusal(std::string_view name, int layers) {
  try {
    (void)make_drafter(name, layers, testing::small_shape());
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MakeDrafter, KnowsItsNames) {
  for (const char* name : {"layer-skip", "null", "oracle", "uniform"})
    EXPECT_EQ(refusal(name, 3), "accepted");
  EXPECT_EQ(refusal("Layer-Skip", 3),
            "--drafter is 'Layer-Skip'; this build has layer-skip, null, oracle and uniform.");
  EXPECT_EQ(refusal("", 3),
            "--drafter is ''; this build has layer-skip, null, oracle and uniform.");
}

TEST(MakeDrafter, RefusesLayersThatTheModelLacks) {
  EXPECT_EQ(refusal("layer-skip", 1), "accepted");
  EXPECT_EQ(refusal("layer-skip", 12), "accepted");
  EXPECT_EQ(refusal("layer-skip", 0),
            "--draft-layers is 0; the model has 12 layers, so it must be 1 to 12.");
  EXPECT_EQ(refusal("layer-skip", 13),
            "--draft-layers is 13; the model has 12 layers, so it must be 1 to 12.");
  EXPECT_EQ(refusal("null", 0), "accepted");  // the controls have no layers to choose
}

TEST(MakeDrafter, SaysWhatItReuses) {
  const ModelConfig shape = testing::small_shape();
  EXPECT_EQ(make_drafter("layer-skip", 5, shape)->reused_layers(), 5);
  for (const char* name : {"null", "oracle", "uniform"})
    EXPECT_EQ(make_drafter(name, 5, shape)->reused_layers(), 0);
}

DraftSampler sampler(DraftDraw mode, std::vector<TokenId> eos = {}) {
  static const Steps steps;
  return {2, 3, 4, mode, std::move(eos), 1, steps};
}

LaneDraft lane(int n_wanted) {
  LaneDraft draft;
  draft.lane = 1;
  draft.request = 5;
  draft.newest_pos = 10;
  draft.n_wanted = n_wanted;
  static const SamplingParams sampling;
  draft.sampling = &sampling;
  draft.seed = 99;
  return draft;
}

TEST(DraftSampler, DrawsFromTheLawItReports) {
  float logits[] = {0.5F, 2.0F, 1.0F, 2.0F};
  for (const DraftDraw mode : {DraftDraw::kCoin, DraftDraw::kArgmax, DraftDraw::kCoupled}) {
    DraftSampler s = sampler(mode);
    LaneDraft draft = lane(3);
    LaneDraft* const one[] = {&draft};
    while (s.wants_more(draft)) s.draw_next(one, logits);
    ASSERT_EQ(draft.drafted.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      const Law& law = draft.laws[i];
      const auto pos = static_cast<std::uint32_t>(11 + i);
      TokenId want = 1;
      if (mode == DraftDraw::kCoin) want = draw(law, uniform({99, 5, 11, pos, Purpose::kDraft, 0}));
      if (mode == DraftDraw::kCoupled) want = coupled_draw(law, 99, 5, pos);
      EXPECT_EQ(draft.drafted[i], want);
      EXPECT_EQ(law.is_point(), mode == DraftDraw::kArgmax);
      EXPECT_NEAR(law.prob(1), mode == DraftDraw::kArgmax ? 1.0 : 0.38595, 1e-5);
    }
  }
}

TEST(DraftSampler, EndsAtTheWantedNumberAndBehindADraftedEos) {
  float logits[] = {0.0F, 9.0F, 0.0F, 0.0F};
  DraftSampler with_eos = sampler(DraftDraw::kArgmax, {1, 3});
  LaneDraft draft = lane(3);
  LaneDraft* const one[] = {&draft};
  EXPECT_TRUE(with_eos.wants_more(draft));
  with_eos.draw_next(one, logits);
  EXPECT_FALSE(with_eos.wants_more(draft));  // 1 is an EOS
  DraftSampler without = sampler(DraftDraw::kArgmax);
  EXPECT_TRUE(without.wants_more(draft));
  EXPECT_FALSE(without.wants_more(lane(0)));
}

}  // namespace
}  // namespace specbench::engine
