#include "harness/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "harness/marks.h"
#include "harness/stopping.h"

namespace specbench::harness {
namespace {

// Sebastiano Vigna's splitmix64: the whole state is the key, so a draw depends on nothing drawn
// before.
std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Finds runs of one (arm, case) that did not do the same work, and arms that should agree but do
// not.
class FingerprintLedger {
 public:
  FingerprintLedger(const Plan& plan, const std::vector<std::string>& arm_names)
      : plan_(plan),
        arm_names_(arm_names),
        first_(arm_names.size() * static_cast<std::size_t>(plan.n_cases)) {}

  void record(int arm, int case_index, const Outcome& outcome) {
    Entry& entry = at(arm, case_index);
    if (!entry.is_known) {
      entry.is_known = true;
      entry.outcome = outcome;
    } else if (!entry.is_reported && !are_equal(entry.outcome, outcome)) {
      entry.is_reported = true;
      faults_.push_back(
          fmt::format("arm '{}' did different work in two repetitions of case {}: {} first, then "
                      "{}; it is not deterministic",
                      name(arm), case_index, text(entry.outcome), text(outcome)));
    }
  }

  // To be called once every arm has run every case.
  void compare_arms() {
    for (const std::vector<int>& group : plan_.equal_fingerprint_groups) {
      for (std::size_t i = 1; i < group.size(); ++i) compare_pair(group[0], group[i]);
    }
  }

  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Entry {
    bool is_known = false;
    bool is_reported = false;
    Outcome outcome;
  };

  void compare_pair(int one, int other) {
    for (int c = 0; c < plan_.n_cases; ++c) {
      const Entry& a = at(one, c);
      const Entry& b = at(other, c);
      if (!a.is_known || !b.is_known || are_equal(a.outcome, b.outcome)) continue;
      faults_.push_back(
          fmt::format("arms '{}' and '{}' must emit the same on case {} but do not: {} against {}",
                      name(one), name(other), c, text(a.outcome), text(b.outcome)));
    }
  }

  static bool are_equal(const Outcome& a, const Outcome& b) {
    return a.fingerprint == b.fingerprint && a.n_tokens == b.n_tokens;
  }
  static std::string text(const Outcome& outcome) {
    return fmt::format("{} tokens, fingerprint {:016x}", outcome.n_tokens, outcome.fingerprint);
  }
  const std::string& name(int arm) const { return arm_names_[static_cast<std::size_t>(arm)]; }
  Entry& at(int arm, int case_index) {
    return first_[static_cast<std::size_t>(arm) * static_cast<std::size_t>(plan_.n_cases) +
                  static_cast<std::size_t>(case_index)];
  }

  const Plan& plan_;
  const std::vector<std::string>& arm_names_;
  std::vector<Entry> first_;  // [n_arms, n_cases]
  std::vector<std::string> faults_;
};

// The state of one call of `measure`.
class Measurement {
 public:
  Measurement(std::span<Subject* const> arms, const Plan& plan, Clock& clock,
              const std::function<void(const Progress&)>& on_progress,
              const std::atomic<bool>& stop, Watch* watch, Series& series)
      : arms_(arms),
        plan_(plan),
        on_progress_(on_progress),
        stop_(stop),
        series_(series),
        timer_(clock, static_cast<int>(plan.phase_names.size()), plan.chunk_capacity),
        ledger_(plan, series.arm_names),
        marker_(watch, series.samples) {}

  void run_all() {
    const bool is_warm = warm_up();
    marker_.finish();
    if (is_warm && check_fingerprints(true)) run_blocks();
    marker_.finish();
    check_fingerprints(false);
    if (n_chunks_lost_ == 0) return;
    series_.chunks_complete = false;
    series_.faults.push_back(fmt::format(
        "{} deliveries were not recorded because a run made more than chunk_capacity {}: raise it",
        n_chunks_lost_, plan_.chunk_capacity));
  }

