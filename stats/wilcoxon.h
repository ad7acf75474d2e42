// An exact interval for the centre of a symmetric law from signed ranks: narrower than order
// statistics where the law is near normal. Must not be used where symmetry is in doubt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/interval.h"

namespace specbench::stats {

inline constexpr std::int64_t kMaxSignedRank = 1000;  // 2^-n must stay a normal double

// P(W <= w) for the sum W of the ranks 1..n each counted with probability 1/2 (Wilcoxon 1945), by
// the recurrence over n; exact up to rounding (whole counts below 2^53 for n <= 50). 0 for w < 0.
// Throws std::invalid_argument unless 1 <= n <= kMaxSignedRank.
double signed_rank_lower_tail(std::int64_t w, std::int64_t n);

// [a_(k), a_(M+1-k)] of the sorted M = n (n + 1) / 2 Walsh averages (x_i + x_j) / 2, i <= j, with
// the largest k whose exact coverage 1 - 2 P(W < k) is at least level; each end misses with at most
// (1 - level) / 2. The estimate is their median (Hodges and Lehmann 1963). Interval::level is the
// exact coverage. Empty if n is too small (all averages cover only 1 - 2^(1-n)). Throws
// std::invalid_argument for no values, values that are not finite, more than kMaxSignedRank of
// them, and a level outside (0, 1).
std::optional<Interval> wilcoxon_interval(std::span<const double> values, double level);

}  // namespace specbench::stats
