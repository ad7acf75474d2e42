// How near a step comes to what the machine can do: each figure is a ratio of times taken in one
// run, the ceilings measured right beside the steps.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "harness/ceiling.h"
#include "suites/bench_support.h"

namespace specbench::suites {
namespace {

constexpr int kContext = 128;  // tokens in the cache

/// The embedded model with a filled cache.
class Bench {
 public:
  explicit Bench(int n_threads)
      : model_(engine::load_hugging_face(std::string(SPECBENCH_SOURCE_DIR) +
                                         "/engine/models/austen-10m")),
        logits_(64 * static_cast<std::size_t>(model_.config.vocab_size)) {
    engine::BackendOptions options;
    options.max_length = 2 * kContext;
    options.n_threads = n_threads;
    backend_ = engine::make_backend("cpu", model_, options);
    for (int pos = 0; pos < kContext; ++pos) {
      const engine::Row row{0, pos, pos, 0};
      backend_->forward({&row, 1}, 0, model_.config.n_layers);
    }
  }

  /// Seconds of one step of n rows of one sequence.
  double step(int n_rows) {
    std::vector<engine::Row> rows;
    for (int i = 0; i < n_rows; ++i) rows.push_back({0, kContext + i, i, i});
    const double begin = seconds();
    backend_->forward(rows, 0, model_.config.n_layers);
    backend_->logits(rows, logits_.data());
    const double end = seconds();
    backend_->trim(0, kContext);
    return end - begin;
  }

  double n_weights() const {
    const auto& c = model_.config;
    const double layer =
        static_cast<double>(c.width) * c.head_dim * (2 * c.n_heads + 2 * c.n_kv_heads) +
        3.0 * c.width * c.ffn_width;
    return layer * c.n_layers + static_cast<double>(c.vocab_size) * c.width;
  }
  double bytes_of_step() const {
    return 4.0 * n_weights() + 8.0 * kContext * model_.config.n_layers * model_.config.n_kv_heads *
                                   model_.config.head_dim;
  }

 private:
  engine::Model model_;
  std::unique_ptr<engine::Backend> backend_;
  std::vector<float> logits_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// floor_share: bytes over measured bandwidth at this working set, over the time of a one-row step.
// five_rows: a 5-row step over max(one-row step, its operations over the measured multiply-add
// peak).
void BM_floor(benchmark::State& state) {
  const int n_threads = static_cast<int>(state.range(0));
  Bench bench(n_threads);
  std::vector<double> shares, five_rows;
  for (auto _ : state) {
    const double bandwidth =
        harness::read_bandwidth(static_cast<std::size_t>(bench.bytes_of_step()), n_threads);
    const double peak = harness::multiply_add_peak(n_threads);
    std::vector<double> one, five;
    for (int i = 0; i < 100; ++i) {
      one.push_back(bench.step(1));
      five.push_back(bench.step(5));
    }
    // The bandwidth is a best pass, so the step it is held against is a best one too; the two steps
    // are compared by medians.
    shares.push_back(bench.bytes_of_step() / bandwidth / *std::min_element(one.begin(), one.end()));
    five_rows.push_back(median(five) / std::max(median(one), 5 * 2 * bench.n_weights() / peak));
  }
  state.counters["floor_share"] = median(shares);
  state.counters["five_rows"] = median(five_rows);
}
BENCHMARK(BM_floor)->Arg(1)->Arg(2)->Iterations(7)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace specbench::suites
