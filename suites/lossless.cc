#include "suites/lossless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suites/budget.h"
#include "suites/lossless_end_to_end.h"
#include "suites/lossless_equality.h"
#include "suites/lossless_narrow.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

constexpr int kEqualityPrompts = 20;
constexpr int kEqualityTokens = 64;

std::vector<stats::TestResult> test_narrow_laws(const Context& context,
                                                const engine::Steps& steps) {
  std::vector<stats::TestResult> results;
  const std::vector<NarrowCase> cases = narrow_cases();
  for (std::size_t i = 0; i < cases.size() && !*context.stop; ++i) {
    context.progress->show("lossless: narrow laws", static_cast<double>(i),
                           static_cast<double>(cases.size()));
    // Every case has a seed of its own: cases share no coins.
    const std::uint64_t seed = context.options.seed + (static_cast<std::uint64_t>(i + 1) << 40);
    for (stats::TestResult& result :
         test_narrow_case(cases[i], narrow_rounds(), seed, steps, context.options.threads))
      results.push_back(std::move(result));
  }
  return results;
}

/// What the verdict rests on.
struct Summary {
  const stats::TestResult* worst_failure =
      nullptr;  ///< largest effect: smallest p, then largest statistic
  const stats::TestResult* most_needed = nullptr;  ///< inconclusive test that needs the most
  const results::Check* failed_check = nullptr;
  double min_detectable_tv = 0.0;  ///< over the tests of the emitted law that passed
  std::int64_t n_failed = 0, n_inconclusive = 0;
};

Summary summarise(const std::vector<stats::TestResult>& tests, const results::Record& record) {
  Summary s;
  for (const stats::TestResult& test : tests) {
    if (test.verdict == stats::Verdict::kFail) {
      ++s.n_failed;
      if (s.worst_failure == nullptr || test.p_value < s.worst_failure->p_value)
        s.worst_failure = &test;
    } else if (test.verdict == stats::Verdict::kInconclusive) {
      ++s.n_inconclusive;
      if (s.most_needed == nullptr || test.required_n > s.most_needed->required_n)
        s.most_needed = &test;
    } else if (test.drift_kind == stats::kDriftTotalVariation &&
               test.id.rfind("real.all", 0) == 0) {
      s.min_detectable_tv = std::max(s.min_detectable_tv, test.min_detectable);
    }
  }
  for (const results::Check& check : record.checks)
    if (check.status == CheckStatus::kFailed && s.failed_check == nullptr) s.failed_check = &check;
  return s;
}

void decide_verdict(const Context& context, const std::vector<stats::TestResult>& tests,
                    results::Record& record) {
  const Summary s = summarise(tests, record);
  const auto* tv = results::find_metric(record, "certified_tv");
  if (s.failed_check != nullptr || s.worst_failure != nullptr) {
    record.exit_code = kFailed;
    const std::string what =
        s.failed_check != nullptr
            ? s.failed_check->id + ": " + s.failed_check->detail
            : fmt::format("{}: {} = {:.4g} over {} draws, p = {:.1e}: {}", s.worst_failure->id,
                          s.worst_failure->statistic_name, s.worst_failure->statistic,
                          s.worst_failure->n, s.worst_failure->p_value, s.worst_failure->reason);
    record.verdict = fmt::format("NOT LOSSLESS ({} Failed: {} tests. Replay: {})", what, s.n_failed,
                                 context.options.command_line);
    return;
  }
  if (context.options.sampling.is_greedy() && !*context.stop && s.most_needed == nullptr) {
    record.exit_code = kPassed;
    record.verdict = "LOSSLESS (greedy output equals autoregressive output bit for bit: " +
                     record.checks.front().detail + ")";
    return;
  }
  if (*context.stop || s.most_needed != nullptr || tv == nullptr || !tv->value) {
    record.exit_code = kInconclusive;
    record.verdict = s.most_needed != nullptr ? fmt::format(
                                                    "INCONCLUSIVE ({} tests are short of data; {} "
                                                    "has {} draws and needs {}; raise --samples)",
                                                    s.n_inconclusive, s.most_needed->id,
                                                    s.most_needed->n, s.most_needed->required_n)
                                              : "INCONCLUSIVE (the run did not finish)";
    return;
  }
  record.exit_code = kPassed;
  record.verdict = fmt::format(
      "LOSSLESS (certified TV <= {:.2g} at 1 - {:.0e}; any drift >= {:.2g} in the tested laws "
      "would have "
      "been caught with probability {})",
      *tv->value, kFamilyAlpha, s.min_detectable_tv, 1 - kBeta);
  record.metrics.push_back({"min_detectable_tv",
                            s.min_detectable_tv,
                            "1",
                            {},
                            {},
                            1 - kBeta,
                            "real generations, 64 bins"});
}

}  // namespace

void add_test(results::Record& record, const stats::TestResult& r) {
  const auto number = [](double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; };
  record.tests.push_back({r.id, r.hypothesis, r.statistic_name, r.n, number(r.statistic),
                          number(r.p_value), number(r.min_detectable), r.drift_kind,
                          number(r.alpha), number(r.tau), number(r.beta),
                          stats::verdict_name(r.verdict), r.reason, r.required_n});
}

void run_lossless(const Context& context, results::Record& record, const engine::Steps& steps) {
  const auto n_samples = static_cast<std::int64_t>(context.options.samples);
  record.options.emplace_back("samples", n_samples);
  std::vector<stats::TestResult> tests;
  check_equality(context, kEqualityPrompts, kEqualityTokens, steps, record);
  if (!*context.stop && !context.options.sampling.is_greedy())
    test_end_to_end(context, n_samples, steps, record, tests);
  for (stats::TestResult& result : test_narrow_laws(context, steps))
    tests.push_back(std::move(result));
  if (tests.size() > static_cast<std::size_t>(kMaxTests))
    throw std::logic_error(
        fmt::format("The run made {} tests; its error budget is for {}.", tests.size(), kMaxTests));
  for (const stats::TestResult& result : tests) add_test(record, result);
  decide_verdict(context, tests, record);
}

}  // namespace specbench::suites
