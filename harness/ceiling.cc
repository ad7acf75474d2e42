// The ceilings. Each SIMD target compiles this file once more (foreach_target.h); HWY_ONCE guards
// what is needed once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "harness/ceiling.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <cstdint>

#include "harness/ceiling.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::harness {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// n_steps steps of 12 independent multiply-adds (latency 4, two a cycle: 8 would do) that leave
// three of 16 registers. Returns the floating-point operations done; `sink` keeps the sums alive.
double multiply_adds(std::int64_t n_steps, float factor, float addend, float* sink) {
  const hn::ScalableTag<float> d;
  const auto f = hn::Set(d, factor);
  const auto a = hn::Set(d, addend);
  auto s0 = hn::Set(d, 0.1f), s1 = hn::Set(d, 0.2f), s2 = hn::Set(d, 0.3f), s3 = hn::Set(d, 0.4f);
  auto s4 = hn::Set(d, 0.5f), s5 = hn::Set(d, 0.6f), s6 = hn::Set(d, 0.7f), s7 = hn::Set(d, 0.8f);
  auto s8 = hn::Set(d, 0.9f), s9 = hn::Set(d, 1.0f), s10 = hn::Set(d, 1.1f), s11 = hn::Set(d, 1.2f);
  for (std::int64_t step = 0; step < n_steps; ++step) {
    s0 = hn::MulAdd(s0, f, a);
    s1 = hn::MulAdd(s1, f, a);
    s2 = hn::MulAdd(s2, f, a);
    s3 = hn::MulAdd(s3, f, a);
    s4 = hn::MulAdd(s4, f, a);
    s5 = hn::MulAdd(s5, f, a);
    s6 = hn::MulAdd(s6, f, a);
    s7 = hn::MulAdd(s7, f, a);
    s8 = hn::MulAdd(s8, f, a);
    s9 = hn::MulAdd(s9, f, a);
    s10 = hn::MulAdd(s10, f, a);
    s11 = hn::MulAdd(s11, f, a);
  }
  s0 =
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  s0 = hn::Add(s0, hn::Add(hn::Add(s8, s9), hn::Add(s10, s11)));
  *sink = hn::GetLane(hn::SumOfLanes(d, s0));
  return static_cast<double>(n_steps) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

std::int64_t target_bits() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace specbench::harness
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "harness/clock.h"
#include "harness/streaming_read.h"

namespace specbench::harness {
namespace {

HWY_EXPORT(multiply_adds);
HWY_EXPORT(target_bits);

constexpr std::int64_t kBudgetNs = 220'000'000;  // for all access patterns together, filling apart

// Which of them wins depends on the machine and on where the set lies; none costs much to try.
constexpr AccessPattern kPatterns[] = {{1, 0}, {1, 1024}, {1, 4096}, {2, 0},
                                       {4, 0}, {4, 1024}, {4, 4096}};

// All threads of a team do `work(thread)`, starting together.
struct TeamTime {
  std::int64_t team_ns;      // from the first start to the last end
  std::int64_t shortest_ns;  // the thread that worked shortest: free of waiting for the others
};

// The core of both ceilings. The threads spin until all of them are seen running, so that other
// work on the machine cannot hold one back at the start; after 20 ms (more threads than free cores)
// they start regardless.
template <typename Work>
TeamTime time_team(int n_threads, SteadyClock& clock, const Work& work) {
  constexpr std::int64_t kFreshNs = 3'000;
  constexpr std::int64_t kPatienceNs = 20'000'000;
  constexpr std::size_t kLine = 8;  // words of a cache line
  const std::int64_t arrival = clock.now_ns();
  const std::size_t n = static_cast<std::size_t>(n_threads);
  std::vector<std::atomic<std::int64_t>> seen(n * kLine);
  std::atomic<std::int64_t> go_ns{0};
  std::vector<std::int64_t> times(n * 2);
#pragma omp parallel num_threads(n_threads)
  {
    const int thread = omp_get_thread_num();
    while (true) {
      const std::int64_t now = clock.now_ns();
      seen[static_cast<std::size_t>(thread) * kLine].store(now, std::memory_order_relaxed);
      const std::int64_t go = go_ns.load(std::memory_order_relaxed);
      if (go != 0 && now >= go) break;
      if (thread != 0 || go != 0) continue;
      bool are_running = true;
      for (std::size_t i = 0; i < n; ++i) {
        are_running &= now - seen[i * kLine].load(std::memory_order_relaxed) < kFreshNs;
      }
      if (are_running || now - arrival > kPatienceNs) go_ns.store(now + kFreshNs);
    }
    const std::int64_t start = clock.now_ns();
    work(thread);
    times[static_cast<std::size_t>(thread) * 2 + 1] = clock.now_ns();
    times[static_cast<std::size_t>(thread) * 2] = start;
  }
  TeamTime result{0, times[1] - times[0]};
  std::int64_t first = times[0];
  std::int64_t last = times[1];
  for (std::size_t i = 0; i < times.size(); i += 2) {
    first = std::min(first, times[i]);
    last = std::max(last, times[i + 1]);
    result.shortest_ns = std::min(result.shortest_ns, times[i + 1] - times[i]);
  }
  result.team_ns = std::max<std::int64_t>(last - first, 1);
  return result;
}

}  // namespace

double read_bandwidth(std::size_t working_set_bytes, int n_threads) {
  const SharedBuffer buffer(working_set_bytes, n_threads);
  const std::size_t part_bytes = buffer.part_bytes();
  const std::size_t n_parts = static_cast<std::size_t>(n_threads);
  SteadyClock clock;
  std::vector<std::uint64_t> sums(n_parts * 8);  // a cache line each
  const auto time_passes = [&](const AccessPattern& pattern, std::int64_t n_passes) {
    return time_team(n_threads, clock, [&](int thread) {
      for (std::int64_t pass = 0; pass < n_passes; ++pass) {
        sums[static_cast<std::size_t>(thread) * 8] ^=
            read_stream(buffer.part(thread), part_bytes, pattern);
      }
    });
  };
  double best = 0;
  // Small sets are read often enough that the start does not count: 16 MB at first, twice as much
  // while that is short.
  std::int64_t n_passes = 1 + static_cast<std::int64_t>((std::size_t{16} << 20) / part_bytes);
  const std::int64_t begin = clock.now_ns();
  while (clock.now_ns() - begin < kBudgetNs) {
    for (const AccessPattern& pattern : kPatterns) {
      const TeamTime time = time_passes(pattern, n_passes);
      const double bytes =
          static_cast<double>(part_bytes * n_parts) * static_cast<double>(n_passes);
      best = std::max(best, bytes / static_cast<double>(time.team_ns) * 1e9);
      if (time.shortest_ns < 300'000) n_passes *= 2;
      if (clock.now_ns() - begin > kBudgetNs) break;
    }
  }
  return best;
}

double multiply_add_peak(int n_threads) {
  require_team(n_threads);
  SteadyClock clock;
  // volatile: the compiler must not know the factors.
  volatile float factor = 0.999f;
  volatile float addend = 0.001f;
  const float f = factor;
  const float a = addend;
  constexpr std::int64_t kSteps = 100'000;  // .3 ms: short enough to fall between others' work
  double best = 0;
  std::vector<float> sinks(static_cast<std::size_t>(n_threads) * 16);
  std::vector<double> n_operations(static_cast<std::size_t>(n_threads) * 8);
  for (const std::int64_t begin = clock.now_ns(); clock.now_ns() - begin < kBudgetNs / 2;) {
    const TeamTime time = time_team(n_threads, clock, [&](int thread) {
      const std::size_t t = static_cast<std::size_t>(thread);
      n_operations[t * 8] = HWY_DYNAMIC_DISPATCH(multiply_adds)(kSteps, f, a, &sinks[t * 16]);
    });
    double sum = 0;
    for (const double operations : n_operations) sum += operations;
    best = std::max(best, sum / static_cast<double>(time.team_ns) * 1e9);
  }
  return best;
}

std::string ceiling_simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(target_bits)()); }

}  // namespace specbench::harness
#endif  // HWY_ONCE
