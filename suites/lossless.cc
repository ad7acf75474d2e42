#include "suites/lossless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/binomial.h"
#include "suites/budget.h"
#include "suites/lossless_end_to_end.h"
#include "suites/lossless_equality.h"
#include "suites/lossless_narrow.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

constexpr int kEqualityPrompts = 20;
constexpr int kEqualityTokens = 64;
constexpr int kGreedyTokens = 128;

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
  const stats::TestResult* worst_failure = nullptr;  ///< smallest p
  const stats::TestResult* most_needed = nullptr;    ///< inconclusive test that needs the most
  const results::Check* failed_check = nullptr;
  double min_detectable_tv = 0.0;  ///< the weakest of the tests of all real tokens
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

std::string failure_sentence(const Context& context, const Summary& s) {
  const stats::TestResult* t = s.worst_failure;
  const std::string what =
      s.failed_check != nullptr
          ? s.failed_check->id + ": " + s.failed_check->detail
          : fmt::format("{}: {} = {:.4g} over {} draws, p = {:.1e}: {}", t->id, t->statistic_name,
                        t->statistic, t->n, t->p_value, t->reason);
  return fmt::format("NOT LOSSLESS ({} Failed: {} tests. Replay: {})", what, s.n_failed,
                     context.options.command_line);
}

/// Why there is no verdict; empty if there may be one.
std::string missing(const Context& context, const Summary& s, const results::Metric* tv) {
  if (*context.stop) return "the run was interrupted";
  if (s.most_needed != nullptr)
    return fmt::format("{} tests are short of data; {} has {} draws and needs {}; raise --samples",
                       s.n_inconclusive, s.most_needed->id, s.most_needed->n,
                       s.most_needed->required_n);
  if (tv == nullptr || !tv->value) return "no sequence was long enough to be recomputed";
  if (*tv->value > kCertifiedTau && !context.options.sampling.is_greedy())
    return fmt::format("the replay certifies TV <= {:.2g} only, {:.2g} is wanted; raise --samples",
                       *tv->value, kCertifiedTau);
  return "";
}

std::string lossless_sentence(const Context& context, const Summary& s, double tv,
                              const results::Record& record) {
  if (context.options.sampling.is_greedy()) {
    const std::int64_t* n = results::find_counter(record, "equality.greedy.tokens");
    return fmt::format(
        "LOSSLESS (greedy: {} tokens equal autoregressive output one by one, so at "
        "most a share of {:.2g} could differ, at 1 - {:.0e})",
        *n, stats::clopper_pearson_upper(0, *n, kFamilyAlpha), kFamilyAlpha);
  }
  return fmt::format(
      "LOSSLESS (certified TV <= {:.2g} at 1 - {:.0e}; any drift >= {:.2g} in the law "
      "of real tokens, by 64 bins in each order, would have been caught with "
      "probability {})",
      tv, kFamilyAlpha, s.min_detectable_tv, 1 - kBeta);
}

void decide_verdict(const Context& context, const std::vector<stats::TestResult>& tests,
                    results::Record& record) {
  const Summary s = summarise(tests, record);
  if (s.failed_check != nullptr || s.worst_failure != nullptr) {
    record.exit_code = kFailed;
    record.verdict = failure_sentence(context, s);
    return;
  }
  const results::Metric* tv = results::find_metric(record, "certified_tv");
  if (const std::string what = missing(context, s, tv); !what.empty()) {
    record.exit_code = kInconclusive;
    record.verdict = "INCONCLUSIVE (" + what + ")";
    return;
  }
  record.exit_code = kPassed;
  record.verdict = lossless_sentence(context, s, *tv->value, record);
  if (!context.options.sampling.is_greedy())
    record.metrics.push_back({"min_detectable_tv",
                              s.min_detectable_tv,
                              "1",
                              {},
                              {},
                              1 - kBeta,
                              "law of real tokens, 64 bins"});
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
  const Options& o = context.options;
  const auto n_samples = static_cast<std::int64_t>(o.samples);
  record.options.emplace_back("samples", n_samples);
  record.options.emplace_back("prompts", o.prompts.empty() ? "embedded" : o.prompts);
  end_to_end_tokens(context);  // an impossible --max-tokens is refused before any work
  // Greedy output is an equality test: all prompts, longer texts.
  const bool is_greedy = o.sampling.is_greedy();
  const int n_prompts = is_greedy ? static_cast<int>(context.prompts.size()) : kEqualityPrompts;
  check_equality(context, n_prompts, is_greedy ? kGreedyTokens : kEqualityTokens, steps, record);
  std::vector<stats::TestResult> tests;
  if (!*context.stop) test_end_to_end(context, n_samples, steps, record, tests);
  for (stats::TestResult& result : test_narrow_laws(context, steps))
    tests.push_back(std::move(result));
  if (2 * tests.size() > static_cast<std::size_t>(kMaxTests))
    throw std::logic_error(
        fmt::format("The run made {} tests of two sides; its error budget is for {} sides.",
                    tests.size(), kMaxTests));
  for (const stats::TestResult& result : tests) add_test(record, result);
  decide_verdict(context, tests, record);
}

}  // namespace specbench::suites
