#include "suites/latency.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/error.h"
#include "harness/ceiling.h"
#include "harness/environment.h"
#include "harness/turns.h"
#include "harness/watch.h"
#include "suites/latency_allocations.h"
#include "suites/latency_checks.h"
#include "suites/latency_report.h"
#include "suites/latency_subject.h"
#include "suites/latency_validity.h"
#include "suites/lossless.h"
#include "suites/samples.h"
#include "suites/timing_mutants.h"

namespace specbench::suites {

namespace {

constexpr int kDefaultPrompts = 10;
constexpr int kDefaultTokens = 64, kArticleTokens = 128;
constexpr int kBlocks = 10, kArticleBlocks = 5;
constexpr double kInjectedWork = 0.05;  ///< work of the injected arm that every gate must see
// A gate starts many short processes: their number, not their length, makes the interval.
constexpr int kGatePrompts = 4, kGateTokens = 24, kGateBlocks = 9, kGateWarmups = 3;

/// What is decoded and how. Cases are slices of `batch` prompts.
struct Work {
  engine::DecodeOptions decoding;
  int batch = 1;
  int max_tokens = 0;
  bool is_article = false;
  bool is_gate = false;
  std::vector<Case> cases;
  std::vector<std::string> categories;  ///< [case]; empty for a batch, which mixes them
  int longest = 0;                      ///< tokens of the longest sequence

