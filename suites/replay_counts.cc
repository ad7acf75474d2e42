#include "suites/replay_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace specbench::suites {

std::string describe(const ReplayMismatch& m) {
  const std::string what =
      fmt::format("Request {}, round {}, position {}: {} {}, the replay says {}", m.request,
                  m.round, m.pos, m.what, m.engine, m.replayed);
  const std::string coin = std::isnan(m.coin) ? "" : fmt::format("coin {:.17g}, ", m.coin);
  return fmt::format("{} ({}{:.2g} from the edge{}).", what, coin, m.margin,
                     m.is_tie() ? ": rounding" : "");
}

bool ReplayCounts::are_all_ties() const {
  return n_draft_mismatches + n_round_mismatches == static_cast<std::int64_t>(mismatches.size()) &&
         std::all_of(mismatches.begin(), mismatches.end(),
                     [](const auto& m) { return m.is_tie(); });
}

results::NamedTable mismatch_table(const ReplayCounts& counts) {
  results::NamedTable table{
      "replay_mismatches",
      {"request", "round", "position", "what", "engine", "replay", "coin", "margin"},
      {}};
  for (const ReplayMismatch& m : counts.mismatches)
    table.rows.push_back(
        {static_cast<std::int64_t>(m.request), std::int64_t{m.round}, std::int64_t{m.pos},
         std::string(m.what), std::int64_t{m.engine}, std::int64_t{m.replayed},
         std::isnan(m.coin) ? results::Value() : results::Value(m.coin), m.margin});
  return table;
}

}  // namespace specbench::suites
