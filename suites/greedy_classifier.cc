#include "suites/greedy_classifier.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "stats/binomial.h"
#include "stats/fisher.h"

namespace specbench::suites {
namespace {

struct FloatFormat {
  int mantissa_bits;  // stored
  int min_exponent;   // of the smallest normal number
};

FloatFormat format_of(ComputeType type) {
  switch (type) {
    case ComputeType::kF16:
      return {10, -14};
    case ComputeType::kBf16:
      return {7, -126};
    case ComputeType::kF32:
      break;
  }
  return {23, -126};
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("greedy classifier: " + what);
}

std::string short_number(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", x);
  return buffer;
}

void check_row(const FirstMismatch& mismatch) {
  if (mismatch.logits.empty()) refuse("the row of logits is empty");
  const auto n_ids = static_cast<std::int64_t>(mismatch.logits.size());
  for (std::size_t id = 0; id < mismatch.logits.size(); ++id) {
    const float x = mismatch.logits[id];
    if (std::isnan(x) || x == INFINITY) refuse("logit " + std::to_string(id) + " is NaN or +inf");
  }
  for (engine::TokenId id : {mismatch.baseline_token, mismatch.emitted_token}) {
    if (id < 0 || id >= n_ids) refuse("token " + std::to_string(id) + " is outside the row");
  }
  if (mismatch.baseline_token == mismatch.emitted_token) refuse("the tokens are equal");
  if (!std::isfinite(mismatch.calibrated_ulps) || mismatch.calibrated_ulps < 0.0)
    refuse("c must be finite and not negative, is " + short_number(mismatch.calibrated_ulps));
}

struct Gap {
  double logits = 0.0;
  double ulps = 0.0;
};

// From the largest logit down to that of the token.
Gap gap_below_top(const FirstMismatch& mismatch, engine::TokenId token) {
  const double top = *std::max_element(mismatch.logits.begin(), mismatch.logits.end());
  const double logit = mismatch.logits[static_cast<std::size_t>(token)];
  if (top == logit) return {};
  if (std::isinf(logit)) return {INFINITY, INFINITY};
  const double magnitude = std::max(std::fabs(top), std::fabs(logit));
  return {top - logit, (top - logit) / ulp_at(mismatch.type, magnitude)};
}

std::string gap_sentence(const FirstMismatch& mismatch, const Gap& gap, const char* relation) {
  return "token " + std::to_string(mismatch.emitted_token) + " lies " + short_number(gap.logits) +
         " (" + short_number(gap.ulps) + " ULPs of " + compute_type_name(mismatch.type) +
         ") below the largest logit, " + relation +
         " c = " + short_number(mismatch.calibrated_ulps) + " ULPs";
}

void check_totals(const PositionTotals& totals) {
  if (totals.n < 1) refuse("no position was compared");
  for (std::int64_t part : {totals.n_after_rejection, totals.n_at_block_edge, totals.n_at_bonus}) {
    if (part < 0 || part > totals.n)
      refuse("positions with a flag must lie in [0, n], are " + std::to_string(part));
  }
  if (totals.n_histogram < 1) refuse("the gap histogram is empty");
  if (totals.n_near_ties < 0 || totals.n_near_ties > totals.n_histogram)
    refuse("near-ties must lie in [0, n_histogram], are " + std::to_string(totals.n_near_ties));
}

// Fisher's exact test of the rate of mismatches where a flag is set and where it is not.
stats::TestResult test_flag(const stats::Contract& contract,
                            std::span<const ClassifiedMismatch> mismatches, std::int64_t n,
                            std::int64_t n_flagged, bool PositionFlags::*flag) {
  stats::TwoRates rates;
  rates.n_first = n_flagged;
  rates.n_second = n - n_flagged;
  for (const ClassifiedMismatch& mismatch : mismatches)
    ++(mismatch.flags.*flag ? rates.k_first : rates.k_second);
  return stats::fisher_exact_test(contract, rates);
}

stats::TestResult test_rate(const stats::Contract& contract, std::int64_t n_mismatches,
                            const PositionTotals& totals) {
  const double rate =
      stats::clopper_pearson_upper(totals.n_near_ties, totals.n_histogram, 0.5 * contract.alpha());
  stats::Evidence evidence;
  evidence.statistic_name = "mismatches against near-ties";
  evidence.drift_kind = stats::kDriftRate;
  evidence.n = totals.n;
  evidence.statistic = static_cast<double>(n_mismatches);
  evidence.p_value = std::min(1.0, 2.0 * stats::binomial_upper_tail(n_mismatches, totals.n, rate));
  evidence.min_detectable =
      stats::binomial_min_detectable(totals.n, rate, contract.alpha(), contract.beta());
  evidence.required_n =
      stats::binomial_required_n(rate, contract.alpha(), contract.beta(), contract.tau());
  return stats::decide(contract, evidence);
}

}  // namespace

const char* compute_type_name(ComputeType type) {
  switch (type) {
    case ComputeType::kF16:
      return "float16";
    case ComputeType::kBf16:
      return "bfloat16";
    case ComputeType::kF32:
      break;
  }
  return "float32";
}

const char* mismatch_kind_name(MismatchKind kind) {
  switch (kind) {
    case MismatchKind::kTie:
      return "tie";
    case MismatchKind::kBug:
      return "bug";
    case MismatchKind::kUndecided:
      break;
  }
  return "undecided";
}

double ulp_at(ComputeType type, double x) {
  if (!std::isfinite(x)) refuse("no ULP at a value that is not finite");
  const FloatFormat format = format_of(type);
  const int exponent = x == 0.0 ? format.min_exponent : std::ilogb(x);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.mantissa_bits);
}

