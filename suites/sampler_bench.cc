// Verified draws a second on one core: tokens that were drafted, judged, emitted and held against
// their laws.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "suites/lossless_wide.h"
#include "suites/narrow_seen.h"

namespace specbench::suites {
namespace {

std::int64_t sum(const Seen::Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void report(benchmark::State& state, std::int64_t n_draws) {
  state.counters["draws"] =
      benchmark::Counter(static_cast<double>(n_draws), benchmark::Counter::kIsRate);
}

void BM_narrow(benchmark::State& state, const std::string& name, const std::string& verifier) {
  const std::vector<NarrowCase> cases = narrow_cases();
  const auto narrow = std::find_if(cases.begin(), cases.end(),
                                   [&](const NarrowCase& each) { return each.name == name; });
  std::int64_t n_draws = 0;
  std::uint64_t seed = 1;
  for (auto _ : state) {
    const Seen seen =
        play_narrow_case(*narrow, engine::find_verifier(verifier, {}), 1 << 18, seed++, {}, 1);
    n_draws += sum(seen.accepted) + sum(seen.rejected) + sum(seen.emitted);
    if (verifier == "token") n_draws += sum(seen.bonus);
  }
  report(state, n_draws);
}
BENCHMARK_CAPTURE(BM_narrow, mild_V16_token, "mild/V16/g3", "token")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_narrow, opposed_V16_token, "opposed/V16/g3", "token")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_narrow, mild_V16_block, "mild/V16/g3", "block")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_narrow, mild_V16_one_hot, "mild/V16/g3", "one-hot")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_narrow, mild_V16_coupled, "mild/V16/g3", "coupled")
    ->Unit(benchmark::kMillisecond);

// The tables are made anew each time: so many draws that they do not matter.
void BM_wide(benchmark::State& state) {
  constexpr std::int64_t kDraws = 1'000'000;
  std::uint64_t seed = 1;
  std::int64_t n_draws = 0;
  for (auto _ : state)
    n_draws +=
        test_wide_case(static_cast<int>(state.range(0)), "token", kDraws, seed++, {}, 1).front().n;
  report(state, n_draws);
}
BENCHMARK(BM_wide)->Arg(4096)->Arg(50'257)->Arg(151'936)->Unit(benchmark::kMillisecond);

// All orders and classes, laws made from logits at every position.
void BM_varying(benchmark::State& state) {
  std::uint64_t seed = 1;
  std::int64_t n_draws = 0;
  for (auto _ : state)
    n_draws += test_varying_laws(static_cast<int>(state.range(0)), 8192, seed++, {}, 1).front().n;
  report(state, n_draws);
}
BENCHMARK(BM_varying)->Arg(4096)->Arg(50'257)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace specbench::suites
