#include "suites/latency.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/error.h"
#include "harness/ceiling.h"
#include "harness/environment.h"
#include "suites/latency_checks.h"
#include "suites/latency_report.h"
#include "suites/latency_subject.h"

namespace specbench::suites {

namespace {

constexpr int kDefaultPrompts = 10;
constexpr int kDefaultTokens = 64, kArticleTokens = 128;
constexpr int kBlocks = 10, kArticleBlocks = 5;

/// What is decoded and how. Cases are slices of `batch` prompts.
struct Work {
  engine::DecodeOptions decoding;
  int batch = 1;
  int max_tokens = 0;
  bool is_article = false;
  std::vector<Case> cases;
  int longest = 0;  ///< tokens of the longest sequence

  std::vector<int> n_sequences() const {
    std::vector<int> n;
    n.reserve(cases.size());
    for (const Case& one : cases) n.push_back(static_cast<int>(one.size()));
    return n;
  }
};

/// n prompts, from each category in turn; where the set is too small it starts again (under another
/// request id).
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

Work plan_work(const Context& context) {
  const Options& o = context.options;
  Work work;
  work.is_article = o.protocol == "article";
  work.batch = std::max(1, o.batch);
  work.max_tokens = o.max_tokens > 0  ? o.max_tokens
                    : work.is_article ? kArticleTokens
                                      : kDefaultTokens;
  if (work.max_tokens < 2)
    throw engine::InputError(
        "--max-tokens is 1; the latency suite needs at least 2, since the first token belongs to "
        "the prefill.");
  work.decoding = decode_options(context);
  work.decoding.stop_at_eos = o.stop_at_eos;
  const int n_cases = (kDefaultPrompts + work.batch - 1) / work.batch;
  const auto prompts = pick_prompts(context.prompts, n_cases * work.batch);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (i % static_cast<std::size_t>(work.batch) == 0) work.cases.emplace_back();
    work.cases.back().push_back({static_cast<std::uint32_t>(i), prompts[i]->ids, work.max_tokens});
    work.longest =
        std::max(work.longest, static_cast<int>(prompts[i]->ids.size()) + work.max_tokens);
  }
  return work;
}

harness::Plan plan_timing(const Context& context, const Work& work, bool must_equal) {
  harness::Plan plan;
  plan.n_cases = static_cast<int>(work.cases.size());
  plan.protocol = work.is_article ? harness::Protocol::kArticle : harness::Protocol::kStandard;
  plan.n_blocks = work.is_article ? kArticleBlocks : kBlocks;
  plan.max_warmups = 5;  // on a restless machine it never settles; a note then says so
  plan.seed = context.options.seed;
  plan.phase_names = phase_names();
  // Deliveries are told apart only where there is one sequence.
  plan.chunk_capacity = work.batch == 1 ? static_cast<std::size_t>(work.max_tokens) + 1 : 0;
  plan.equal_fingerprint_groups = {{kSpeculative, kTwin}};
  if (must_equal) plan.equal_fingerprint_groups.push_back({kAutoregressive, kSpeculative});
  return plan;
}

/// Every effective option that start_record does not know.
void describe(const std::string& prompts, const Work& work, const harness::Plan& plan,
              results::Record& record) {
  std::int64_t n_prompts = 0;
  for (const int n : work.n_sequences()) n_prompts += n;
  const results::Entries entries = {
      {"protocol", std::string(work.is_article ? "article" : "standard")},
      {"batch", std::int64_t{work.batch}},
      {"prompts", prompts.empty() ? std::string("embedded") : prompts},
      {"n_prompts", n_prompts},
      {"max_tokens", std::int64_t{work.max_tokens}},
      {"stop_at_eos", work.decoding.stop_at_eos},
      {"blocks", std::int64_t{plan.n_blocks}},
      {"min_warmups", std::int64_t{plan.n_warmups}},
      {"max_warmups", std::int64_t{work.is_article ? plan.n_warmups : plan.max_warmups}},
      {"warmup_tolerance", plan.warmup_tolerance}};
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

void save_samples(const harness::Series& series, results::Record& record) {
  record.phase_names = series.phase_names;
  for (const harness::Sample& s : series.samples) {
    results::SampleRow row;
    row.arm = series.arm_names[static_cast<std::size_t>(s.arm)];
    row.case_index = s.case_index;
    row.block = s.block;
    row.order = s.order;
    row.is_warmup = s.is_warmup;
    row.wall_ns = s.wall_ns;
    row.first_token_ns = s.first_token_ns;
    row.decode_ns = s.decode_ns;
    row.phase_ns = s.phase_ns;
    row.chunk_end_ns = s.chunk_end_ns;
    row.chunk_tokens = s.chunk_tokens;
    row.n_tokens = s.n_tokens;
    row.fingerprint = s.fingerprint;
    record.samples.push_back(std::move(row));
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
  harness::Series series = harness::measure(arms, plan, clock, show, *context.stop);
  const auto after = harness::read_cpu_times();
  const auto stolen = before && after ? harness::steal_share(*before, *after) : std::nullopt;
  if (stolen)
    record.notes.push_back(fmt::format(
        "The hypervisor took {:.1f} % of the CPU time while measuring.", 100 * *stolen));
  if (!series.warmup_converged && !series.was_interrupted)
    record.notes.push_back(
        fmt::format("The warm-up did not settle within {} passes.", series.warmups_done));
  save_samples(series, record);
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
  const Work work = plan_work(context);
  const bool must_equal = must_be_equal(work.decoding, o.drafter);
  const harness::Plan plan = plan_timing(context, work, must_equal);
  describe(o.prompts, work, plan, record);

  // One backend for all arms: the same weights at the same addresses, so that only the decoding
  // differs.
  const auto backend = open_backend(context, work.batch, work.longest, o.draft_tokens);
  const auto drafter = open_drafter(context);
  Arm autoregressive("autoregressive", *backend, nullptr, work.decoding, work.cases);
  Arm speculative("speculative", *backend, drafter.get(), work.decoding, work.cases);
  Arm twin("speculative-twin", *backend, drafter.get(), work.decoding, work.cases);

  const CheckedPass plain = run_checked(autoregressive, context);
  const CheckedPass drafted = run_checked(speculative, context);
  if (*context.stop) return conclude_void("interrupted before anything was timed.", record);
  check_passes(context, work, plain, drafted, must_equal, record);
  if (has_failed(record)) return;  // never time what is wrong

  const harness::Environment machine = harness::capture_environment();
  const ModelSizes sizes = model_sizes(context.model);
  const std::int64_t working_set =
      working_set_bytes(plain.steps, context.model.config.n_layers, sizes);
  const auto ceiling_before = read_ceiling(working_set, machine, o.threads);
  harness::Subject* const arms[] = {&autoregressive, &speculative, &twin};
  harness::Series series = measure_arms(context, arms, plan, record);
  if (series.is_refused()) return conclude_void(series.faults.front() + ".", record);
  const std::vector<harness::Outcome> checked[] = {plain.outcomes, drafted.outcomes,
                                                   drafted.outcomes};
  record.checks.push_back(check_samples(series, checked));
  const std::vector<int> n_sequences = work.n_sequences();
  append(check_itl({series, n_sequences, o.seed}, plan.chunk_capacity > 0), record);
  if (has_failed(record)) return;
  if (series.blocks_done == 0)
    return conclude_void("interrupted before the first whole block.", record);

  const auto ceiling = std::max(ceiling_before, read_ceiling(working_set, machine, o.threads));
  report_latency(
      {std::move(series), n_sequences, plain.steps, drafted.steps, drafted.tally,
       draft_shape(o.drafter, o.draft_layers, context.model.config.n_layers), o.draft_tokens,
       context.model.config.n_layers, work.is_article, o.seed, sizes, ceiling, machine.l3_bytes},
      record);
  if (record.verdict.empty())
    conclude_void("no prompt emitted a token behind its first in both arms.", record);
}

}  // namespace specbench::suites
