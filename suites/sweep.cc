#include "suites/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>

#include "engine/error.h"
#include "harness/environment.h"
#include "harness/watch.h"
#include "suites/latency_checks.h"
#include "suites/latency_report.h"
#include "suites/latency_subject.h"
#include "suites/latency_validity.h"
#include "suites/lossless.h"
#include "suites/samples.h"
#include "suites/sweep_report.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

constexpr int kBlocks = 5;

void require(bool is_met, const std::string& sentence) {
  if (!is_met) throw engine::InputError(sentence);
}

/// One exit layer and draft length, with its own drafter.
struct Candidate {
  int layers = 0;
  int draft_tokens = 0;
  std::unique_ptr<engine::Drafter> drafter;
  engine::DecodeOptions decoding;
  CheckedPass pass;
};

/// Everything the arms share, and the arms: autoregressive, then the cells in order of the grid.
class Sweep {
 public:
  Sweep(const Context& context, const engine::Steps& steps, const SweepGrid& grid)
      : context_(context) {
    require_options(context, grid);
    plain_ = decode_options(context);
    plain_.stop_at_eos = context.options.stop_at_eos;
    plain_.steps = steps;
    max_tokens_ = context.options.max_tokens > 0 ? context.options.max_tokens : grid.max_tokens;
    make_cases(grid.n_prompts);
    backend_ = open_backend(context, 1, longest_sequence(context, max_tokens_),
                            *std::max_element(grid.draft_tokens.begin(), grid.draft_tokens.end()));
    arms_.emplace_back(kArmNames[kAutoregressive], *backend_, nullptr, plain_, cases_);
    for (const int k : grid.layers)
      for (const int g : grid.draft_tokens)
        if (k < context.model.config.n_layers) add(k, g);
  }

  void run(results::Record& record) {
    describe(record);
    if (!check(record)) return;
    const harness::Series series = measure(record);
    save_samples(series, 0, record);
    if (series.is_refused()) return conclude_void(series.faults.front() + ".", record);
    if (!check_timed(series, record)) return;
    if (series.blocks_done == 0)
      return conclude_void("interrupted before the first whole block.", record);
    report_sweep(cells_of(series), record);
    if (record.verdict.empty())
      conclude_void("no prompt emitted a token behind its first in both arms.", record);
    else if (harness::is_void_by_marks(series))
      conclude_void(fmt::format("the machine was not left to this run: {:.0f} % of its samples are "
                                "marked. Measured all the same: {}",
                                100 * series.marked_share(), record.verdict),
                    record);
  }

 private:
  static void require_options(const Context& context, const SweepGrid& grid) {
    const Options& o = context.options;
    require(o.drafter == "layer-skip",
            "--drafter is " + o.drafter +
                "; the sweep goes over the exit layers of layer-skip, leave it out.");
    require(o.batch <= 1, fmt::format("--batch is {}; the sweep decodes one sequence at a time, "
                                      "leave it out.",
                                      o.batch));
    require(o.max_tokens != 1,
            "--max-tokens is 1; the sweep needs at least 2, since the first token belongs to the "
            "prefill.");
    const int lowest = *std::min_element(grid.layers.begin(), grid.layers.end());
    require(lowest < context.model.config.n_layers,
            fmt::format("The model has {} layers; a sweep needs one that may be left out.",
                        context.model.config.n_layers));
  }

