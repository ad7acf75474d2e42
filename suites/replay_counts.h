// What a replay found: how many tokens it went over, and of each mismatch how far the deciding coin
// was from the edge, which tells a fault from rounding. Decides nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/types.h"
#include "results/record.h"

namespace specbench::suites {

/// Below this a mismatch is rounding. The engine's sums err by a few 1e-16 of the whole.
inline constexpr double kTieMargin = 1e-12;

struct ReplayMismatch {
  std::uint32_t request = 0;
  int round = 0;               ///< -1: the first token, which the prefill emits
  int pos = 0;                 ///< absolute
  const char* what = "";       ///< "drafted", "emitted"; "accepted drafts:" (counts, not ids)
  engine::TokenId engine = 0;  ///< the engine's id (or count)
  engine::TokenId replayed = 0;
  double coin = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no one coin decided
  /// How far the coin lies from the nearest value with which the engine would be right, in
  /// probability (1: no value would do). Coupled rule: the difference of the two scores, in nats.
  double margin = 1.0;

  bool is_tie() const { return margin < kTieMargin; }
};

/// One sentence: request, round, position, both ids, coin and margin.
std::string describe(const ReplayMismatch& mismatch);

/// Tokens replayed and mismatches found, by kind.
struct ReplayCounts {
  static constexpr std::size_t kKept = 8;  ///< mismatches that are kept; all are counted

  std::int64_t n_drafted = 0;  ///< drafted ids redrawn from the law they are said to come from
  std::int64_t n_draft_mismatches = 0;
  std::int64_t n_rounds = 0;  ///< decisions and final tokens recomputed
  std::int64_t n_tokens = 0;  ///< tokens those rounds emitted
  std::int64_t n_round_mismatches = 0;
  std::string first_mismatch;  ///< described; empty: none
  std::vector<ReplayMismatch> mismatches;

  /// Whether all there was is kept and is rounding.
  bool are_all_ties() const;
};

/// The mismatches that were kept, one a row; "replay_mismatches".
results::NamedTable mismatch_table(const ReplayCounts& counts);

}  // namespace specbench::suites
