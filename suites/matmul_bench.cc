// Products of one matrix of every weight type, read from memory, beside what the machine can do at
// best, measured in turns with them. Arguments: type, shape, rows, threads. Counters: GB/s and
// GFLOP/s achieved, and their shares of the read bandwidth and the multiply-add peak. Times are the
// fastest tenth's: others may use the machine as well.
#include <benchmark/benchmark.h>
#include <omp.h>

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
#include "harness/streaming_read.h"

namespace specbench::suites {
namespace {

using engine::WeightType;

constexpr std::size_t kFarFromCache = std::size_t{256} << 20;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double fastest_tenth(std::vector<double> times) {
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

/// Reads as much as a product does, from another place each time.
class Reading {
 public:
  explicit Reading(int n_threads) : buffer_(kFarFromCache, n_threads) {}
  double seconds_for(std::size_t n_bytes) {
    const std::size_t part = n_bytes / static_cast<std::size_t>(buffer_.n_threads()) / 4096 * 4096;
    if (at_ + part > buffer_.part_bytes()) at_ = 0;
    std::uint64_t sum = 0;
    const double begin = seconds();
#pragma omp parallel num_threads(buffer_.n_threads()) reduction(^ : sum)
    sum ^= harness::read_stream(buffer_.part(omp_get_thread_num()) + at_ / 8, part, {1, 0});
    const double end = seconds();
    benchmark::DoNotOptimize(sum);
    at_ += part;
    return end - begin;
  }

 private:
  harness::SharedBuffer buffer_;
  std::size_t at_ = 0;
};

/// As many matrices, as the layers of a model, as do not fit the caches together.
std::vector<engine::PackedMatrix> matrices(WeightType type, int n_out, int n_in,
                                           engine::AlignedBytes& room) {
  const std::size_t bytes = engine::packed_bytes(type, n_out, n_in);
  const std::size_t n = kFarFromCache / bytes + 1;
  room = engine::AlignedBytes(n * bytes);
  std::memset(room.data(), 0x3c, room.size());  // an ordinary number in every type
  std::vector<engine::PackedMatrix> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back({type, n_out, n_in, room.data() + i * bytes});
  return all;
}

void product(benchmark::State& state, WeightType type, int n_out, int n_in) {
  const int n_rows = static_cast<int>(state.range(0));
  const int n_threads = static_cast<int>(state.range(1));
  engine::AlignedBytes room;
  const auto all = matrices(type, n_out, n_in, room);
  engine::testing::HeadJob job(n_out, n_in, n_rows);
  std::vector<float> out(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(n_out));
  Reading reading(n_threads);
  const double peak = harness::multiply_add_peak(n_threads);
  std::vector<double> times, reads;
  std::size_t next = 0;
  // Small ones several at a time, as in a model; not longer than the system lets a thread run.
  const std::size_t bytes_each = all.front().n_bytes();
  const std::size_t n_each =
      1 + (std::size_t{8} << 20) / bytes_each / static_cast<std::size_t>(n_rows);
  const std::size_t n_bytes = n_each * bytes_each;
  for (auto _ : state) {
    const double begin = seconds();
    for (std::size_t i = 0; i < n_each; ++i)
      job.run(all[next++ % all.size()], n_rows, n_threads, 0, out.data());
    times.push_back(seconds() - begin);
    benchmark::DoNotOptimize(out.data());
    state.SetIterationTime(times.back());
    reads.push_back(reading.seconds_for(n_bytes));
  }
  const double time = fastest_tenth(times);
  const auto bytes = static_cast<double>(n_bytes);
  const double operations = 2.0 * n_out * n_in * n_rows * static_cast<double>(n_each);
  state.counters["GB/s"] = bytes / time * 1e-9;
  state.counters["of_read"] = fastest_tenth(reads) / time;
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
