#include "suites/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/binomial.h"
#include "suites/budget.h"
#include "suites/diagnosis.h"
#include "suites/kinds.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

/// What the verdict rests on.
struct Summary {
  const stats::TestResult* worst_failure = nullptr;  ///< smallest p
  const stats::TestResult* most_needed = nullptr;    ///< inconclusive test that needs the most
  const results::Check* failed_check = nullptr;      ///< the first
  const results::Check* open_check = nullptr;        ///< neither passed nor failed, the first
  double min_detectable_tv = 0.0;  ///< the weakest of the tests of all real tokens
  std::int64_t n_failed = 0, n_inconclusive = 0;
};

Summary summarise(const Findings& findings) {
  Summary s;
  for (const stats::TestResult& test : findings.tests) {
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
  for (const results::Check& check : findings.checks) {
    if (check.status != CheckStatus::kFailed) {
      if (check.status != CheckStatus::kPassed && s.open_check == nullptr) s.open_check = &check;
      continue;
    }
    ++s.n_failed;
    if (s.failed_check == nullptr) s.failed_check = &check;
  }
  return s;
}

std::string failure_sentence(const Context& context, const Findings& findings, const Summary& s) {
  const stats::TestResult* t = s.worst_failure;
  const std::string exact =
      s.failed_check == nullptr ? "" : s.failed_check->id + ": " + s.failed_check->detail;
  const std::string drawn =
      t == nullptr ? ""
                   : fmt::format("{}: {} = {:.4g} over {} draws, p = {:.1e}: {}.", t->id,
                                 t->statistic_name, t->statistic, t->n, t->p_value, t->reason);
  const std::string looks_like =
      diagnose(failed_kinds(findings), seen_kinds(findings), load_kill_matrix());
  return fmt::format("NOT LOSSLESS ({}{}{} {} tests and checks failed. Replay: {}{})", exact,
                     exact.empty() || drawn.empty() ? "" : " ", drawn, s.n_failed,
                     context.options.command_line, looks_like.empty() ? "" : ". It " + looks_like);
}

/// Why there is no verdict; empty if there may be one.
std::string missing(const Context& context, const Summary& s, std::optional<double> tv,
                    std::int64_t n_drafted) {
  if (*context.stop) return "the run was interrupted";
  if (s.most_needed != nullptr && s.most_needed->required_n == stats::kNoSampleSuffices)
    return fmt::format("{} tests have no verdict; {}: {}", s.n_inconclusive, s.most_needed->id,
                       s.most_needed->reason);
  if (s.most_needed != nullptr)
    return fmt::format("{} tests are short of data; {} has {} draws and needs {}; raise --samples",
                       s.n_inconclusive, s.most_needed->id, s.most_needed->n,
                       s.most_needed->required_n);
  if (s.open_check != nullptr) return s.open_check->id + ": " + s.open_check->detail;
  if (context.options.draft_tokens > 0 && context.options.drafter != "null" && n_drafted == 0)
    return "nothing was drafted; raise --max-tokens";
  if (!tv) return "no sequence was long enough to be recomputed";
  if (*tv > kCertifiedTau && !context.options.sampling.is_greedy())
    return fmt::format("the replay certifies TV <= {:.2g} only, {:.2g} is wanted; raise --samples",
                       *tv, kCertifiedTau);
  return "";
}

std::string lossless_sentence(const Context& context, const Summary& s, double tv,
                              const results::Record& record) {
  if (context.options.sampling.is_greedy()) {
    const std::int64_t* n = results::find_counter(record, "equality.greedy.tokens");
    const std::int64_t n_tokens = n == nullptr ? 0 : *n;
    return fmt::format(
        "LOSSLESS (greedy: {} tokens equal autoregressive output one by one, so at most a share of "
        "{:.2g} could differ, at 1 - {:.0e})",
        n_tokens, n_tokens > 0 ? stats::clopper_pearson_upper(0, n_tokens, kFamilyAlpha) : 1.0,
        kFamilyAlpha);
  }
  return fmt::format(
      "LOSSLESS (certified TV <= {:.2g} at 1 - {:.0e}; any drift >= {:.2g} in the law of real "
      "tokens, by 64 bins in each order, would have been caught with probability {})",
      tv, kFamilyAlpha, s.min_detectable_tv, kPower);
}

void add_metrics(const BatteryResult& result, const Summary& s, bool is_greedy,
                 results::Record& record) {
  record.metrics.push_back({"certified_tv",
                            result.certified_tv,
                            "1",
                            {},
                            {},
                            1 - kFamilyAlpha,
                            result.certified_tv ? "upper bound on the drift of one token"
                                                : "no sequence could be recomputed"});
  if (!is_greedy && s.min_detectable_tv > 0.0)
    record.metrics.push_back({"min_detectable_tv",
                              s.min_detectable_tv,
                              "1",
                              {},
                              {},
                              kPower,
                              "law of real tokens, 64 bins"});
}

}  // namespace

void decide_verdict(const Context& context, const BatteryResult& result, results::Record& record) {
  const Summary s = summarise(result.findings);
  add_metrics(result, s, context.options.sampling.is_greedy(), record);
  if (s.n_failed > 0) {
    record.exit_code = kFailed;
    record.verdict = failure_sentence(context, result.findings, s);
    return;
  }
  if (const std::string what = missing(context, s, result.certified_tv, result.real.n_drafted);
      !what.empty()) {
    record.exit_code = kInconclusive;
    record.verdict = "INCONCLUSIVE (" + what + ")";
    return;
  }
  record.exit_code = kPassed;
  record.verdict = lossless_sentence(context, s, *result.certified_tv, record);
}

}  // namespace specbench::suites