 private:
  bool warm_up() {
    const bool is_article = plan_.protocol == Protocol::kArticle;
    WarmupRule rule(plan_.n_warmups, is_article ? plan_.n_warmups : plan_.max_warmups,
                    plan_.warmup_tolerance);
    while (!rule.is_over()) {
      n_total_ =
          n_runs_a_pass() * (std::max(plan_.n_warmups, rule.n_windows() + 1) + plan_.n_blocks);
      const std::size_t n_before = series_.samples.size();
      if (!run_pass(true, rule.n_windows())) return false;
      rule.add_window(arm_medians(n_before));
      series_.warmups_done = rule.n_windows();
      series_.warmup_converged = rule.has_converged();
    }
    n_total_ = n_runs_a_pass() * (rule.n_windows() + plan_.n_blocks);
    return true;
  }

  void run_blocks() {
    for (int block = 0; block < plan_.n_blocks && ledger_.faults().empty(); ++block) {
      if (!run_pass(false, block)) return;
      series_.blocks_done = block + 1;
    }
  }

  // Every arm once on every case. False: interrupted.
  bool run_pass(bool is_warmup, int block) {
    int order = 0;
    for (int c = 0; c < plan_.n_cases; ++c) {
      for (const int arm :
           arm_order(plan_.seed, is_warmup, block, c, static_cast<int>(arms_.size()))) {
        if (stop_.load(std::memory_order_relaxed)) {
          series_.was_interrupted = true;
          return false;
        }
        Sample sample;
        sample.arm = arm;
        sample.case_index = c;
        sample.block = block;
        sample.order = order++;
        sample.is_warmup = is_warmup;
        run_one(sample);
      }
    }
    marker_.pass_ended();
    return true;
  }

  void run_one(Sample& sample) {
    Subject& subject = *arms_[static_cast<std::size_t>(sample.arm)];
    if (plan_.take_turn) plan_.take_turn();
    subject.prepare(sample.case_index);
    marker_.before_run();
    subject.synchronize();
    timer_.start();
    const Outcome outcome = subject.run(sample.case_index, timer_);
    subject.synchronize();
    timer_.stop();

    sample.wall_ns = timer_.wall_ns();
    sample.first_token_ns = timer_.first_token_ns();
    sample.decode_ns = timer_.decode_ns();
    sample.phase_ns.assign(timer_.phase_ns().begin(), timer_.phase_ns().end());
    sample.chunk_end_ns.assign(timer_.chunk_end_ns().begin(), timer_.chunk_end_ns().end());
    sample.chunk_tokens.assign(timer_.chunk_tokens().begin(), timer_.chunk_tokens().end());
    sample.n_tokens = outcome.n_tokens;
    sample.fingerprint = outcome.fingerprint;
    n_chunks_lost_ += timer_.n_chunks_lost();
    ledger_.record(sample.arm, sample.case_index, outcome);
    const Progress progress{sample.arm,       sample.case_index, sample.block,
                            sample.is_warmup, ++n_done_,         n_total_};
    series_.samples.push_back(std::move(sample));
    marker_.after_run();
    if (on_progress_) on_progress_(progress);
  }

  // Faults so far go to the series; true if there are none.
  bool check_fingerprints(bool is_warmup_end) {
    if (is_warmup_end) ledger_.compare_arms();
    series_.faults = ledger_.faults();
    series_.fingerprints_agree = series_.faults.empty();
    return series_.fingerprints_agree;
  }

  std::vector<double> arm_medians(std::size_t first_sample) const {
    std::vector<std::vector<double>> walls(arms_.size());
    for (std::size_t i = first_sample; i < series_.samples.size(); ++i) {
      const Sample& sample = series_.samples[i];
      walls[static_cast<std::size_t>(sample.arm)].push_back(static_cast<double>(sample.wall_ns));
    }
    std::vector<double> medians;
    medians.reserve(walls.size());
    for (std::vector<double>& values : walls) medians.push_back(median(std::move(values)));
    return medians;
  }

  int n_runs_a_pass() const { return static_cast<int>(arms_.size()) * plan_.n_cases; }

