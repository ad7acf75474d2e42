// The first greedy mismatch of a text, where rows are not bitwise equal by design: a tie of the
// baseline's own logits, or a bug? And all mismatches together: do they fall where ties would?
// (RULES, section 6.) Runs no model. A share of equal texts is never a pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/types.h"
#include "stats/contract.h"

namespace specbench::suites {

// Type whose rounding the logits carry.
enum class ComputeType { kF32, kF16, kBf16 };

// "float32", "float16" or "bfloat16".
const char* compute_type_name(ComputeType type);

// Distance of |x| from the next larger value of the type (the spacing of the binade of |x|; of the
// smallest normal number for what lies below it). Throws std::invalid_argument if x is not finite.
double ulp_at(ComputeType type, double x);

// The first position at which two greedy texts differ, after a shared prefix.
struct FirstMismatch {
  std::span<const float> logits;  // [n_ids] of the baseline, one row, prefix teacher-forced
  engine::TokenId baseline_token = -1;
  engine::TokenId emitted_token = -1;
  ComputeType type = ComputeType::kF32;
  double calibrated_ulps = 0.0;  // c, see calibrate_ulps
  // Whether both texts agree here in float32 or with a fixed number of rows; absent: not tried.
  std::optional<bool> is_gone_with_fixed_rows;
};

enum class MismatchKind { kTie, kBug, kUndecided };

// "tie", "bug" or "undecided".
const char* mismatch_kind_name(MismatchKind kind);

struct MismatchFinding {
  MismatchKind kind = MismatchKind::kUndecided;
  double gap = 0.0;       // largest logit less that of the emitted token
  double gap_ulps = 0.0;  // in ULPs at the larger magnitude of the two
  std::string reason;     // one sentence
};

// Tie: gap <= c ULPs (the emitted token is in the top band) and gone with fixed rows. Bug: a larger
// gap, or it stays with fixed rows. Undecided: the gap is small but fixed rows were not tried; or
// the baseline's token is not in the top band of its own row, so this is not the row that chose it.
// Throws std::invalid_argument for an empty row, NaN or +inf in it, ids outside it, equal tokens,
// or c negative or not finite.
MismatchFinding classify_mismatch(const FirstMismatch& mismatch);

// The same position decoded alone and among the g + 1 rows of a verification.
struct RowPair {
  std::span<const float> one_row;    // [n_ids]
  std::span<const float> many_rows;  // [n_ids]
};

inline constexpr double kCalibrationQuantile = 0.9999;

struct UlpCalibration {
  double ulps = 0.0;     // c: twice the quantile, since both logits of a gap move
  double largest = 0.0;  // largest difference of one logit, in ULPs
  std::int64_t n_logits = 0;
};

// c from |logit(one row) - logit(g + 1 rows)| of real text, at a quantile over all finite logits.
// Differences are in ULPs at the row's largest logit, the unit in which gaps are measured (a logit
// near 0 has tiny ULPs and the same rounding error of its sum). Throws std::invalid_argument for
// rows whose sizes differ, a logit that is finite or NaN in one row only, a quantile outside (0,
// 1), or fewer logits than 1 / (1 - quantile).
UlpCalibration calibrate_ulps(std::span<const RowPair> rows, ComputeType type,
                              double quantile = kCalibrationQuantile);

// Where a position stands in its round.
struct PositionFlags {
  bool is_after_rejection = false;  // the round before ended with a rejection
  bool is_at_block_edge = false;    // first token of a round
  bool is_at_bonus = false;         // the token after all drafts were accepted
};

struct ClassifiedMismatch {
  MismatchKind kind = MismatchKind::kUndecided;
  PositionFlags flags;
};

// Positions compared: of each text those up to its first mismatch, that one included. And those of
// the baseline's gap histogram, which may be of other text.
struct PositionTotals {
  std::int64_t n = 0;
  std::int64_t n_after_rejection = 0;
  std::int64_t n_at_block_edge = 0;
  std::int64_t n_at_bonus = 0;
  std::int64_t n_histogram = 0;
  std::int64_t n_near_ties = 0;  // of n_histogram: gap of the two largest logits <= c ULPs
};

// tau is a difference of rates in all four.
struct GroupContracts {
  stats::Contract after_rejection;
  stats::Contract at_block_edge;
  stats::Contract at_bonus;
  stats::Contract rate;
};

struct GroupFinding {
  std::int64_t n_ties = 0;
  std::int64_t n_bugs = 0;
  std::int64_t n_undecided = 0;
  stats::TestResult after_rejection;
  stats::TestResult at_block_edge;
  stats::TestResult at_bonus;
  stats::TestResult rate;
};

// All mismatches, of whatever kind, must be independent of each flag (Fisher's exact test of the
// mismatch rate where the flag is set and where not), and no more frequent than near-ties are: a
// tie needs a gap <= c ULPs, so their share bounds its rate from above. rate: p = min(1, 2
// P(Binomial(n, r) >= mismatches)), r the upper Clopper-Pearson bound at 1 - alpha / 2 on the share
// of near-ties, so that the level holds though the share is estimated; power as binomial_test at r.
// Throws std::invalid_argument for totals that are negative or exceed their whole, more mismatches
// than positions (in all or with a flag), or no positions.
GroupFinding test_mismatches(const GroupContracts& contracts,
                             std::span<const ClassifiedMismatch> mismatches,
                             const PositionTotals& totals);

}  // namespace specbench::suites
