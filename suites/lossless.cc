#include "suites/lossless.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/error.h"
#include "suites/battery.h"
#include "suites/budget.h"
#include "suites/mutants.h"
#include "suites/verdict.h"

namespace specbench::suites {

namespace {

void require_budget(const Findings& findings) {
  if (2 * findings.tests.size() > static_cast<std::size_t>(kMaxTests))
    throw std::logic_error(
        fmt::format("The run made {} tests of two sides; its error budget is for {} sides.",
                    findings.tests.size(), kMaxTests));
}

}  // namespace

Faults planted_faults(const Context& context, const Faults& faults, results::Record& record) {
  const std::string& id = context.options.mutant;
  if (id.empty()) return faults;
  const Mutant* mutant = find_mutant(id);
  if (mutant == nullptr)
    throw engine::InputError("--mutant is '" + id +
                             "'; specbench --suite selftest lists the faults there are.");
  if (mutant->plant == nullptr)
    throw engine::InputError("--mutant " + id + " waits for " + mutant->waits_for +
                             ", which this build does not have.");
  const bool is_timed = context.options.suite == "latency";
  if (mutant->timing.any() && !is_timed)
    throw engine::InputError("--mutant " + id + " is a fault of timing; use --suite latency.");
  record.options.emplace_back("mutant", id);
  record.notes.push_back(
      fmt::format("A fault was planted in this run: {} ({}).", mutant->fault, mutant->id));
  return mutant->plant();
}

void add_test(results::Record& record, const stats::TestResult& r) {
  const auto number = [](double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; };
  record.tests.push_back({r.id, r.hypothesis, r.statistic_name, r.n, number(r.statistic),
                          number(r.p_value), number(r.min_detectable), r.drift_kind,
                          number(r.alpha), number(r.tau), number(r.beta),
                          stats::verdict_name(r.verdict), r.reason, r.required_n});
}

void run_lossless(const Context& context, results::Record& record, const Faults& faults) {
  const Options& o = context.options;
  const auto n_samples = static_cast<std::int64_t>(o.samples);
  const int max_tokens = end_to_end_tokens(context);  // refused before any work if impossible
  record.options.emplace_back("samples", n_samples);
  record.options.emplace_back("prompts", o.prompts.empty() ? "embedded" : o.prompts);
  record.options.emplace_back("max_tokens", std::int64_t{max_tokens});
  record.options.emplace_back("batch",
                              std::int64_t{main_generation(context, n_samples, o.seed).batch});
  const Faults all_faults = planted_faults(context, faults, record);
  const BatteryResult result =
      run_battery(context, o.verifier, all_faults, full_scale(context, n_samples), o.seed);
  require_budget(result.findings);
  for (const stats::TestResult& test : result.findings.tests) add_test(record, test);
  record.checks.insert(record.checks.end(), result.findings.checks.begin(),
                       result.findings.checks.end());
  record.counters.insert(record.counters.end(), result.counters.begin(), result.counters.end());
  report_acceptance(result.real, record);
  if (!result.pit.rows.empty()) record.tables.push_back(result.pit);
  if (!result.mismatches.rows.empty()) record.tables.push_back(result.mismatches);
  decide_verdict(context, result, record);
}

}  // namespace specbench::suites
