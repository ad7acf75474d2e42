// Products of one matrix of every weight type, read from memory, beside what the machine can do at
// best, measured in turns with them. Arguments: type, shape, rows, threads. Counters: GB/s and
// GFLOP/s achieved, and their shares of the read bandwidth and the multiply-add peak. Times are the
// fastest tenth's: others may use the machine as well.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/cpu/head_product_test_support.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/model/weight_type.h"
#include "suites/bench_support.h"

namespace specbench::suites {
namespace {

using engine::WeightType;

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
  std::size_t next = 0;
  // Small ones several at a time, as in a model; not longer than the system lets a thread run.
  const std::size_t bytes_each = all.front().n_bytes();
  const std::size_t n_each =
      1 + (std::size_t{8} << 20) / bytes_each / static_cast<std::size_t>(n_rows);
  const double operations = 2.0 * n_out * n_in * n_rows * static_cast<double>(n_each);
  beside_ceilings(state, n_threads, static_cast<double>(n_each * bytes_each), operations, [&] {
    for (std::size_t i = 0; i < n_each; ++i)
      job.run(all[next++ % all.size()], n_rows, n_threads, 0, out.data());
    benchmark::DoNotOptimize(out.data());
  });
}

const int kRegistered = [] {
  constexpr std::pair<int, int> kShapes[] = {{576, 576},   {1536, 576},  {576, 1536},
                                             {49152, 576}, {4096, 4096}, {14336, 4096}};
  for (const WeightType t : engine::kAllWeightTypes) {
    for (const auto& [n_out, n_in] : kShapes) {
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
