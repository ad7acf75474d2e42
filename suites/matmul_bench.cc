// Products of one matrix of every weight type, read from memory, beside what the machine can do at
// best, measured right before. Arguments: type, shape, rows, threads. Counters: GB/s and GFLOP/s
// achieved (median), and their shares of the read bandwidth and the multiply-add peak.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/cpu/head_product_test_support.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/model/weight_type.h"
#include "harness/ceiling.h"

namespace specbench::suites {
namespace {

using engine::WeightType;

constexpr std::size_t kFarFromCache = std::size_t{256} << 20;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// As many matrices, as the layers of a model, as do not fit the caches together.
std::vector<engine::PackedMatrix> matrices(WeightType type, int n_out, int n_in) {
  const std::size_t bytes = engine::packed_bytes(type, n_out, n_in);
  std::vector<engine::PackedMatrix> all;
  for (std::size_t total = 0; total < kFarFromCache; total += bytes) {
    all.push_back({type, n_out, n_in, engine::AlignedBytes(bytes)});
    // An ordinary number in every type.
    std::memset(all.back().data.data(), 0x3c, bytes);
  }
  return all;
}

void product(benchmark::State& state, WeightType type, int n_out, int n_in) {
  const int n_rows = static_cast<int>(state.range(0));
  const int n_threads = static_cast<int>(state.range(1));
  const auto all = matrices(type, n_out, n_in);
  engine::testing::HeadJob job(n_out, n_in, n_rows);
  std::vector<float> out(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(n_out));
  const double bandwidth = harness::read_bandwidth(kFarFromCache, n_threads);
  const double peak = harness::multiply_add_peak(n_threads);
  std::vector<double> times;
  std::size_t next = 0;
  const auto once = [&] {
    job.run(all[next++ % all.size()], n_rows, n_threads, 0, out.data());
    benchmark::DoNotOptimize(out.data());
  };
  once();
  for (auto _ : state) {
    const double begin = seconds();
    once();
    times.push_back(seconds() - begin);
    state.SetIterationTime(times.back());
  }
  const double time = median(times);
  const auto bytes = static_cast<double>(all.front().data.size());
  const double operations = 2.0 * n_out * n_in * n_rows;
  state.counters["GB/s"] = bytes / time * 1e-9;
  state.counters["of_read"] = bytes / time / bandwidth;
  state.counters["GFLOP/s"] = operations / time * 1e-9;
  state.counters["of_peak"] = operations / time / peak;
}

const int kRegistered = [] {
  constexpr std::pair<int, int> kShapes[] = {{576, 576},   {1536, 576},  {576, 1536},
                                             {49152, 576}, {4096, 4096}, {14336, 4096}};
  for (int type = 0; type <= static_cast<int>(WeightType::kQ6_K); ++type) {
    for (const auto& [n_out, n_in] : kShapes) {
      const auto t = static_cast<WeightType>(type);
      if (n_in % engine::block_shape(t).n_values != 0) continue;  // 576: no K-quants
      const std::string name = std::string(engine::weight_type_name(t)) + "/" +
                               std::to_string(n_out) + "x" + std::to_string(n_in);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [=, n_out = n_out, n_in = n_in](benchmark::State& s) { product(s, t, n_out, n_in); })
          ->ArgNames({"rows", "threads"})
          ->ArgsProduct({{1, 2, 5, 64, 512}, {1, 2}})
          ->UseManualTime();
    }
  }
  return 0;
}();

}  // namespace
}  // namespace specbench::suites
