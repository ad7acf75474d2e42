#include "harness/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

#include "harness/allocations.h"

namespace specbench::harness {
namespace {

using Log = std::vector<std::string>;

// Logs its calls; each run advances the clock by the next step of its script (the last one for
// ever).
class ScriptedSubject : public Subject {
 public:
  ScriptedSubject(std::string name, FakeClock& clock, Log* log = nullptr,
                  std::vector<std::int64_t> steps_ns = {1000})
      : name_(std::move(name)), clock_(clock), log_(log), steps_ns_(std::move(steps_ns)) {}

  const std::string& name() const override { return name_; }
  void prepare(int case_index) override { write("prepare " + name_ + std::to_string(case_index)); }
  void synchronize() override { write("synchronize " + name_); }
  Outcome run(int case_index, PhaseTimer& timer) override {
    write("run " + name_ + std::to_string(case_index));
    const std::int64_t step = steps_ns_[std::min(n_runs_, steps_ns_.size() - 1)];
    ++n_runs_;
    clock_.advance(step / 10);
    timer.delivered(1);
    if (timer.n_phases() > 1) timer.enter(1);
    clock_.advance(step - step / 10);
    if (on_run) on_run(case_index);
    return outcome(case_index, n_runs_);
  }

  std::function<Outcome(int case_index, std::size_t n_run)> outcome = [](int case_index,
                                                                         std::size_t) {
    return Outcome{8, 100 + static_cast<std::uint64_t>(case_index)};
  };
  std::function<void(int case_index)> on_run;

 private:
  void write(const std::string& line) {
    if (log_ != nullptr) log_->push_back(line);
  }
  std::string name_;
  FakeClock& clock_;
  Log* log_;
  std::vector<std::int64_t> steps_ns_;
  std::size_t n_runs_ = 0;
};

class Measure : public testing::Test {
 protected:
  Series run(const Plan& plan) {
    return measure(std::vector<Subject*>{&a_, &b_, &c_}, plan, clock_, {}, stop_);
  }

