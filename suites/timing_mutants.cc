#include "suites/timing_mutants.h"

#include <algorithm>

#include "suites/latency_report.h"
#include "suites/latency_subject.h"
#include "suites/latency_validity.h"
#include "suites/mutants.h"

namespace specbench::suites {

namespace {

constexpr int kPrompts = 2, kTokens = 16, kBlocks = 5;

std::vector<Case> make_cases(const Context& context) {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < kPrompts; ++i) {
    const Prompt& prompt = context.prompts[i % context.prompts.size()];
    cases.push_back({{static_cast<std::uint32_t>(i), prompt.ids, kTokens}});
  }
  return cases;
}

harness::Plan make_plan(const Context& context) {
  harness::Plan plan;
  plan.n_cases = kPrompts;
  plan.n_blocks = kBlocks;
  plan.n_warmups = plan.max_warmups = kLeastWarmups;
  plan.seed = context.options.seed;
  plan.phase_names = phase_names();
  plan.equal_fingerprint_groups = {{kSpeculative, kTwin}};
  return plan;
}

}  // namespace

TimingFaults planted_timing(std::string_view mutant) {
  const Mutant* found = find_mutant(mutant);
  return found == nullptr ? TimingFaults{} : found->timing;
}

std::unique_ptr<engine::Backend> other_backend(const TimingFaults& faults, const Context& context,
                                               int batch, int max_length) {
  if (!faults.other_path) return nullptr;
  Context other = context;
  other.options.threads = context.options.threads > 1 ? context.options.threads - 1 : 2;
  return open_backend(other, batch, max_length, 0);
}

std::vector<results::Check> run_timing_mutant(const Context& context, const TimingFaults& faults) {
  const std::vector<Case> cases = make_cases(context);
  engine::DecodeOptions decoding = decode_options(context);
  decoding.stop_at_eos = false;
  const int length = longest_sequence(context, kTokens);
  const auto backend = open_backend(context, 1, length, decoding.draft_tokens);
  const auto other = other_backend(faults, context, 1, length);
  const auto drafter = open_drafter(context);
  Arm autoregressive(kArmNames[kAutoregressive], other ? *other : *backend, nullptr, decoding,
                     cases);
  Arm speculative(kArmNames[kSpeculative], *backend, drafter.get(), decoding, cases);
  Arm twin(kArmNames[kTwin], *backend, drafter.get(), decoding, cases);
  harness::Subject* const arms[] = {&autoregressive, &speculative, &twin};
  harness::SteadyClock clock;
  harness::Series series = harness::measure(arms, make_plan(context), clock, {}, *context.stop);
  apply(faults, series);
  std::vector<ArmPath> paths;
  for (const Arm* arm : {&autoregressive, &speculative, &twin})
    paths.push_back(path_of(arm->name(), arm->backend(), context.model, decoding, kTokens));
  return check_validity(series, paths);
}

std::set<std::string> failed_validity_kinds(std::span<const results::Check> checks) {
  constexpr std::string_view kFamily = "validity.";
  std::set<std::string> kinds;
  for (const results::Check& check : checks)
    if (check.status == results::CheckStatus::kFailed)
      kinds.insert(check.id.substr(0, check.id.find('.', kFamily.size())));
  return kinds;
}

}  // namespace specbench::suites
