#include "suites/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/error.h"
#include "suites/battery.h"
#include "suites/confirm.h"
#include "suites/controls.h"
#include "suites/kinds.h"
#include "suites/lossless_narrow.h"
#include "suites/narrow_seen.h"
#include "suites/side_by_side.h"
#include "suites/timing_mutants.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

constexpr std::uint32_t kMutantGroup = 0x10000;

/// What became of one mutant.
struct Kill {
  std::set<std::string> kinds;  ///< that failed
  std::int64_t n_rounds = 0;    ///< of its narrow case until sampling alone caught it; 0: not
  bool is_caught = false;       ///< by the kind that must, and as soon as predicted
};

const NarrowCase& narrow_case_of(const Mutant& mutant) {
  static const std::vector<NarrowCase> cases = narrow_probe_cases();
  const auto at = std::find_if(cases.begin(), cases.end(), [&](const NarrowCase& narrow) {
    return narrow.name == mutant.narrow_case;
  });
  if (at == cases.end())
    throw std::logic_error(fmt::format("Mutant {} names the case '{}', which is none.", mutant.id,
                                       mutant.narrow_case));
  return *at;
}

/// Rounds until sampling catches it, among growing shares of what is predicted; 0: not by then.
std::int64_t rounds_taken(const Mutant& mutant, std::uint64_t seed, int n_threads) {
  if (mutant.predicted_n == 0) return 0;
  for (const std::int64_t share : {8, 4, 2, 1})
    if (const std::int64_t n = whole_rounds(mutant.predicted_n / share);
        n <= mutant.predicted_n && is_caught_by_sampling(mutant, n, seed, n_threads))
      return n;
  return 0;
}

Kill plant(const Context& context, const Mutant& mutant, std::uint32_t group) {
  const std::uint64_t seed = stage_seed(context.options.seed, kMutantGroup + group, 0);
  Context its_own = context;
  if (std::string_view(mutant.verifier) == "greedy") its_own.options.sampling.temperature = 0.0;
  const BatteryResult result =
      run_battery(its_own, mutant.verifier, mutant.plant(), probe_scale(), seed);
  Kill kill;
  kill.kinds = failed_kinds(result.findings);
  kill.n_rounds = rounds_taken(mutant, seed, context.options.threads);
  kill.is_caught =
      kill.kinds.contains(mutant.expected) && (mutant.predicted_n == 0 || kill.n_rounds > 0);
  return kill;
}

/// The same for a fault of the measurement, which no sampling sees.
Kill plant_timing(const Context& context, const Mutant& mutant) {
  Kill kill;
  kill.kinds = failed_validity_kinds(run_timing_mutant(context, mutant.timing));
  kill.is_caught = kill.kinds.contains(mutant.expected);
  return kill;
}

/// What became of each; nothing where the run was stopped first. Faults of decoding go side by
/// side. Those of the measurement come one after another, on all threads, as a measurement runs.
std::vector<std::optional<Kill>> plant_all(const Context& context,
                                           const std::vector<const Mutant*>& planted) {
  const int n_planted = static_cast<int>(planted.size());
  std::vector<std::optional<Kill>> kills(planted.size());
  std::atomic<int> n_done{0};
  const auto keep = [&](std::size_t at, Kill kill) {
    if (*context.stop) return;  // what was cut short proves nothing
    kills[at] = std::move(kill);
    ++n_done;
#pragma omp critical(selftest_progress)
    context.progress->show(fmt::format("selftest: {}", planted[at]->id), n_done, n_planted);
  };
  run_side_by_side(context, n_planted, [&](int i, const Context& one) {
    const auto at = static_cast<std::size_t>(i);
    if (planted[at]->timing.any()) return;
    keep(at, plant(one, *planted[at], static_cast<std::uint32_t>(i)));
  });
  for (std::size_t at = 0; at < planted.size() && !*context.stop; ++at)
    if (planted[at]->timing.any()) keep(at, plant_timing(context, *planted[at]));
  return kills;
}