  std::vector<int> n_sequences() const {
    std::vector<int> n;
    n.reserve(cases.size());
    for (const Case& one : cases) n.push_back(static_cast<int>(one.size()));
    return n;
  }
};

/// n prompts, from each category in turn; a batch that the set cannot fill begins again with it
/// (under another request id).
std::vector<const Prompt*> pick_prompts(std::span<const Prompt> prompts, int n) {
  std::vector<std::pair<std::string, std::vector<const Prompt*>>> categories;
  for (const Prompt& prompt : prompts) {
    auto at = std::find_if(categories.begin(), categories.end(),
                           [&](const auto& c) { return c.first == prompt.category; });
    if (at == categories.end()) at = categories.insert(at, {prompt.category, {}});
    at->second.push_back(&prompt);
  }
  std::vector<const Prompt*> in_turn;
  for (std::size_t i = 0; in_turn.size() < prompts.size(); ++i)
    for (const auto& [name, members] : categories)
      if (i < members.size()) in_turn.push_back(members[i]);
  std::vector<const Prompt*> picked;
  picked.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    picked.push_back(in_turn[static_cast<std::size_t>(i) % in_turn.size()]);
  return picked;
}

Work plan_work(const Context& context, const engine::Steps& steps) {
  const Options& o = context.options;
  Work work;
  work.is_article = o.protocol == "article";
  work.is_gate = o.protocol == "gate";
  work.batch = std::max(1, o.batch);
  work.max_tokens = o.max_tokens > 0  ? o.max_tokens
                    : work.is_article ? kArticleTokens
                    : work.is_gate    ? kGateTokens
                                      : kDefaultTokens;
  if (work.max_tokens < 2)
    throw engine::InputError(
        "--max-tokens is 1; the latency suite needs at least 2, since the first token belongs to "
        "the prefill.");
  work.decoding = decode_options(context);
  work.decoding.stop_at_eos = o.stop_at_eos;
  work.decoding.steps = steps;
  const int n_asked = o.max_prompts > 0 ? o.max_prompts
                      : work.is_gate    ? kGatePrompts
                                        : kDefaultPrompts;
  // A prompt that came twice would count as two in the intervals.
  const int n_prompts = std::min(n_asked, static_cast<int>(context.prompts.size()));
  const int n_cases = (n_prompts + work.batch - 1) / work.batch;
  const auto prompts = pick_prompts(context.prompts, n_cases * work.batch);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (i % static_cast<std::size_t>(work.batch) == 0) work.cases.emplace_back();
    work.cases.back().push_back({static_cast<std::uint32_t>(i), prompts[i]->ids, work.max_tokens});
    if (work.batch == 1) work.categories.push_back(prompts[i]->category);
    work.longest =
        std::max(work.longest, static_cast<int>(prompts[i]->ids.size()) + work.max_tokens);
  }
  return work;
}

harness::Plan plan_timing(const Context& context, const Work& work, bool must_equal) {
  harness::Plan plan;
  plan.n_cases = static_cast<int>(work.cases.size());
  plan.protocol = work.is_article ? harness::Protocol::kArticle
                  : work.is_gate  ? harness::Protocol::kGate
                                  : harness::Protocol::kStandard;
  plan.n_blocks = work.is_article ? kArticleBlocks : work.is_gate ? kGateBlocks : kBlocks;
  // On a restless machine it never settles; a note then says so.
  plan.max_warmups = work.is_gate ? kGateWarmups : 5;
  // Every process has an order of its own; the work is the same in all.
  plan.seed = context.options.seed + static_cast<std::uint64_t>(context.options.process);
  plan.phase_names = phase_names();
  if (const std::vector<int>& turns = context.options.turns; !turns.empty())
    plan.take_turn = [&turns] { harness::take_turn(turns.front(), turns.back()); };
  // Deliveries are told apart only where there is one sequence.
  plan.chunk_capacity = work.batch == 1 ? static_cast<std::size_t>(work.max_tokens) + 1 : 0;
  plan.equal_fingerprint_groups = {{kSpeculative, kTwin}};
  if (work.is_gate) plan.equal_fingerprint_groups.front().push_back(kInjected);
  if (must_equal) plan.equal_fingerprint_groups.push_back({kAutoregressive, kSpeculative});
  return plan;
}

/// Every effective option that start_record does not know.
void describe(const Options& o, const Work& work, const harness::Plan& plan,
              results::Record& record) {
  std::int64_t n_prompts = 0;
  for (const int n : work.n_sequences()) n_prompts += n;
  const results::Entries entries = {
      {"protocol", o.protocol},
      {"batch", std::int64_t{work.batch}},
      {"prompts", o.prompts.empty() ? std::string("embedded") : o.prompts},
      {"n_prompts", n_prompts},
      {"max_tokens", std::int64_t{work.max_tokens}},
      {"stop_at_eos", work.decoding.stop_at_eos},
      {"blocks", std::int64_t{plan.n_blocks}},
      {"min_warmups", std::int64_t{plan.n_warmups}},
      {"max_warmups", std::int64_t{work.is_article ? plan.n_warmups : plan.max_warmups}},
      {"warmup_tolerance", plan.warmup_tolerance},
      {"inject", o.inject},
      {"in_turn", !o.turns.empty()}};
  record.options.insert(record.options.end(), entries.begin(), entries.end());
}

void append(std::vector<results::Check> checks, results::Record& record) {
  for (results::Check& check : checks) record.checks.push_back(std::move(check));
}

/// Everything that must hold of the untimed passes.
void check_passes(const Context& context, const Work& work, const CheckedPass& plain,
                  const CheckedPass& drafted, bool must_equal, results::Record& record) {
  const Options& o = context.options;
  const int n_layers = context.model.config.n_layers;
  const DraftShape shape = draft_shape(o.drafter, o.draft_layers, n_layers);
  append(check_identities(drafted.tally, drafted.completions, o.draft_tokens), record);
  for (results::Check& check : check_identities(plain.tally, plain.completions, 0)) {
    check.id += ".autoregressive";
    record.checks.push_back(std::move(check));
  }
  append(check_equality(plain.completions, drafted.completions, must_equal,
                        !work.decoding.stop_at_eos),
         record);
  append(check_work(drafted.work, expected_work(drafted.steps, shape, n_layers), ""), record);
  append(check_work(plain.work, expected_work(plain.steps, {}, n_layers), ".autoregressive"),
         record);
  append(check_controls(drafted.tally, shape, o.drafter, work.decoding, n_layers), record);
  for (const auto& [name, pass] :
       {std::pair{".autoregressive", &plain}, std::pair{".speculative", &drafted}}) {
    record.counters.emplace_back(std::string("token_layers") + name, pass->work.token_layers);
    record.counters.emplace_back(std::string("head_rows") + name, pass->work.head_rows);
    record.counters.emplace_back(std::string("steps") + name, pass->steps.n_steps);
  }
}

/// Read bandwidth at the working set. Past 256 MiB or eight times the last-level cache the rate no
/// longer depends on the size.
std::optional<double> read_ceiling(std::int64_t working_set, const harness::Environment& machine,
                                   int threads) {
  const std::int64_t enough = std::max(std::int64_t{256} << 20, 8 * machine.l3_bytes.value_or(0));
  const std::int64_t bytes = std::min(working_set, enough);
  if (bytes < std::int64_t{4096} * threads) return std::nullopt;
  return harness::read_bandwidth(static_cast<std::size_t>(bytes), threads);
}

harness::Series measure_arms(const Context& context, std::span<harness::Subject* const> arms,
                             const harness::Plan& plan, results::Record& record) {
  for (const std::string& fault :
       harness::environment_faults(harness::capture_environment(), context.options.threads))
    record.notes.push_back("Timing is doubtful: " + fault);
  const auto before = harness::read_cpu_times();
  harness::SteadyClock clock;
  const auto show = [&](const harness::Progress& p) {
    if (context.progress != nullptr)
      context.progress->show(p.is_warmup ? "warming up" : "measuring", p.n_done, p.n_total);
  };
  harness::WatchRules rules;
  rules.n_threads = context.options.threads;
  // The other process runs between our runs, and shares of ticks are formed over both.
  if (!context.options.turns.empty()) rules.max_others_cores = context.options.threads + 1;
  harness::MachineWatch watch(rules);
  harness::Series series = harness::measure(arms, plan, clock, show, *context.stop, &watch);
  const auto after = harness::read_cpu_times();
  const auto stolen = before && after ? harness::steal_share(*before, *after) : std::nullopt;
  if (stolen)
    record.notes.push_back(fmt::format(
        "The hypervisor took {:.1f} % of the CPU time while measuring.", 100 * *stolen));
  if (!series.warmup_converged && !series.was_interrupted)
    record.notes.push_back(
        fmt::format("The warm-up did not settle within {} passes.", series.warmups_done));
  return series;
}

void conclude_void(const std::string& reason, results::Record& record) {
  record.exit_code = kVoid;
  record.verdict = "VOID: " + reason;
}

/// True where a check failed; the record then says so.
bool has_failed(results::Record& record) {
  if (!has_failure(record.checks)) return false;
  const auto first =
      std::find_if(record.checks.begin(), record.checks.end(),
                   [](const auto& check) { return check.status == results::CheckStatus::kFailed; });
  record.exit_code = kFailed;
  record.verdict = "FAILED: " + first->id + ". " + first->detail;
  return true;
}

}  // namespace

