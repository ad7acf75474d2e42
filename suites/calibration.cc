#include "suites/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stats/binomial.h"
#include "stats/calibration.h"
#include "suites/battery.h"
#include "suites/budget.h"
#include "suites/confirm.h"
#include "suites/kinds.h"
#include "suites/lossless_narrow.h"
#include "suites/side_by_side.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

constexpr std::uint32_t kSeedGroup = 0x30000, kRunGroup = 0x40000;
constexpr std::int64_t kRounds = 4000;  // of each case and seed
constexpr double kLevel = 0.999;        // of the intervals that are printed

using PValues = std::map<std::string, std::vector<double>>;  // by test id

PValues collect(const Context& context, int n_seeds) {
  const std::vector<NarrowCase> cases = narrow_probe_cases();
  std::vector<std::vector<stats::TestResult>> found(static_cast<std::size_t>(n_seeds));
  run_side_by_side(context, n_seeds, [&](int i, const Context&) {
    for (std::size_t c = 0; c < cases.size(); ++c)
      for (stats::TestResult& test : test_narrow_case(
               cases[c], "token", kRounds,
               stage_seed(context.options.seed, kSeedGroup + static_cast<std::uint32_t>(c), i), {},
               1))
        found[static_cast<std::size_t>(i)].push_back(std::move(test));
  });
  PValues values;
  for (const auto& tests : found)
    for (const stats::TestResult& test : tests)
      if (test.n > 0) values[test.id].push_back(test.p_value);
  return values;
}

/// Ids whose p-values are smaller than they may be, at the family's level over all ids.
std::vector<std::string> miscalibrated(const PValues& values) {
  std::vector<std::string> bad;
  const double level = kFamilyAlpha / static_cast<double>(values.size());
  for (const auto& [id, p] : values)
    if (stats::are_too_small(stats::p_value_tail(p), level)) bad.push_back(id);
  return bad;
}

results::NamedTable table_of(const PValues& values) {
  std::map<std::string, stats::PValueTail> kinds;
  for (const auto& [id, p] : values) kinds[kind_of(id)].merge(stats::p_value_tail(p));
  results::NamedTable table{
      "calibration",
      {"kind", "p_values", "below_0.05", "below_0.01", "below_0.001", "lower", "upper", "excess"},
      {}};
  const double half = (1.0 - kLevel) / 2.0;
  for (const auto& [kind, tail] : kinds) {
    const auto share = [&](std::int64_t k) {
      return static_cast<double>(k) / static_cast<double>(tail.n);
    };
    table.rows.push_back(
        {kind, tail.n, share(tail.n_below_05), share(tail.n_below_01), share(tail.n_below_far),
         stats::clopper_pearson_lower(tail.n_below_far, tail.n, half),
         stats::clopper_pearson_upper(tail.n_below_far, tail.n, half), tail.excess});
  }
  return table;
}

results::Check check_tests(const PValues& values, int n_seeds) {
  const std::vector<std::string> bad = miscalibrated(values);
  return {"calibration.tests", bad.empty() ? CheckStatus::kPassed : CheckStatus::kFailed,
          bad.empty()
              ? fmt::format("{} tests over {} seeds: none has p-values smaller than they may be.",
                            values.size(), n_seeds)
              : fmt::format("{} of {} tests have p-values that are too small: {}.", bad.size(),
                            values.size(), fmt::join(bad, ", "))};
}

results::Check check_runs(const Context& context, int n_runs) {
  std::vector<std::optional<std::set<std::string>>> failed(static_cast<std::size_t>(n_runs));
  run_side_by_side(context, n_runs, [&](int i, const Context& one) {
    Scale scale = probe_scale();
    scale.confirms = true;
    const BatteryResult result = run_battery(one, context.options.verifier, {}, scale,
                                             stage_seed(context.options.seed, kRunGroup, i));
    if (!*context.stop) failed[static_cast<std::size_t>(i)] = failed_kinds(result.findings);
  });
  std::int64_t n_done = 0, n_failed = 0;
  std::string first;
  for (const auto& kinds : failed) {
    if (!kinds) continue;
    ++n_done;
    if (kinds->empty()) continue;
    ++n_failed;
    if (first.empty()) first = *kinds->begin();
  }
  if (n_done == 0) return {"calibration.runs", CheckStatus::kSkipped, "Interrupted."};
  return {"calibration.runs", n_failed == 0 ? CheckStatus::kPassed : CheckStatus::kFailed,
          fmt::format("{} of {} whole runs failed (at most {:.2g} of runs do, at {}){}.", n_failed,
                      n_done, stats::clopper_pearson_upper(n_failed, n_done, 1.0 - kLevel), kLevel,
                      first.empty() ? "" : "; the first: " + first)};
}

}  // namespace

void run_calibration(const Context& context, results::Record& record) {
  const int n_seeds = context.options.seeds > 0 ? context.options.seeds : kCalibrationSeeds;
  record.options.emplace_back("seeds", std::int64_t{n_seeds});
  context.progress->show("calibration: seeds, then whole runs", 0, 0);
  const PValues values = collect(context, n_seeds);
  record.checks.push_back(check_tests(values, n_seeds));
  record.tables.push_back(table_of(values));
  record.checks.push_back(check_runs(context, std::max(1, n_seeds / kSeedsARun)));
  const bool has_failed =
      std::any_of(record.checks.begin(), record.checks.end(),
                  [](const auto& check) { return check.status == CheckStatus::kFailed; });
  record.exit_code = has_failed ? kFailed : *context.stop ? kInconclusive : kPassed;
  record.verdict = fmt::format("{}: {} {}",
                               has_failed      ? "NOT CALIBRATED"
                               : *context.stop ? "INCONCLUSIVE"
                                               : "CALIBRATED",
                               record.checks[0].detail, record.checks[1].detail);
}

}  // namespace specbench::suites
