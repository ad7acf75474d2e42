#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "harness/scripted_subject_test_support.h"
#include "harness/stopping.h"

namespace specbench::harness {
namespace {

Plan two_phases(int n_cases) {
  Plan plan;
  plan.n_cases = n_cases;
  plan.phase_names = {"prefill", "decode"};
  plan.protocol = Protocol::kGate;
  plan.max_warmups = 4;
  return plan;
}

Series run(std::vector<Subject*> arms, const Plan& plan, FakeClock& clock) {
  const std::atomic<bool> stop{false};
  return measure(arms, plan, clock, {}, stop);
}

TEST(ScriptedSubject, TakesTheTypedTimes) {
  FakeClock clock;
  ScriptedSubject arm("arm", clock, {.phase_ns = {{100, 900}, {200, 700}}, .first_token_phase = 0});
  const Series series = run({&arm}, two_phases(2), clock);
  ASSERT_EQ(series.samples.size(), 16u);
  for (const Sample& s : series.samples) {
    const bool is_first = s.case_index == 0;
    EXPECT_EQ(s.phase_ns, is_first ? (std::vector<std::int64_t>{100, 900})
                                   : (std::vector<std::int64_t>{200, 700}));
    EXPECT_EQ(s.first_token_ns, is_first ? 100 : 200);
    EXPECT_EQ(s.decode_ns, is_first ? 900 : 700);
    EXPECT_EQ(s.fingerprint, is_first ? 100u : 101u);
  }
  EXPECT_EQ(arm.n_runs(), 16);
  EXPECT_FALSE(series.is_refused());
}

// Both arms feel it, so the ratio within a block stays; the absolute time does not.
TEST(ScriptedSubject, DriftCancelsInTheRatioOfABlock) {
  FakeClock clock;
  const Script slow{.phase_ns = {{0, 2'000'000}}, .drift_per_second = 5};
  const Script fast{.phase_ns = {{0, 1'000'000}}, .drift_per_second = 5};
  ScriptedSubject a("a", clock, slow), b("b", clock, fast);
  Plan plan = two_phases(1);
  plan.n_blocks = 30;
  const Series series = run({&a, &b}, plan, clock);
  std::vector<double> walls(2);
  std::vector<double> ratios;
  std::int64_t first = 0, last = 0;
  for (const Sample& s : series.samples) {
    if (s.arm == 0 && first == 0) first = s.wall_ns;
    if (s.arm == 0) last = s.wall_ns;
    walls[static_cast<std::size_t>(s.arm)] = static_cast<double>(s.wall_ns);
    if (s.order == 1 && !s.is_warmup) ratios.push_back(walls[0] / walls[1]);
  }
  EXPECT_GT(last, first * 3 / 2);  // the drift is there
  ASSERT_EQ(ratios.size(), 30u);
  EXPECT_NEAR(median(ratios), 2, 0.02);  // a block lasts 3 ms: 1.5 % at most
}

TEST(ScriptedSubject, OutliersHitTheirRunAlone) {
  FakeClock clock;
  ScriptedSubject arm("arm", clock, {.phase_ns = {{0, 1000}}, .outliers = {{3, 7.0}}});
  const Series series = run({&arm}, two_phases(1), clock);
  for (std::size_t i = 0; i < series.samples.size(); ++i)
    EXPECT_EQ(series.samples[i].wall_ns, i == 3 ? 7000 : 1000) << i;
}

TEST(GateProtocol, WarmsUpToItsBoundAndRunsFewBlocks) {
  FakeClock clock;
  Script restless{.phase_ns = {{0, 1000}}};
  for (int i = 0; i < 20; i += 2) restless.outliers[i] = 2;
  ScriptedSubject arm("arm", clock, restless);
  const Series series = run({&arm}, two_phases(1), clock);
  EXPECT_EQ(series.warmups_done, 4);
  EXPECT_FALSE(series.warmup_converged);
  EXPECT_EQ(series.blocks_done, 5);
  ScriptedSubject calm("calm", clock, {.phase_ns = {{0, 1000}}});
  EXPECT_EQ(run({&calm}, two_phases(1), clock).warmups_done, 3);
  const auto refuses = [](int n_warmups, int max_warmups, int n_blocks) {
    Plan plan = two_phases(1);
    plan.n_warmups = n_warmups;
    plan.max_warmups = max_warmups;
    plan.n_blocks = n_blocks;
    EXPECT_THROW(validate(plan, 1), std::invalid_argument);
  };
  refuses(2, 4, 5);
  refuses(3, 2, 5);
  refuses(3, 4, 4);
}

TEST(GateProtocol, AnArmWithoutTokensMayStandBesideTheOthers) {
  FakeClock clock;
  ScriptedSubject speaking("speaking", clock, {.phase_ns = {{100, 900}, {100, 500}}});
  ScriptedSubject silent("silent", clock,
                         {.phase_ns = {{300}, {300}}, .n_tokens = 0, .fingerprint = 0});
  Plan plan = two_phases(2);
  plan.chunk_capacity = 4;
  plan.equal_fingerprint_groups = {{0}};
  const Series series = run({&speaking, &silent}, plan, clock);
  EXPECT_FALSE(series.is_refused());
  EXPECT_TRUE(series.chunks_complete);
  EXPECT_TRUE(series.warmup_converged);
  for (const Sample& s : series.samples) {
    if (s.arm != 1) continue;
    EXPECT_EQ(s.wall_ns, 300);
    EXPECT_EQ(s.n_tokens, 0);
    EXPECT_FALSE(s.first_token_ns || s.decode_ns);
    EXPECT_TRUE(s.chunk_end_ns.empty());
    EXPECT_EQ(std::accumulate(s.phase_ns.begin(), s.phase_ns.end(), std::int64_t{0}), 300);
  }
}

}  // namespace
}  // namespace specbench::harness