void run_latency(const Context& context, results::Record& record) {
  const Options& o = context.options;
  const Faults faults = planted_faults(context, {}, record);
  const Work work = plan_work(context, faults.steps);
  const bool must_equal = must_be_equal(work.decoding, o.drafter);
  const harness::Plan plan = plan_timing(context, work, must_equal);
  describe(o, work, plan, record);

  // One backend for all arms: the same weights at the same addresses, so that only the decoding
  // differs.
  const auto backend = open_backend(context, work.batch, work.longest, o.draft_tokens,
                                    kPoisonByDefault, faults.n_visible);
  const auto drafter = open_drafter(context);
  const double extra = o.inject / 100;
  const TimingFaults timing = planted_timing(o.mutant);
  const auto other = other_backend(timing, context, work.batch, work.longest);
  const auto arm = [&](ArmIndex index, double injected) {
    const bool is_plain = index == kAutoregressive;
    return Arm(kArmNames[index], is_plain && other ? *other : *backend,
               is_plain ? nullptr : drafter.get(), work.decoding, work.cases, injected);
  };
  Arm autoregressive = arm(kAutoregressive, 0), speculative = arm(kSpeculative, extra),
      twin = arm(kTwin, extra), injected = arm(kInjected, (1 + extra) * (1 + kInjectedWork) - 1);

  const CheckedPass plain = run_checked(autoregressive, context);
  const CheckedPass drafted = run_checked(speculative, context);
  if (*context.stop) return conclude_void("interrupted before anything was timed.", record);
  check_passes(context, work, plain, drafted, must_equal, record);
  append(check_allocations(context, autoregressive, speculative, record), record);
  if (has_failed(record)) return;  // never time what is wrong

  const harness::Environment machine = harness::capture_environment();
  const ModelSizes sizes = model_sizes(context.model, o.kv_dtype);
  const std::int64_t working_set =
      working_set_bytes(plain.steps, context.model.config.n_layers, sizes);
  // A gate compares builds, not a build with the machine: its processes stay short.
  const auto ceiling_now = [&] {
    return work.is_gate ? std::nullopt : read_ceiling(working_set, machine, o.threads);
  };
  const auto ceiling_before = ceiling_now();
  std::vector<harness::Subject*> arms{&autoregressive, &speculative, &twin};
  if (work.is_gate) arms.push_back(&injected);
  harness::Series series = measure_arms(context, arms, plan, record);
  apply(timing, series);
  save_samples(series, o.process, record);
  std::vector<ArmPath> paths;
  for (const Arm* one : {&autoregressive, &speculative, &twin})
    paths.push_back(
        path_of(one->name(), one->backend(), context.model, work.decoding, work.max_tokens));
  append(check_validity(series, paths), record);
  if (series.is_refused()) return conclude_void(series.faults.front() + ".", record);
  std::vector<std::vector<harness::Outcome>> checked{plain.outcomes};
  checked.resize(series.arm_names.size(), drafted.outcomes);
  record.checks.push_back(check_samples(series, checked));
  const std::vector<int> n_sequences = work.n_sequences();
  append(check_itl({series, n_sequences, o.seed}, plan.chunk_capacity > 0), record);
  if (has_failed(record)) return;
  if (series.blocks_done == 0)
    return conclude_void("interrupted before the first whole block.", record);

  const bool is_restless = harness::is_void_by_marks(series);
  const double marked = series.marked_share();
  const auto ceiling = std::max(ceiling_before, ceiling_now());
  report_latency({std::move(series), n_sequences, plain.steps, drafted.steps, drafted.tally,
                  draft_shape(o.drafter, o.draft_layers, context.model.config.n_layers),
                  o.draft_tokens, context.model.config.n_layers, work.is_article, o.seed, o.process,
                  sizes, ceiling, machine.l3_bytes, work.categories, drafted.rounds},
                 record);
  if (record.verdict.empty())
    conclude_void("no prompt emitted a token behind its first in both arms.", record);
  else if (is_restless)
    conclude_void(fmt::format("the machine was not left to this run: {:.0f} % of its samples are "
                              "marked. Measured all the same: {}",
                              100 * marked, record.verdict),
                  record);
}

}  // namespace specbench::suites