  FakeClock clock_;
  ScriptedSubject a_{"a", clock_};
  ScriptedSubject b_{"b", clock_};
  ScriptedSubject c_{"c", clock_};
  std::atomic<bool> stop_{false};
};

std::size_t count_runs(const Series& series, bool is_warmup) {
  return static_cast<std::size_t>(
      std::count_if(series.samples.begin(), series.samples.end(),
                    [&](const Sample& s) { return s.is_warmup == is_warmup; }));
}

TEST_F(Measure, CallsInTheProvenOrder) {
  Log log;
  ScriptedSubject only("x", clock_, &log);
  clock_.on_read([&] { log.push_back("clock"); });
  Plan plan;
  measure(std::vector<Subject*>{&only}, plan, clock_, {}, stop_);
  // The phase timer reads once more inside the first delivery.
  const Log once{"prepare x0", "synchronize x", "clock", "run x0",
                 "clock",      "synchronize x", "clock"};
  ASSERT_EQ(log.size(), once.size() * 8);  // 3 warm-ups, 5 blocks
  for (std::size_t i = 0; i < log.size(); ++i) ASSERT_EQ(log[i], once[i % once.size()]) << i;
}

TEST_F(Measure, PreparationIsNotTimed) {
  FakeClock ticking({1});
  class SlowToPrepare final : public ScriptedSubject {
   public:
    explicit SlowToPrepare(FakeClock& clock_of_test)
        : ScriptedSubject("slow", clock_of_test), clock_(clock_of_test) {}
    void prepare(int) override { clock_.advance(1'000'000); }

   private:
    FakeClock& clock_;
  } slow(ticking);
  const Series series = measure(std::vector<Subject*>{&slow}, Plan{}, ticking, {}, stop_);
  for (const Sample& sample : series.samples)
    EXPECT_EQ(sample.wall_ns, 1002);  // 1000 and the two later readings
}

TEST_F(Measure, EveryArmOncePerCasePerBlock) {
  Plan plan;
  plan.n_cases = 4;
  plan.n_blocks = 6;
  const Series series = run(plan);
  EXPECT_EQ(count_runs(series, true), 3u * 4 * 3);
  EXPECT_EQ(count_runs(series, false), 3u * 4 * 6);
  std::set<std::tuple<bool, int, int, int>> seen;
  int order = 0;
  for (const Sample& s : series.samples) {
    EXPECT_TRUE(seen.insert({s.is_warmup, s.block, s.case_index, s.arm}).second);
    EXPECT_EQ(s.order, order);
    EXPECT_EQ(s.case_index, order / 3);  // all arms of a case run next to each other
    order = (order + 1) % 12;
  }
  EXPECT_EQ(series.warmups_done, 3);
  EXPECT_EQ(series.blocks_done, 6);
  EXPECT_TRUE(series.warmup_converged);
  EXPECT_TRUE(series.faults.empty());
  EXPECT_EQ(series.arm_names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(Measure, OrderIsRandomYetSeeded) {
  std::map<std::vector<int>, int> counts;
  for (int block = 0; block < 6000; ++block) ++counts[arm_order(7, false, block, 0, 3)];
  ASSERT_EQ(counts.size(), 6u);  // each permutation
  // 6000 draws of 1/6: standard deviation 29; the seed is fixed, so this cannot flicker.
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 120);
  EXPECT_EQ(arm_order(7, false, 3, 2, 5), arm_order(7, false, 3, 2, 5));
  int n_equal = 0;
  for (int block = 0; block < 100; ++block) {
    n_equal += arm_order(7, false, block, 0, 5) == arm_order(8, false, block, 0, 5);
  }
  EXPECT_LT(n_equal, 10);
  EXPECT_EQ(arm_order(7, false, 0, 0, 1), std::vector<int>{0});
}

TEST_F(Measure, PhasesSumToWallAndDecodeBeginsAtTheFirstToken) {
  Plan plan;
  plan.phase_names = {"prefill", "decode"};
  plan.chunk_capacity = 4;
  const Series series = run(plan);
  for (const Sample& s : series.samples) {
    EXPECT_EQ(s.wall_ns, 1000);
    EXPECT_EQ(std::accumulate(s.phase_ns.begin(), s.phase_ns.end(), std::int64_t{0}), s.wall_ns);
    EXPECT_EQ(s.phase_ns, (std::vector<std::int64_t>{100, 900}));
    EXPECT_EQ(s.first_token_ns, 100);
    EXPECT_EQ(s.decode_ns, 900);
    EXPECT_EQ(s.chunk_end_ns, std::vector<std::int64_t>{100});
    EXPECT_EQ(s.chunk_tokens, std::vector<std::int32_t>{1});
    EXPECT_EQ(s.n_tokens, 8);
    EXPECT_EQ(s.fingerprint, 100u);
  }
}

TEST_F(Measure, WarmsUpUntilSettled) {
  ScriptedSubject slow_start("slow", clock_, nullptr, {2000, 1500, 1200, 1100, 1090});
  const Series series = measure(std::vector<Subject*>{&slow_start}, Plan{}, clock_, {}, stop_);
  EXPECT_EQ(series.warmups_done, 5);
  EXPECT_TRUE(series.warmup_converged);
  EXPECT_EQ(count_runs(series, true), 5u);
  EXPECT_EQ(series.samples[0].wall_ns, 2000);  // kept, though not measured
  EXPECT_EQ(count_runs(series, false), 5u);
}

TEST_F(Measure, SaysWhenWarmUpNeverSettles) {
  std::vector<std::int64_t> steps;
  steps.reserve(20);
  for (int i = 0; i < 20; ++i) steps.push_back(i % 2 == 0 ? 1000 : 2000);
  ScriptedSubject restless("restless", clock_, nullptr, steps);
  const Series series = measure(std::vector<Subject*>{&restless}, Plan{}, clock_, {}, stop_);
  EXPECT_EQ(series.warmups_done, 8);
  EXPECT_FALSE(series.warmup_converged);
  EXPECT_EQ(series.blocks_done, 5);
}

TEST_F(Measure, ArticleProtocolWarmsUpExactlyThreeTimes) {
  std::vector<std::int64_t> steps{4000, 3000, 2000, 1000};
  ScriptedSubject falling("falling", clock_, nullptr, steps);
  Plan plan;
  plan.protocol = Protocol::kArticle;
  const Series series = measure(std::vector<Subject*>{&falling}, plan, clock_, {}, stop_);
  EXPECT_EQ(series.warmups_done, 3);
  EXPECT_FALSE(series.warmup_converged);
  EXPECT_EQ(count_runs(series, false), 5u);
}

TEST_F(Measure, StopKeepsWhatWasMeasured) {
  Plan plan;
  plan.n_cases = 2;
  const auto stop_after = [&](int n_runs) {
    stop_ = false;
    return measure(
        std::vector<Subject*>{&a_, &b_, &c_}, plan, clock_,
        [&](const Progress& p) { stop_ = p.n_done >= n_runs; }, stop_);
  };
  const Series in_block = stop_after(18 + 7);
  EXPECT_TRUE(in_block.was_interrupted);
  EXPECT_EQ(in_block.samples.size(), 25u);
  EXPECT_EQ(in_block.blocks_done, 1);
  EXPECT_FALSE(in_block.is_refused());
  const Series in_warmup = stop_after(2);
  EXPECT_TRUE(in_warmup.was_interrupted);
  EXPECT_EQ(in_warmup.samples.size(), 2u);
  EXPECT_EQ(in_warmup.warmups_done, 0);
  const Series before = [&] {
    stop_ = true;
    return run(plan);
  }();
  EXPECT_TRUE(before.was_interrupted);
  EXPECT_TRUE(before.samples.empty());
}

TEST_F(Measure, RefusesAnArmThatIsNotDeterministic) {
  b_.outcome = [](int, std::size_t n_run) {
    return Outcome{8, n_run == 5 ? 2u : 1u};
  };  // once, in the second block
  const Series series = run(Plan{});
  EXPECT_TRUE(series.is_refused());
  ASSERT_EQ(series.faults.size(), 1u);
  EXPECT_NE(series.faults[0].find("arm 'b' did different work"), std::string::npos)
      << series.faults[0];
  EXPECT_EQ(series.blocks_done, 2);  // no more is measured
}

TEST_F(Measure, ATokenCountThatDiffersIsAFaultToo) {
  a_.outcome = [](int, std::size_t n_run) { return Outcome{n_run == 2 ? 9 : 8, 1}; };
  const Series series = run(Plan{});
  EXPECT_TRUE(series.is_refused());
  EXPECT_EQ(count_runs(series, false), 0u);  // found in the warm-up, nothing is timed
}

TEST_F(Measure, ArmsThatMustAgreeAreComparedBeforeTiming) {
  Plan plan;
  plan.n_cases = 3;
  plan.equal_fingerprint_groups = {{0, 1}};
  EXPECT_FALSE(run(plan).is_refused());
  b_.outcome = [](int case_index, std::size_t) {
    return Outcome{8, case_index == 2 ? 7u : 100u + unsigned(case_index)};
  };
  const Series series = run(plan);
  EXPECT_TRUE(series.is_refused());
  ASSERT_EQ(series.faults.size(), 1u);
  EXPECT_NE(series.faults[0].find("arms 'a' and 'b' must emit the same on case 2"),
            std::string::npos);
  EXPECT_EQ(count_runs(series, false), 0u);
  plan.equal_fingerprint_groups = {{0, 2}};  // b is free to differ
  EXPECT_FALSE(run(plan).is_refused());
}

TEST_F(Measure, LostDeliveriesAreReported) {
  ScriptedSubject talkative("talkative", clock_);
  Plan plan;
  plan.chunk_capacity = 1;
  EXPECT_TRUE(run(plan).chunks_complete);
  class Many final : public Subject {
   public:
    const std::string& name() const override { return name_; }
    void prepare(int) override {}
    Outcome run(int, PhaseTimer& timer) override {
      timer.delivered(1);
      timer.delivered(1);
      return {};
    }

   private:
    std::string name_ = "many";
  } many;
  const Series series = measure(std::vector<Subject*>{&many}, plan, clock_, {}, stop_);
  EXPECT_FALSE(series.chunks_complete);
  EXPECT_FALSE(series.is_refused());
  ASSERT_EQ(series.faults.size(), 1u);
  EXPECT_NE(series.faults[0].find("8 deliveries"), std::string::npos);
}

TEST_F(Measure, ProgressCountsToTheTotal) {
  std::vector<Progress> seen;
  measure(
      std::vector<Subject*>{&a_, &b_}, Plan{}, clock_,
      [&](const Progress& p) { seen.push_back(p); }, stop_);
  ASSERT_EQ(seen.size(), 16u);
  EXPECT_TRUE(seen.front().is_warmup);
  EXPECT_EQ(seen.front().n_total, 16);
  EXPECT_EQ(seen.back().n_done, seen.back().n_total);
}

TEST_F(Measure, ExceptionsOfASubjectPassThrough) {
  a_.on_run = [](int) { throw std::runtime_error("broken"); };
  EXPECT_THROW(run(Plan{}), std::runtime_error);
}

TEST_F(Measure, NothingIsAllocatedBetweenTheReadings) {
  if (!n_allocations()) GTEST_SKIP() << "the sanitizers have operators of their own";
  std::int64_t before = 0;
  std::vector<std::int64_t> counts;
  counts.reserve(1000);
  bool is_inside = false;
  // Readings alternate: start, first delivery, phase, ..., stop. The subject marks where its run
  // begins and ends.
  class Quiet final : public Subject {
   public:
    const std::string& name() const override { return name_; }
    void prepare(int) override {}
    Outcome run(int, PhaseTimer& timer) override {
      for (int i = 0; i < 50; ++i) {
        timer.enter(i % 2);
        timer.delivered(2);
      }
      return {100, 1};
    }

   private:
    std::string name_ = "quiet";
  } quiet;
  int n_reads = 0;
  clock_.on_read([&] {
    if (n_reads++ % 102 == 0) {  // 2 bounds and 100 inside
      before = *n_allocations();
      is_inside = true;
    } else if (n_reads % 102 == 0) {
      counts.push_back(*n_allocations() - before);
      is_inside = false;
    }
  });
  Plan plan;
  plan.phase_names = {"draft", "verify"};
  plan.chunk_capacity = 64;
  const Series series = measure(std::vector<Subject*>{&quiet}, plan, clock_, {}, stop_);
  EXPECT_FALSE(is_inside);
  EXPECT_EQ(counts, std::vector<std::int64_t>(8, 0));
  EXPECT_EQ(series.samples.size(), 8u);
  EXPECT_GT(*n_allocations(), 0);  // the counter counts
}

TEST_F(Measure, BadPlansAreRefusedInOneSentence) {
  const auto refuses = [](const std::function<void(Plan&)>& spoil) {
    Plan plan;
    spoil(plan);
    EXPECT_THROW(validate(plan, 2), std::invalid_argument);
  };
  EXPECT_NO_THROW(validate(Plan{}, 1));
  refuses([](Plan& p) { p.n_cases = 0; });
  refuses([](Plan& p) { p.n_warmups = 2; });
  refuses([](Plan& p) { p.max_warmups = 2; });
  refuses([](Plan& p) { p.n_blocks = 4; });
  refuses([](Plan& p) { p.warmup_tolerance = 0; });
  refuses([](Plan& p) { p.warmup_tolerance = std::nan(""); });
  refuses([](Plan& p) { p.phase_names.clear(); });
  refuses([](Plan& p) { p.equal_fingerprint_groups = {{0, 2}}; });
  refuses([](Plan& p) { p.protocol = Protocol::kArticle, p.n_blocks = 6; });
  refuses([](Plan& p) { p.protocol = Protocol::kArticle, p.n_warmups = 4; });
  EXPECT_THROW(validate(Plan{}, 0), std::invalid_argument);
  ScriptedSubject twin("a", clock_);
  EXPECT_THROW(measure(std::vector<Subject*>{&a_, &twin}, Plan{}, clock_, {}, stop_),
               std::invalid_argument);
}

}  // namespace
}  // namespace specbench::harness
