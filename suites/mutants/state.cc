// Faults of state, stops and counters: caches, positions, what is emitted and what is counted.
#include <algorithm>

#include "suites/mutants/plant.h"

namespace specbench::suites::plant {

namespace {

bool is_fully_accepted(const Round& round) {
  return round.n_drafted() > 0 && round.n_verdict == round.n_drafted() && !round.is_cut;
}

}  // namespace

void b1(std::vector<TokenId>& tokens, const Round& round) {
  if (is_fully_accepted(round)) tokens.pop_back();
}

void b2(std::vector<TokenId>& tokens, const Round& round) {
  if (is_fully_accepted(round)) tokens.push_back(tokens.back());
}

int k1(const RoundEnd& end) { return std::min(end.n_committed, end.n_fed); }

int k2(const RoundEnd& end) {
  return end.n_fed - std::min(end.n_drafted - end.n_verdict + 1, end.n_drafted);
}

int k4(const RoundEnd& end) { return end.n_committed > 48 ? end.n_fed : end.n_committed - 1; }

int k7(const RoundEnd& end) {
  return end.is_cut ? end.n_fed - (end.n_drafted - end.n_verdict) : end.n_committed - 1;
}

void k3(std::vector<Row>& rows, bool is_shallow, std::span<const LaneDraft>) {
  if (is_shallow && !rows.empty()) rows.pop_back();
}

void k5(std::vector<Row>& rows, bool is_shallow, std::span<const LaneDraft>) {
  if (is_shallow) return;
  // Each row goes on from the state of the row before it.
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= rows.size(); ++i) {
    if (i < rows.size() && rows[i].lane == rows[begin].lane) continue;
    const int last = rows[i - 1].slot;
    for (std::size_t r = i - 1; r > begin; --r) rows[r].slot = rows[r - 1].slot;
    rows[begin].slot = last;
    begin = i;
  }
}

void k6(std::vector<Row>& rows, bool is_shallow, std::span<const LaneDraft>) {
  for (Row& row : rows)
    if (!is_shallow) row.pos = std::min(row.pos, 24);
}

void p1(std::vector<Row>& rows, bool, std::span<const LaneDraft> drafts) {
  for (Row& row : rows)
    for (const LaneDraft& draft : drafts)
      if (draft.lane == row.lane) row.pos += draft.n_refused;
}

void p3(float* logits, std::span<const Row> rows, int n_ids) {
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (rows[i].lane != rows[i + 1].lane) continue;
    float* const row = logits + i * static_cast<std::size_t>(n_ids);
    for (int id = 0; id < n_ids; ++id) row[id] = 0.98F * row[id] + 0.02F * row[n_ids + id];
  }
}

void k8(engine::Backend& backend, int lane, std::uint32_t owner) {
  if (backend.kv().at(lane, 0) == 0) backend.reset(lane, owner);
}

void m1(Round& round) {
  if (round.n_verdict < round.n_drafted()) round.n_accepted = round.n_drafted();
}

void m2(Round& round) {
  if (round.is_cut) round.n_accepted = round.n_verdict;
}

engine::StopReason s1(engine::StopReason due, bool is_last) {
  return due == engine::StopReason::kEos && !is_last ? engine::StopReason::kNone : due;
}

engine::StopReason s2(engine::StopReason due, bool is_last) {
  return due == engine::StopReason::kMaxTokens && !is_last ? engine::StopReason::kNone : due;
}

engine::StopReason s4(engine::StopReason due, bool is_last) {
  return due == engine::StopReason::kStopText && !is_last ? engine::StopReason::kNone : due;
}

int s2_wanted(int draft_tokens, int) { return draft_tokens; }

int p2(int, int n_held) { return n_held; }

}  // namespace specbench::suites::plant