MismatchFinding classify_mismatch(const FirstMismatch& mismatch) {
  check_row(mismatch);
  const double c = mismatch.calibrated_ulps;
  const Gap own = gap_below_top(mismatch, mismatch.baseline_token);
  const Gap gap = gap_below_top(mismatch, mismatch.emitted_token);
  MismatchFinding finding;
  finding.gap = gap.logits;
  finding.gap_ulps = gap.ulps;
  if (own.ulps > c) {
    finding.reason = "the baseline's own token " + std::to_string(mismatch.baseline_token) +
                     " lies " + short_number(own.ulps) +
                     " ULPs below the largest logit, so this is not the row that chose it";
  } else if (gap.ulps > c) {
    finding.kind = MismatchKind::kBug;
    finding.reason = gap_sentence(mismatch, gap, "above");
  } else if (!mismatch.is_gone_with_fixed_rows) {
    finding.reason = gap_sentence(mismatch, gap, "within") +
                     ", but float32 or a fixed number of rows was not tried";
  } else if (!*mismatch.is_gone_with_fixed_rows) {
    finding.kind = MismatchKind::kBug;
    finding.reason = gap_sentence(mismatch, gap, "within") +
                     ", but it stays in float32 or with a fixed number of rows";
  } else {
    finding.kind = MismatchKind::kTie;
    finding.reason = gap_sentence(mismatch, gap, "within") +
                     ", and it is gone in float32 or with a fixed number of rows";
  }
  return finding;
}

UlpCalibration calibrate_ulps(std::span<const RowPair> rows, ComputeType type, double quantile) {
  if (!(quantile > 0.0 && quantile < 1.0)) refuse("the quantile must lie inside (0, 1)");
  std::vector<double> differences;
  for (const RowPair& row : rows) {
    if (row.one_row.empty() || row.one_row.size() != row.many_rows.size())
      refuse("both rows must have the same ids, and some");
    const double ulp = ulp_at(type, *std::max_element(row.one_row.begin(), row.one_row.end()));
    for (std::size_t id = 0; id < row.one_row.size(); ++id) {
      const double one = row.one_row[id], many = row.many_rows[id];
      if (std::isinf(one) && one == many) continue;  // masked in both
      if (!std::isfinite(one) || !std::isfinite(many))
        refuse("logit " + std::to_string(id) + " is not finite, or in one of the rows only");
      differences.push_back(std::fabs(one - many) / ulp);
    }
  }
  const auto n = static_cast<double>(differences.size());
  if (n * (1.0 - quantile) < 1.0 - 1e-9)  // 1 - .9 is a little less than .1
    refuse("needs " + short_number(std::ceil(1.0 / (1.0 - quantile))) +
           " logits for this quantile, has " + std::to_string(differences.size()));
  std::sort(differences.begin(), differences.end());
  UlpCalibration calibration;
  calibration.n_logits = static_cast<std::int64_t>(differences.size());
  calibration.largest = differences.back();
  calibration.ulps = 2.0 * differences[static_cast<std::size_t>(std::ceil(quantile * n)) - 1];
  return calibration;
}

GroupFinding test_mismatches(const GroupContracts& contracts,
                             std::span<const ClassifiedMismatch> mismatches,
                             const PositionTotals& totals) {
  check_totals(totals);
  const auto n_mismatches = static_cast<std::int64_t>(mismatches.size());
  if (n_mismatches > totals.n) refuse("there are more mismatches than positions");
  GroupFinding finding;
  for (const ClassifiedMismatch& mismatch : mismatches) {
    finding.n_ties += mismatch.kind == MismatchKind::kTie;
    finding.n_bugs += mismatch.kind == MismatchKind::kBug;
    finding.n_undecided += mismatch.kind == MismatchKind::kUndecided;
  }
  finding.after_rejection = test_flag(contracts.after_rejection, mismatches, totals.n,
                                      totals.n_after_rejection, &PositionFlags::is_after_rejection);
  finding.at_block_edge = test_flag(contracts.at_block_edge, mismatches, totals.n,
                                    totals.n_at_block_edge, &PositionFlags::is_at_block_edge);
  finding.at_bonus = test_flag(contracts.at_bonus, mismatches, totals.n, totals.n_at_bonus,
                               &PositionFlags::is_at_bonus);
  finding.rate = test_rate(contracts.rate, n_mismatches, totals);
  return finding;
}

}  // namespace specbench::suites
