#include "suites/latency_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/speculative.h"

namespace specbench::suites {

using results::Check;
using results::CheckStatus;

namespace {

CheckStatus status_of(bool is_right) {
  return is_right ? CheckStatus::kPassed : CheckStatus::kFailed;
}

/// Of all requests; empty where there is none.
std::string first_difference_of_all(std::span<const engine::Completion> left,
                                    std::span<const engine::Completion> right) {
  if (left.size() != right.size())
    return fmt::format("{} and {} requests were answered.", left.size(), right.size());
  for (std::size_t r = 0; r < left.size(); ++r)
    if (std::string difference = first_difference(left[r], right[r]); !difference.empty())
      return difference;
  return "";
}

/// What is wrong with the deliveries of one run; empty where nothing is.
std::string delivery_fault(const Measured& measured, const harness::Sample& sample) {
  if (sample.chunk_end_ns.empty()) return "no delivery was recorded";
  const auto delivered =
      std::accumulate(sample.chunk_tokens.begin(), sample.chunk_tokens.end(), std::int64_t{0});
  if (delivered != sample.n_tokens)
    return fmt::format("{} tokens were delivered, {} emitted", delivered, sample.n_tokens);
  if (sample.first_token_ns != sample.chunk_end_ns.front())
    return fmt::format("the first token came at {} ns, the first delivery at {} ns",
                       sample.first_token_ns.value_or(-1), sample.chunk_end_ns.front());
  if (!std::is_sorted(sample.chunk_end_ns.begin(), sample.chunk_end_ns.end()))
    return "the deliveries are not in order";
  if (sample.chunk_end_ns.back() > sample.wall_ns)
    return fmt::format("the last delivery came at {} ns, behind the end at {} ns",
                       sample.chunk_end_ns.back(), sample.wall_ns);
  double sum_itl_ns = 0;
  for (const double ms : itl_ms(sample)) sum_itl_ns += ms * 1e6;
  const auto n = static_cast<double>(sample.n_tokens - 1);
  const double decoding_ns = n * tpot_ms(measured, sample).value_or(0.0) * 1e6;
  constexpr double kRounding = 1e-9;  // of sums of at most some thousand doubles
  if (std::fabs(sum_itl_ns - decoding_ns) > kRounding * std::max(sum_itl_ns, decoding_ns))
    return fmt::format("sum itl is {:.3f} ns, (n - 1) tpot is {:.3f} ns", sum_itl_ns, decoding_ns);
  return "";
}

}  // namespace

bool must_be_equal(const engine::DecodeOptions& options, std::string_view drafter) {
  const bool may_differ = options.verifier->name == "token" || options.verifier->name == "block";
  return !may_differ || drafter == "null" || options.draft_tokens == 0;
}

std::vector<Check> check_equality(std::span<const engine::Completion> autoregressive,
                                  std::span<const engine::Completion> speculative, bool must_equal,
                                  bool is_budget_fixed) {
  std::vector<Check> checks;
  if (must_equal) {
    const std::string difference = first_difference_of_all(autoregressive, speculative);
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

std::vector<Check> check_itl(const Measured& measured, bool has_deliveries) {
  const harness::Series& series = measured.series;
  std::vector<Check> checks;
  for (std::size_t arm = 0; arm < series.arm_names.size(); ++arm) {
    Check check{"identity.itl." + series.arm_names[arm], CheckStatus::kSkipped,
                "Deliveries are told apart with one sequence at a time only (--batch 1)."};
    std::int64_t n_runs = 0;
    std::string fault;
    for (const harness::Sample& sample : series.samples) {
      if (!has_deliveries || static_cast<std::size_t>(sample.arm) != arm || !fault.empty())
        continue;
      ++n_runs;
      if (fault = delivery_fault(measured, sample); !fault.empty())
        fault = fmt::format("Case {}, block {}: {}.", sample.case_index, sample.block, fault);
    }
    if (has_deliveries) {
      check.status = status_of(fault.empty() && n_runs > 0);
      check.detail = fault.empty()
                         ? fmt::format("sum itl = (n - 1) tpot in each of {} timed runs.", n_runs)
                         : fault;
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

bool has_failure(std::span<const Check> checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& c) { return c.status == CheckStatus::kFailed; });
}

}  // namespace specbench::suites