  /// Prompts from all over the set, a case each.
  void make_cases(int n_prompts) {
    const std::size_t n = context_.prompts.size();
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_prompts); ++i) {
      const Prompt& prompt =
          context_
              .prompts[i * std::max<std::size_t>(1, n / static_cast<std::size_t>(n_prompts)) % n];
      cases_.push_back({{static_cast<std::uint32_t>(i), prompt.ids, max_tokens_}});
    }
  }

  void add(int layers, int draft_tokens) {
    Candidate one{layers, draft_tokens, nullptr, plain_, {}};
    one.drafter = engine::make_drafter("layer-skip", layers, context_.model.config);
    one.decoding.draft_tokens = draft_tokens;
    arms_.emplace_back(fmt::format("k{}-g{}", layers, draft_tokens), *backend_, one.drafter.get(),
                       one.decoding, cases_);
    candidates_.push_back(std::move(one));
  }

  void describe(results::Record& record) const {
    // One value for the whole run would say the wrong thing of most cells.
    std::erase_if(record.options, [](const auto& entry) {
      return entry.first == "draft_layers" || entry.first == "draft_tokens";
    });
    const results::Entries entries = {
        {"prompts", context_.options.prompts.empty() ? "embedded" : context_.options.prompts},
        {"n_prompts", static_cast<std::int64_t>(cases_.size())},
        {"max_tokens", std::int64_t{max_tokens_}},
        {"stop_at_eos", plain_.stop_at_eos},
        {"blocks", std::int64_t{kBlocks}},
        {"warmups", std::int64_t{kLeastWarmups}}};
    record.options.insert(record.options.end(), entries.begin(), entries.end());
    record.counters.emplace_back("sweep.cells", static_cast<std::int64_t>(candidates_.size()));
  }

  bool must_equal() const { return must_be_equal(plain_, "layer-skip"); }

  /// The untimed passes, and a check "sweep.<arm>" of each. False: do not time what is wrong, or
  /// what was interrupted.
  bool check(results::Record& record) {
    plain_pass_ = run_checked(arms_.front(), context_);
    for (std::size_t i = 0; i < candidates_.size() && !*context_.stop; ++i)
      candidates_[i].pass = run_checked(arms_[i + 1], context_);
    if (*context_.stop) {
      conclude_void("interrupted before anything was timed.", record);
      return false;
    }
    const int n_layers = context_.model.config.n_layers;
    std::vector<results::Check> found =
        check_identities(plain_pass_.tally, plain_pass_.completions, 0);
    append(check_work(plain_pass_.work, expected_work(plain_pass_.steps, {}, n_layers), ""), found);
    sum_up("sweep.autoregressive", found, record);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& one = candidates_[i];
      found = check_identities(one.pass.tally, one.pass.completions, one.draft_tokens);
      append(check_equality(plain_pass_.completions, one.pass.completions, must_equal(),
                            !plain_.stop_at_eos),
             found);
      append(check_work(one.pass.work,
                        expected_work(one.pass.steps,
                                      draft_shape("layer-skip", one.layers, n_layers), n_layers),
                        ""),
             found);
      sum_up("sweep." + arms_[i + 1].name(), found, record);
    }
    return !has_failed(record);
  }

  harness::Series measure(results::Record& record) {
    harness::Plan plan;
    plan.n_cases = static_cast<int>(cases_.size());
    plan.n_blocks = kBlocks;
    plan.n_warmups = plan.max_warmups = kLeastWarmups;
    plan.seed = context_.options.seed;
    plan.phase_names = phase_names();
    if (must_equal()) {
      plan.equal_fingerprint_groups.emplace_back(arms_.size());
      std::iota(plan.equal_fingerprint_groups[0].begin(), plan.equal_fingerprint_groups[0].end(),
                0);
    }
    for (const std::string& fault :
         harness::environment_faults(harness::capture_environment(), context_.options.threads))
      record.notes.push_back("Timing is doubtful: " + fault);
    std::vector<harness::Subject*> subjects;
    for (Arm& arm : arms_) subjects.push_back(&arm);
    const auto show = [&](const harness::Progress& p) {
      if (context_.progress != nullptr)
        context_.progress->show(p.is_warmup ? "sweep: warming up" : "sweep: measuring", p.n_done,
                                p.n_total);
    };
    harness::SteadyClock clock;
    harness::MachineWatch watch({.n_threads = context_.options.threads});
    return harness::measure(subjects, plan, clock, show, *context_.stop, &watch);
  }

  /// What must hold of the timed runs; false where it does not.
  bool check_timed(const harness::Series& series, results::Record& record) const {
    std::vector<std::vector<harness::Outcome>> checked{plain_pass_.outcomes};
    for (const Candidate& one : candidates_) checked.push_back(one.pass.outcomes);
    record.checks.push_back(check_samples(series, checked));
    std::vector<ArmPath> paths{path_of(arms_.front().name(), arms_.front().backend(),
                                       context_.model, plain_, max_tokens_)};
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      paths.push_back(path_of(arms_[i + 1].name(), arms_[i + 1].backend(), context_.model,
                              candidates_[i].decoding, max_tokens_));
    sum_up("sweep.validity", check_validity(series, paths), record);
    return !has_failed(record);
  }

  std::vector<SweepCell> cells_of(const harness::Series& series) const {
    const std::vector<int> n_sequences(cases_.size(), 1);
    std::vector<SweepCell> cells;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& one = candidates_[i];
      LatencyInput input;
      input.series = pair_of(series, static_cast<int>(i) + 1);
      input.n_sequences = n_sequences;
      input.autoregressive = plain_pass_.steps;
      input.speculative = one.pass.steps;
      input.tally = one.pass.tally;
      const auto costs = measure_costs(input);
      cells.push_back({one.layers, one.draft_tokens,
                       speedup({input.series, n_sequences, context_.options.seed}, kAutoregressive,
                               kSpeculative, Timed::kDecode),
                       costs ? std::optional(costs->predicted()) : std::nullopt,
                       one.pass.tally.acceptance_length()});
    }
    return cells;
  }

  static void append(std::vector<results::Check> more, std::vector<results::Check>& checks) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  }

  /// One row for many checks: the first that failed, else how many there were.
  static void sum_up(const std::string& id, std::span<const results::Check> checks,
                     results::Record& record) {
    const auto failed = std::find_if(checks.begin(), checks.end(), [](const auto& check) {
      return check.status == CheckStatus::kFailed;
    });
    if (failed != checks.end())
      record.checks.push_back({id, CheckStatus::kFailed, failed->id + ": " + failed->detail});
    else
      record.checks.push_back(
          {id, CheckStatus::kPassed, fmt::format("{} checks, none failed.", checks.size())});
  }

  static bool has_failed(results::Record& record) {
    for (const results::Check& check : record.checks) {
      if (check.status != CheckStatus::kFailed) continue;
      record.exit_code = kFailed;
      record.verdict = "FAILED: " + check.id + ". " + check.detail;
      return true;
    }
    return false;
  }

  static void conclude_void(const std::string& reason, results::Record& record) {
    record.exit_code = kVoid;
    record.verdict = "VOID: " + reason;
  }

  const Context& context_;
  engine::DecodeOptions plain_;
  int max_tokens_ = 0;
  std::vector<Case> cases_;
  std::unique_ptr<engine::Backend> backend_;  ///< of all arms: equal weights at equal addresses
  std::deque<Arm> arms_;                      ///< [1 + candidates]
  std::vector<Candidate> candidates_;
  CheckedPass plain_pass_;
};

}  // namespace

void run_sweep(const Context& context, results::Record& record, const SweepGrid& grid) {
  const Faults faults = planted_faults(context, {}, record);
  Sweep(context, faults.steps, grid).run(record);
}

}  // namespace specbench::suites