  std::span<Subject* const> arms_;
  const Plan& plan_;
  const std::function<void(const Progress&)>& on_progress_;
  const std::atomic<bool>& stop_;
  Series& series_;
  PhaseTimer timer_;
  FingerprintLedger ledger_;
  Marker marker_;
  std::int64_t n_chunks_lost_ = 0;
  int n_done_ = 0;
  int n_total_ = 0;
};

void require(bool is_met, const std::string& sentence) {
  if (!is_met) throw std::invalid_argument(sentence);
}

}  // namespace

double Series::marked_share() const {
  std::int64_t n_measured = 0;
  std::int64_t n_marked = 0;
  for (const Sample& sample : samples) {
    n_measured += sample.is_warmup ? 0 : 1;
    n_marked += !sample.is_warmup && !sample.mark.empty() ? 1 : 0;
  }
  return n_measured == 0 ? 0 : static_cast<double>(n_marked) / static_cast<double>(n_measured);
}

bool is_void_by_marks(const Series& series, double limit) { return series.marked_share() > limit; }

void validate(const Plan& plan, int n_arms) {
  require(n_arms >= 1, "a measurement needs at least one arm");
  require(plan.n_cases >= 1,
          fmt::format("n_cases is {}; a measurement needs at least one case", plan.n_cases));
  require(!plan.phase_names.empty(), "the plan names no phase; name at least one");
  if (plan.protocol == Protocol::kArticle) {
    require(plan.n_warmups == 3 && plan.n_blocks == 5,
            fmt::format("the article's protocol is 3 warm-ups and 5 repetitions, not {} and {}; "
                        "use the standard protocol for others",
                        plan.n_warmups, plan.n_blocks));
  } else {
    require(plan.n_warmups >= 3,
            fmt::format("{} warm-ups are too few; ask for at least 3", plan.n_warmups));
    require(plan.n_blocks >= 5,
            fmt::format("{} repetitions are too few; ask for at least 5", plan.n_blocks));
    require(plan.max_warmups >= plan.n_warmups,
            fmt::format("max_warmups {} is below n_warmups {}; raise it", plan.max_warmups,
                        plan.n_warmups));
    require(std::isfinite(plan.warmup_tolerance) && plan.warmup_tolerance > 0,
            fmt::format("warmup_tolerance is {}; it must be above 0", plan.warmup_tolerance));
  }
  for (const std::vector<int>& group : plan.equal_fingerprint_groups) {
    for (const int arm : group) {
      require(arm >= 0 && arm < n_arms,
              fmt::format("a group of equal fingerprints names arm {}, but arms go from 0 to {}",
                          arm, n_arms - 1));
    }
  }
}

std::vector<int> arm_order(std::uint64_t seed, bool is_warmup, int block, int case_index,
                           int n_arms) {
  std::uint64_t state = splitmix64(seed);
  state = splitmix64(state ^ (is_warmup ? 1u : 0u));
  state = splitmix64(state ^ static_cast<std::uint64_t>(block));
  state = splitmix64(state ^ static_cast<std::uint64_t>(case_index));
  std::vector<int> order(static_cast<std::size_t>(n_arms));
  std::iota(order.begin(), order.end(), 0);
  // Fisher-Yates. The bias of the remainder is below n_arms / 2^64.
  for (std::size_t i = order.size(); i > 1; --i) {
    state = splitmix64(state);
    std::swap(order[i - 1], order[state % i]);
  }
  return order;
}

Series measure(std::span<Subject* const> arms, const Plan& plan, Clock& clock,
               const std::function<void(const Progress&)>& on_progress,
               const std::atomic<bool>& stop, Watch* watch) {
  validate(plan, static_cast<int>(arms.size()));
  Series series;
  series.phase_names = plan.phase_names;
  series.was_watched = watch != nullptr;
  for (const Subject* arm : arms) {
    for (const std::string& other : series.arm_names) {
      require(other != arm->name(),
              fmt::format("two arms are called '{}'; give each its own name", other));
    }
    series.arm_names.push_back(arm->name());
  }
  Measurement(arms, plan, clock, on_progress, stop, watch, series).run_all();
  return series;
}

}  // namespace specbench::harness
