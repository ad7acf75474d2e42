#include "suites/latency_allocations.h"

#include <fmt/format.h>

#include "harness/allocations.h"

namespace specbench::suites {

namespace {

class AllocationCounter final : public engine::Observer {
 public:
  explicit AllocationCounter(const std::atomic<bool>& stop) : stop_(stop) {}
  void phase(engine::Phase) override {}
  void prefill(const engine::Prefill&) override { n_rounds_ = 0; }
  void round(const engine::Round&) override {
    const std::int64_t now = harness::n_allocations().value_or(0);
    if (n_rounds_++ >= kRoundsOfGrowth) sum += now - last_;
    last_ = now;
  }
  bool is_cancelled() override { return stop_; }

  std::int64_t sum = 0;

 private:
  static constexpr int kRoundsOfGrowth = 2;
  const std::atomic<bool>& stop_;
  int n_rounds_ = 0;
  std::int64_t last_ = 0;
};

}  // namespace

std::optional<std::int64_t> count_allocations(Arm& arm, const Context& context) {
  if (!harness::n_allocations()) return std::nullopt;
  AllocationCounter counter(*context.stop);
  for (int c = 0; c < static_cast<int>(arm.cases().size()) && !*context.stop; ++c) {
    arm.prepare(c);
    (void)arm.decode(c, counter);
  }
  return counter.sum;
}

std::vector<results::Check> check_allocations(const Context& context, Arm& autoregressive,
                                              Arm& speculative, results::Record& record) {
  results::Check check{"counters.allocations", results::CheckStatus::kPassed,
                       "The decoding loop takes nothing from the heap."};
  // Penalties and stop strings look back over the text with lists of their own; lanes of a batch
  // start and grow at different rounds. Their counts are kept, and gated as counters.
  const Options& o = context.options;
  const bool is_plain = !o.sampling.has_processors() && o.stop_texts.empty() && o.batch <= 1;
  for (Arm* arm : {&autoregressive, &speculative}) {
    const auto n = count_allocations(*arm, context);
    if (!n || context.options.backend != "cpu" || kPoisonByDefault)
      return {{check.id, results::CheckStatus::kSkipped,
               "Counted on the cpu backend alone, and in release builds."}};
    record.counters.emplace_back("allocations." + arm->name(), *n);
    if (*n == 0 || *context.stop) continue;
    check.status = is_plain ? results::CheckStatus::kFailed : results::CheckStatus::kSkipped;
    check.detail = fmt::format("The {} loop took {} pieces of memory from the heap in one pass.",
                               arm->name(), *n);
  }
  return {check};
}

}  // namespace specbench::suites
