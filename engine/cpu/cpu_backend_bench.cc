// Micro benchmarks of the cpu backend on the shape of the embedded model (random weights: the time
// is the same). Arguments: rows or threads, threads. Counters: bytes of weights and cache read a
// second, floating-point operations a second. For products of every weight type beside the
// machine's ceilings see suites/matmul_bench.cc; for larger models suites/model_bench.cc.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/accept.h"
#include "engine/coins.h"
#include "engine/engine_test_support.h"
#include "engine/sampling.h"

namespace specbench::engine {
namespace {

constexpr int kContext = 128;  // entries in the cache when a step begins

const Model& model() {
  static const std::unique_ptr<Model> instance = testing::random_model(testing::austen_shape(), 1);
  return *instance;
}

double layer_weights() {
  const ModelConfig& c = model().config;
  const int heads = c.n_heads * c.head_dim;
  const int kv = c.n_kv_heads * c.head_dim;
  return c.n_layers *
         (static_cast<double>(c.width) * (2 * heads + 2 * kv) + 3.0 * c.width * c.ffn_width);
}
double head_weights() {
  return static_cast<double>(model().config.vocab_size) * model().config.width;
}

// Lanes of at most 64 rows each, every lane with kContext entries.
class Step {
 public:
  Step(int n_rows, int n_threads) {
    const int n_lanes = (n_rows + kMaxRows - 1) / kMaxRows;
    BackendOptions options = testing::backend_options(n_lanes, n_threads);
    options.poison = false;
    backend_ = make_backend("cpu", model(), options);
    const auto tokens = testing::random_tokens(kContext, model().config, 2);
    for (int lane = 0; lane < n_lanes; ++lane) {
      backend_->reset(lane, 0);
      backend_->forward(testing::rows_of(lane, 0, tokens, 0), 0, model().config.n_layers);
    }
    for (int i = 0; i < n_rows; ++i)
      rows_.push_back({i % n_lanes, kContext + i / n_lanes, i % 4096, i});
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return a.lane != b.lane ? a.lane < b.lane : a.pos < b.pos;
    });
    logits_.resize(static_cast<std::size_t>(n_rows) * 4096);
  }
  void forward() {
    backend_->forward(rows_, 0, model().config.n_layers);
    for (int lane = 0; lane < backend_->options().n_lanes; ++lane) backend_->trim(lane, kContext);
  }
  void head() {
    backend_->logits(rows_, logits_.data());
    benchmark::DoNotOptimize(logits_.data());
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<Row> rows_;
  std::vector<float> logits_;
};

void count(benchmark::State& state, double weights, int n_rows, bool with_cache) {
  const ModelConfig& c = model().config;
  const double cache = with_cache ? 2.0 * kContext * c.n_layers * c.n_kv_heads * c.head_dim : 0.0;
  state.counters["bytes/s"] =
      benchmark::Counter((weights + cache) * 4.0, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["FLOP/s"] =
      benchmark::Counter(weights * 2.0 * n_rows, benchmark::Counter::kIsIterationInvariantRate);
}

void steps(benchmark::State& state, int n_rows, int n_threads) {
  Step step(n_rows, n_threads);
  for (auto _ : state) {
    step.forward();
    step.head();
  }
  count(state, layer_weights() + head_weights(), n_rows, true);
}

void BM_one_row_step(benchmark::State& state) { steps(state, 1, static_cast<int>(state.range(0))); }
BENCHMARK(BM_one_row_step)->Arg(1)->Arg(2)->UseRealTime();

void BM_rows_step(benchmark::State& state) {
  steps(state, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
}
BENCHMARK(BM_rows_step)->ArgsProduct({{2, 3, 5, 12, 64, 192}, {1, 2}})->UseRealTime();

void BM_head(benchmark::State& state) {
  const int n_rows = static_cast<int>(state.range(0));
  Step step(n_rows, static_cast<int>(state.range(1)));
  step.forward();
  for (auto _ : state) step.head();
  count(state, head_weights(), n_rows, false);
}
BENCHMARK(BM_head)->ArgsProduct({{1, 5}, {1, 2}})->UseRealTime();

std::vector<float> some_logits(std::uint64_t seed) {
  testing::Numbers numbers(seed);
  return testing::random_vector(4096, 0.0, 3.0, numbers);
}

void BM_make_law(benchmark::State& state) {
  const auto logits = some_logits(3);
  SamplingParams params;
  if (state.range(0) == 1) params.top_p = 0.9;
  if (state.range(0) == 2) params.top_k = 50;
  LawBuffer room(1, 4096);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        make_law(logits.data(), 4096, params, room.weights(0), room.chunk_sums(0)).total);
}
BENCHMARK(BM_make_law)->ArgName("plain/top-p/top-k")->DenseRange(0, 2);

void BM_accept_token(benchmark::State& state) {
  LawBuffer room(3, 4096);
  const auto law = [&](int i, std::uint64_t seed) {
    return make_law(some_logits(seed).data(), 4096, {}, room.weights(i), room.chunk_sums(i));
  };
  const Law target = law(0, 1);
  const Law draft = law(1, 2);
  const Law drafts[] = {draft, draft, draft, draft};
  const Law targets[] = {target, target, target, target, target};
  std::uint32_t request = 0;
  for (auto _ : state) {
    const RoundCoins coins = round_coins(1, request++, 10, 4);
    TokenId drafted[4];
    for (std::size_t i = 0; i < 4; ++i) drafted[i] = draw(draft, coins.target[i]);
    benchmark::DoNotOptimize(
        accept_token({drafted, drafts, targets}, coins, {room.weights(2), room.chunk_sums(2)}));
  }
}
BENCHMARK(BM_accept_token);

void BM_coupled_draw(benchmark::State& state) {
  LawBuffer room(1, 4096);
  const Law law = make_law(some_logits(1).data(), 4096, {}, room.weights(0), room.chunk_sums(0));
  std::uint32_t pos = 0;
  for (auto _ : state) benchmark::DoNotOptimize(coupled_draw(law, 1, 2, pos++));
}
BENCHMARK(BM_coupled_draw);

}  // namespace
}  // namespace specbench::engine
