// What the harness itself adds to a timed region: a scripted round of 1 ms with five phase marks
// and a delivery, through the real clock and the real measure().
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "harness/clock.h"
#include "harness/measure.h"
#include "harness/stopping.h"
#include "harness/watch.h"

namespace specbench::harness {
namespace {

constexpr std::int64_t kRoundNs = 1'000'000;
constexpr int kRounds = 20;  // a run
constexpr int kMarks = 5;    // a round

/// Spins for a round's time; knows how long the spinning alone took, the marks left out.
class Rounds final : public Subject {
 public:
  const std::string& name() const override { return name_; }
  void prepare(int) override { work_ns_ = 0; }
  Outcome run(int, PhaseTimer& timer) override {
    for (int round = 0; round < kRounds; ++round) {
      for (int mark = 0; mark < kMarks; ++mark) {
        timer.enter(1 + mark);
        work();
      }
      timer.delivered(4);
    }
    return {4 * kRounds, 1};
  }
  std::int64_t work_ns() const { return work_ns_; }

 private:
  void work() {
    const std::int64_t begin = clock_.now_ns();
    std::int64_t now = begin;
    while (now - begin < kRoundNs / kMarks) now = clock_.now_ns();
    work_ns_ += now - begin;
  }
  std::string name_ = "rounds";
  SteadyClock clock_;
  std::int64_t work_ns_ = 0;
};

// overhead_share: time inside the two readings of a run that was not work, over the work; the
// median of the measured runs. The limit is 1 %.
void timed_region(benchmark::State& state) {
  SteadyClock clock;
  const std::atomic<bool> stop{false};
  Plan plan;
  plan.phase_names = {"other", "draft", "verify", "accept", "trim", "deliver"};
  plan.chunk_capacity = kRounds;
  plan.n_blocks = 15;
  double share = 0;
  for (auto _ : state) {
    Rounds rounds;
    std::vector<double> work_ns;
    const Series series = measure(
        std::vector<Subject*>{&rounds}, plan, clock,
        [&](const Progress&) { work_ns.push_back(static_cast<double>(rounds.work_ns())); }, stop);
    std::vector<double> shares;
    for (std::size_t i = 0; i < series.samples.size(); ++i) {
      if (series.samples[i].is_warmup) continue;
      shares.push_back(static_cast<double>(series.samples[i].wall_ns) / work_ns[i] - 1);
    }
    share = median(shares);
  }
  state.counters["overhead_share"] = share;
}
BENCHMARK(timed_region)->Iterations(1)->Unit(benchmark::kMillisecond);

// The marks of a round alone, without work between them: ns a round, and their share of 1 ms.
void marks_of_a_round(benchmark::State& state) {
  SteadyClock clock;
  PhaseTimer timer(clock, kMarks + 1, 1 << 20);
  std::int64_t spent_ns = 0;
  std::int64_t n_rounds = 0;
  for (auto _ : state) {
    timer.start();
    for (int round = 0; round < 1000; ++round) {
      for (int mark = 0; mark < kMarks; ++mark) timer.enter(1 + mark);
      timer.delivered(4);
    }
    timer.stop();
    spent_ns += timer.wall_ns();
    n_rounds += 1000;
  }
  const double a_round =
      static_cast<double>(spent_ns) / static_cast<double>(std::max<std::int64_t>(n_rounds, 1));
  state.counters["ns_a_round"] = a_round;
  state.counters["share_of_1_ms"] = a_round / static_cast<double>(kRoundNs);
}
BENCHMARK(marks_of_a_round)->Iterations(100);

// A reading of the machine, twice a run outside the timed region.
void machine_reading(benchmark::State& state) {
  MachineWatch watch{WatchRules{}};
  for (auto _ : state) benchmark::DoNotOptimize(watch.read());
}
BENCHMARK(machine_reading)->Iterations(200)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace specbench::harness