std::string joined(const std::set<std::string>& kinds) {
  return fmt::format("{}", fmt::join(kinds, " "));
}

results::Value count_or_none(std::int64_t n) {
  return n > 0 ? results::Value(n) : results::Value();
}

/// The tables of the record, filled mutant by mutant.
struct Tables {
  results::NamedTable kills{
      "kill_matrix", {"id", "caught", "predicted_n", "taken_n", "killed_by"}, {}};
  results::NamedTable mutants{"mutants", {"id", "fault"}, {}};
  results::NamedTable details{
      "mutant_details", {"id", "verifier", "expected", "narrow_case", "seen_in"}, {}};
  results::NamedTable kinds{"kill_matrix_kinds", {"kind"}, {}};
  results::NamedTable waiting{"mutants_waiting", {"id", "waits_for", "fault"}, {}};

  void add(const Mutant& mutant, const Kill& kill) {
    kills.rows.push_back({std::string(mutant.id), kill.is_caught, count_or_none(mutant.predicted_n),
                          count_or_none(kill.n_rounds), joined(kill.kinds)});
    mutants.rows.push_back({std::string(mutant.id), std::string(mutant.fault)});
    details.rows.push_back({std::string(mutant.id), std::string(mutant.verifier),
                            std::string(mutant.expected), std::string(mutant.narrow_case),
                            std::string(mutant.seen_in)});
  }
};

results::Check check_of(const Mutant& mutant, const Kill& kill) {
  const std::string id = std::string("mutant.") + mutant.id;
  if (kill.is_caught)
    return {id, CheckStatus::kPassed,
            fmt::format("{}: caught by {} kind{} of check.", mutant.fault, kill.kinds.size(),
                        kill.kinds.size() == 1 ? "" : "s")};
  const std::string survived =
      !kill.kinds.contains(mutant.expected)
          ? mutant.expected
          : fmt::format("{} rounds of {}", mutant.predicted_n, mutant.narrow_case);
  return {id, CheckStatus::kFailed,
          fmt::format("{}: survived {}{}.", mutant.fault, survived,
                      kill.kinds.empty() ? ", and everything else"
                                         : "; others caught it: " + joined(kill.kinds))};
}

/// The battery over the product itself, at the size the mutants get: nothing may fail. Returns the
/// kinds it looked at.
std::set<std::string> check_the_product(const Context& context, results::Record& record) {
  constexpr const char* kVerifiers[] = {"token", "block", "one-hot", "coupled"};
  constexpr int kProducts = std::size(kVerifiers);
  std::vector<Findings> found(kProducts);
  run_side_by_side(context, kProducts, [&](int i, const Context& one) {
    const auto at = static_cast<std::size_t>(i);
    Scale scale = probe_scale();
    scale.confirms = true;
    found[at] = run_battery(one, kVerifiers[at], {}, scale,
                            stage_seed(context.options.seed, kMutantGroup - 1, i))
                    .findings;
  });
  std::set<std::string> seen;
  for (std::size_t i = 0; i < found.size() && !*context.stop; ++i) {
    const std::set<std::string> failed = failed_kinds(found[i]);
    seen.merge(seen_kinds(found[i]));
    record.checks.push_back(
        {std::string("control.product.") + kVerifiers[i],
         failed.empty() ? CheckStatus::kPassed : CheckStatus::kFailed,
         failed.empty() ? fmt::format("nothing planted, nothing found: {} tests, {} checks.",
                                      found[i].tests.size(), found[i].checks.size())
                        : "nothing planted, but these failed: " + joined(failed) + "."});
  }
  return seen;
}

/// A measurement with nothing planted: every check of its validity must pass.
void check_the_measurement(const Context& context, results::Record& record) {
  const std::vector<results::Check> checks = run_timing_mutant(context, {});
  if (*context.stop) return;
  const auto fault = std::find_if(checks.begin(), checks.end(), [](const results::Check& check) {
    return check.status != CheckStatus::kPassed;
  });
  record.checks.push_back(
      {"control.timing", fault == checks.end() ? CheckStatus::kPassed : CheckStatus::kFailed,
       fault == checks.end()
           ? fmt::format("nothing planted, nothing found: {} checks.", checks.size())
           : fmt::format("nothing planted, but {}: {}", fault->id, fault->detail)});
}

