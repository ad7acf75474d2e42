#include "suites/sweep_report.h"

#include <fmt/format.h>

#include <string>

#include "suites/latency_report.h"

namespace specbench::suites {

namespace {

results::NamedTable table_of(std::span<const SweepCell> cells) {
  results::NamedTable table{
      "sweep",
      {"layers", "draft_tokens", "speedup", "lower", "upper", "predicted", "acceptance_length"},
      {}};
  for (const SweepCell& cell : cells) {
    const auto of = [&](double stats::Interval::*member) {
      return cell.speedup ? results::Value((*cell.speedup).*member) : results::Value();
    };
    table.rows.push_back({std::int64_t{cell.layers}, std::int64_t{cell.draft_tokens},
                          of(&stats::Interval::estimate), of(&stats::Interval::lower),
                          of(&stats::Interval::upper),
                          cell.predicted ? results::Value(*cell.predicted) : results::Value(),
                          cell.acceptance_length});
  }
  return table;
}

/// The fastest; null where none was timed. Of equals the first.
const SweepCell* best_of(std::span<const SweepCell> cells) {
  const SweepCell* best = nullptr;
  for (const SweepCell& cell : cells)
    if (cell.speedup && (best == nullptr || cell.speedup->estimate > best->speedup->estimate))
      best = &cell;
  return best;
}

std::string verdict_of(const SweepCell& best, std::size_t n_cells) {
  const stats::Interval& s = *best.speedup;
  const std::string head = fmt::format(
      "the best of {} is {} layers with {} draft tokens: {:.3f} x autoregressive (95 % "
      "{:.3f}..{:.3f}, within-process, decode only)",
      n_cells, best.layers, best.draft_tokens, s.estimate, s.lower, s.upper);
  if (s.estimate <= 1.0) return head + "; none is faster.";
  return fmt::format(
      "{}{}. It was picked by the data that measured it, so it reads too high: measure it again "
      "with --suite latency --draft-layers {} --draft-tokens {}.",
      head, s.lower > 1.0 ? "" : ", which does not exclude 1", best.layers, best.draft_tokens);
}

}  // namespace

harness::Series pair_of(const harness::Series& series, int arm) {
  harness::Series pair;
  pair.arm_names = {series.arm_names.front(), series.arm_names[static_cast<std::size_t>(arm)]};
  pair.phase_names = series.phase_names;
  pair.blocks_done = series.blocks_done;
  for (const harness::Sample& sample : series.samples) {
    if (sample.arm != 0 && sample.arm != arm) continue;
    pair.samples.push_back(sample);
    pair.samples.back().arm = sample.arm == 0 ? kAutoregressive : kSpeculative;
  }
  return pair;
}

void report_sweep(std::span<const SweepCell> cells, results::Record& record) {
  record.tables.push_back(table_of(cells));
  const SweepCell* best = best_of(cells);
  constexpr const char* kNone = "no token behind the first in both arms";
  const auto of = [&](auto value) {
    return best != nullptr ? std::optional<double>(value()) : std::nullopt;
  };
  const char* note = best != nullptr ? "of the fastest cell" : kNone;
  record.metrics.push_back(
      {"best_layers", of([&] { return best->layers; }), "1", {}, {}, {}, note});
  record.metrics.push_back(
      {"best_draft_tokens", of([&] { return best->draft_tokens; }), "1", {}, {}, {}, note});
  if (best == nullptr) {
    record.metrics.push_back({"best_speedup", {}, "ratio", {}, {}, {}, kNone});
    return;
  }
  const stats::Interval& s = *best->speedup;
  record.metrics.push_back({"best_speedup", s.estimate, "ratio", s.lower, s.upper, s.level,
                            fmt::format("picked of {}: reads too high", cells.size())});
  record.verdict = verdict_of(*best, cells.size());
}

}  // namespace specbench::suites
