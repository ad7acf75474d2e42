#include "suites/latency_subject.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace specbench::suites {

namespace {

/// The engine's announcements, passed on to the stopwatch.
class Stopwatch final : public engine::Observer {
 public:
  Stopwatch(harness::PhaseTimer& timer, int n_sequences, double injected)
      : timer_(timer), n_sequences_(n_sequences), injected_(injected) {}

  void phase(engine::Phase phase) override { timer_.enter(1 + static_cast<int>(phase)); }
  void prefill(const engine::Prefill&) override {
    if (++n_prefills_ == n_sequences_) timer_.delivered(n_sequences_);
    if (injected_ > 0) last_ns_ = clock_.now_ns();
  }
  void round(const engine::Round& round) override {
    if (injected_ > 0) inject();
    timer_.delivered(static_cast<int>(round.emitted.size()));
  }

 private:
  void inject() {
    const std::int64_t now = clock_.now_ns();
    const auto extra_ns =
        static_cast<std::int64_t>(injected_ * static_cast<double>(now - last_ns_));
    do last_ns_ = clock_.now_ns();
    while (last_ns_ < now + extra_ns);
  }

  harness::PhaseTimer& timer_;
  harness::SteadyClock clock_;
  int n_sequences_;
  double injected_;
  std::int64_t last_ns_ = 0;  ///< end of the last round, its injected work included
  int n_prefills_ = 0;
};
static_assert(1 + static_cast<int>(engine::Phase::kPrefill) == kPhasePrefill &&
              1 + static_cast<int>(engine::Phase::kTrim) == kPhaseTrim);

/// Hands every event to the figures and to the steps; ends where the user has stopped the run.
class CheckedObserver final : public engine::Observer {
 public:
  CheckedObserver(Tally& tally, StepCounter& steps, const std::atomic<bool>& stop)
      : tally_(tally), steps_(steps), stop_(stop) {}
  void phase(engine::Phase phase) override { steps_.phase(phase); }
  void prefill(const engine::Prefill& prefill) override {
    tally_.prefill(prefill);
    steps_.prefill(prefill);
  }
  void round(const engine::Round& round) override {
    tally_.round(round);
    steps_.round(round);
  }
  bool is_cancelled() override { return stop_; }

 private:
  Tally& tally_;
  StepCounter& steps_;
  const std::atomic<bool>& stop_;
};

}  // namespace

std::vector<std::string> phase_names() {
  return {"other", "prefill", "draft", "verify", "accept", "trim"};
}

DraftShape draft_shape(std::string_view drafter, int draft_layers, int n_layers) {
  if (drafter == "layer-skip") return {draft_layers, true, true};
  if (drafter == "oracle") return {n_layers, true, false};
  return {};  // null and uniform do not ask the model
}

std::int64_t StepCounts::n_rounds() const {
  return std::accumulate(rounds_by_drafted.begin(), rounds_by_drafted.end(), std::int64_t{0});
}

void StepCounter::phase(engine::Phase phase) {
  if (phase != engine::Phase::kVerify) return;
  ++counts.n_steps;
  longest_draft_ = 0;
}

void StepCounter::prefill(const engine::Prefill& prefill) {
  ++counts.n_sequences;
  counts.n_prompt_tokens += prefill.n_prompt;
}

void StepCounter::round(const engine::Round& round) {
  const int n = round.n_drafted();
  counts.n_draft_steps += std::max(0, n - longest_draft_);
  longest_draft_ = std::max(longest_draft_, n);
  for (int i = 0; i < n; ++i) counts.n_draft_entries += round.first_pos + i;
  counts.n_verify_entries += round.first_pos + n;
  const auto at = static_cast<std::size_t>(n);
  if (counts.rounds_by_drafted.size() <= at) counts.rounds_by_drafted.resize(at + 1);
  ++counts.rounds_by_drafted[at];
}

Arm::Arm(std::string name, engine::Backend& backend, engine::Drafter* drafter,
         engine::DecodeOptions options, std::span<const Case> cases, double injected)
    : name_(std::move(name)),
      backend_(backend),
      drafter_(drafter),
      options_(options),
      cases_(cases),
      injected_(injected) {
  if (drafter_ == nullptr) options_.draft_tokens = 0;
}

void Arm::prepare(int) {
  for (int lane = 0; lane < backend_.options().n_lanes; ++lane) backend_.reset(lane, 0);
}

std::vector<engine::Completion> Arm::decode(int case_index, engine::Observer& observer) {
  const Case& requests = cases_[static_cast<std::size_t>(case_index)];
  return drafter_ == nullptr
             ? engine::decode_autoregressive(backend_, requests, options_, observer)
             : engine::decode_speculative(backend_, *drafter_, requests, options_, observer);
}

harness::Outcome Arm::run(int case_index, harness::PhaseTimer& timer) {
  Stopwatch stopwatch(timer, static_cast<int>(cases_[static_cast<std::size_t>(case_index)].size()),
                      injected_);
  const auto completions = decode(case_index, stopwatch);
  return outcome_of(completions);
}

harness::Outcome outcome_of(std::span<const engine::Completion> completions) {
  harness::Outcome outcome{0, 0xcbf29ce484222325ULL};
  const auto mix = [&](std::uint64_t word) {
    outcome.fingerprint = (outcome.fingerprint ^ word) * 0x100000001b3ULL;
  };
  for (const engine::Completion& completion : completions) {
    for (const engine::TokenId id : completion.tokens) mix(static_cast<std::uint64_t>(id));
    mix(~std::uint64_t{0});  // no id: ends the request
    outcome.n_tokens += static_cast<std::int64_t>(completion.tokens.size());
  }
  return outcome;
}

CheckedPass run_checked(Arm& arm, const Context& context) {
  CheckedPass pass;
  pass.tally.wants_overlap = true;
  StepCounter steps;
  CheckedObserver observer(pass.tally, steps, *context.stop);
  arm.backend().clear_work();
  const int n_cases = static_cast<int>(arm.cases().size());
  for (int c = 0; c < n_cases && !*context.stop; ++c) {
    const std::int64_t n_rounds = pass.tally.n_rounds, n_accepted = pass.tally.n_accepted;
    auto completions = arm.decode(c, observer);
    pass.rounds.push_back({pass.tally.n_rounds - n_rounds, pass.tally.n_accepted - n_accepted});
    pass.outcomes.push_back(outcome_of(completions));
    for (engine::Completion& completion : completions)
      pass.completions.push_back(std::move(completion));
    if (context.progress != nullptr)
      context.progress->show("checking " + arm.name(), c + 1, n_cases);
  }
  pass.steps = steps.counts;
  pass.work = arm.backend().work();
  return pass;
}

}  // namespace specbench::suites