/// Faults show under the suite's own decoding, whatever the user decodes with.
Context with_default_decoding(const Context& asked) {
  Context context = asked;
  const Options defaults;
  context.options.drafter = defaults.drafter;
  context.options.draft_layers = std::max(1, context.model.config.n_layers / 4);
  context.options.draft_tokens = defaults.draft_tokens;
  context.options.verifier = defaults.verifier;
  context.options.sampling = defaults.sampling;
  context.options.stop_texts = defaults.stop_texts;
  context.options.max_tokens = defaults.max_tokens;
  context.options.batch = defaults.batch;
  return context;
}

void decide(const Context& context, std::int64_t n_killed, std::int64_t n_planted,
            results::Record& record) {
  const auto n_failed =
      std::count_if(record.checks.begin(), record.checks.end(),
                    [](const auto& check) { return check.status == CheckStatus::kFailed; });
  record.counters.emplace_back("selftest.mutants_planted", n_planted);
  record.counters.emplace_back("selftest.mutants_killed", n_killed);
  const auto n_controls = static_cast<std::int64_t>(record.checks.size()) - n_planted;
  if (n_failed > 0) {
    record.exit_code = kFailed;
    record.verdict = fmt::format("FAILED: {} of {} mutants were killed; {} checks failed.",
                                 n_killed, n_planted, n_failed);
  } else if (*context.stop) {
    record.exit_code = kInconclusive;
    record.verdict =
        fmt::format("INCONCLUSIVE: {} mutants were planted so far, all killed.", n_planted);
  } else {
    record.exit_code = kPassed;
    record.verdict = fmt::format("PASSED: all {} mutants were killed and all {} controls live.",
                                 n_planted, n_controls);
  }
}

}  // namespace

bool is_caught_by_sampling(const Mutant& mutant, std::int64_t n_rounds, std::uint64_t seed,
                           int n_threads) {
  const auto tests = test_narrow_case(narrow_case_of(mutant), mutant.verifier, n_rounds, seed,
                                      mutant.plant().steps, n_threads);
  return std::any_of(tests.begin(), tests.end(), [](const stats::TestResult& test) {
    return test.verdict == stats::Verdict::kFail;
  });
}

void run_selftest(const Context& asked, results::Record& record) {
  const Context context = with_default_decoding(asked);
  context.progress->show("selftest: controls", 0, 0);
  std::set<std::string> kinds = check_the_product(context, record);
  for (results::Check& check : check_controls(context)) record.checks.push_back(std::move(check));
  check_the_measurement(context, record);

  std::vector<const Mutant*> planted;
  Tables tables;
  for (const Mutant& mutant : mutants()) {
    if (mutant.plant != nullptr)
      planted.push_back(&mutant);
    else
      tables.waiting.rows.push_back(
          {std::string(mutant.id), std::string(mutant.waits_for), std::string(mutant.fault)});
  }
  const std::vector<std::optional<Kill>> kills = plant_all(context, planted);
  std::int64_t n_killed = 0, n_done = 0;
  for (std::size_t i = 0; i < planted.size(); ++i) {
    if (!kills[i]) continue;
    ++n_done;
    n_killed += kills[i]->is_caught ? 1 : 0;
    kinds.insert(kills[i]->kinds.begin(), kills[i]->kinds.end());
    tables.add(*planted[i], *kills[i]);
    record.checks.push_back(check_of(*planted[i], *kills[i]));
  }
  for (const std::string& kind : kinds) tables.kinds.rows.push_back({kind});
  record.tables = {tables.kills, tables.mutants, tables.details, tables.waiting, tables.kinds};
  decide(context, n_killed, n_done, record);
}

}  // namespace specbench::suites
