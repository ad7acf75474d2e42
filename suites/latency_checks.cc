#include "suites/latency_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/speculative.h"

namespace specbench::suites {

using results::Check;
using results::CheckStatus;

namespace {

CheckStatus status_of(bool is_right) {
  return is_right ? CheckStatus::kPassed : CheckStatus::kFailed;
}

/// A sentence on the first difference; empty where there is none.
std::string first_difference(std::span<const engine::Completion> left,
                             std::span<const engine::Completion> right) {
  if (left.size() != right.size())
    return fmt::format("{} and {} requests were answered.", left.size(), right.size());
  for (std::size_t r = 0; r < left.size(); ++r) {
    const auto& a = left[r].tokens;
    const auto& b = right[r].tokens;
    const auto at = static_cast<std::size_t>(
        std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    if (at < a.size() && at < b.size())
      return fmt::format(
          "Request {}: emitted token {} is {} autoregressively and {} speculatively.",
          left[r].request, at, a[at], b[at]);
    if (a.size() != b.size())
      return fmt::format(
          "Request {}: {} tokens autoregressively and {} speculatively, the shorter a prefix of "
          "the longer.",
          left[r].request, a.size(), b.size());
  }
  return "";
}

}  // namespace

bool must_be_equal(const engine::DecodeOptions& options, std::string_view drafter) {
  return options.verifier->name != "token" || drafter == "null" || options.draft_tokens == 0;
}

std::vector<Check> check_equality(std::span<const engine::Completion> autoregressive,
                                  std::span<const engine::Completion> speculative, bool must_equal,
                                  bool is_budget_fixed) {
  std::vector<Check> checks;
  if (must_equal) {
    const std::string difference = first_difference(autoregressive, speculative);
    checks.push_back(
        {"equal.tokens", status_of(difference.empty()),
         difference.empty() ? "Speculative ids are the autoregressive ids." : difference});
  } else {
    checks.push_back({"equal.tokens", CheckStatus::kSkipped,
                      "Token rejection above temperature 0 emits other ids by the same law; "
                      "--suite lossless judges the law, "
                      "--verifier coupled makes the ids equal."});
  }
  if (is_budget_fixed) {
    const auto left = outcome_of(autoregressive).n_tokens, right = outcome_of(speculative).n_tokens;
    checks.push_back(
        {"equal.counts", status_of(left == right),
         fmt::format(
             "Tokens emitted under the fixed budget: {} autoregressively, {} speculatively.", left,
             right)});
  }
  return checks;
}

engine::Work expected_work(const StepCounts& steps, const DraftShape& shape, int n_layers) {
  engine::Work work;
  work.token_layers = steps.n_prompt_tokens * n_layers;
  work.head_rows = steps.n_sequences;
  for (std::size_t n = 0; n < steps.rounds_by_drafted.size(); ++n) {
    const int g = static_cast<int>(n);
    std::int64_t token_layers = std::int64_t{g + 1} * n_layers;
    std::int64_t head_rows = g + 1;
    if (g > 0 && shape.layers > 0) {
      const stats::RoundWork round = shape.is_reused
                                         ? stats::round_work_reuse(g, shape.layers, n_layers)
                                         : stats::round_work_no_reuse(g, shape.layers, n_layers);
      token_layers = round.token_layers();
      head_rows = round.head_rows;
    }
    work.token_layers += steps.rounds_by_drafted[n] * token_layers;
    work.head_rows += steps.rounds_by_drafted[n] * head_rows;
  }
  return work;
}

std::vector<Check> check_work(const engine::Work& counted, const engine::Work& expected,
                              const std::string& suffix) {
  const auto compare = [&](const std::string& name, std::int64_t have, std::int64_t due) {
    return Check{"counters." + name + suffix, status_of(have == due),
                 fmt::format("The backend counted {}, the formulas summed over the rounds give {}.",
                             have, due)};
  };
  return {compare("token_layers", counted.token_layers, expected.token_layers),
          compare("head_rows", counted.head_rows, expected.head_rows)};
}

std::vector<Check> check_controls(const Tally& tally, const DraftShape& shape,
                                  std::string_view drafter, const engine::DecodeOptions& options,
                                  int n_layers) {
  if (drafter == "null")
    return {{"control.null", status_of(tally.n_drafted == 0 && tally.n_accepted == 0),
             fmt::format("The null drafter drafted {} tokens.", tally.n_drafted)}};
  const bool draws_as_target = options.verifier->name != "one-hot" || options.sampling.is_greedy();
  if (shape.layers == n_layers && draws_as_target)
    return {
        {"control.full_model", status_of(tally.n_rejections == 0),
         fmt::format("The draft is the whole model: {} of its tokens were refused, none may be.",
                     tally.n_rejections)}};
  return {};
}

Check check_samples(const harness::Series& series,
                    std::span<const std::vector<harness::Outcome>> checked) {
  for (const harness::Sample& sample : series.samples) {
    const harness::Outcome& due =
        checked[static_cast<std::size_t>(sample.arm)][static_cast<std::size_t>(sample.case_index)];
    if (sample.fingerprint == due.fingerprint && sample.n_tokens == due.n_tokens) continue;
    return {"equal.timed", CheckStatus::kFailed,
            fmt::format("A timed run of '{}' on case {} emitted {} tokens, fingerprint {:016x}; "
                        "checked were {}, {:016x}.",
                        series.arm_names[static_cast<std::size_t>(sample.arm)], sample.case_index,
                        sample.n_tokens, sample.fingerprint, due.n_tokens, due.fingerprint)};
  }
  return {"equal.timed", CheckStatus::kPassed,
          fmt::format("All {} timed runs emitted the checked tokens.", series.samples.size())};
}

bool has_failure(std::span<const Check> checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& c) { return c.status == CheckStatus::kFailed; });
}

}  // namespace specbench::suites
