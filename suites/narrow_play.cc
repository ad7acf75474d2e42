#include "suites/narrow_play.h"

#include <algorithm>

#include "engine/coins.h"

namespace specbench::suites {

namespace {

bool is_same(const engine::Law& a, const engine::Law& b) {
  return a.weights == b.weights && a.point == b.point && a.total == b.total &&
         a.chunk_sums == b.chunk_sums;
}

}  // namespace

Player::Player(int chunk, int n_drafted, int n_ids, std::uint64_t seed,
               const engine::Verifier& verifier, const engine::Steps& steps)
    : n_drafted_(static_cast<std::size_t>(n_drafted)),
      verifier_(verifier),
      steps_(steps),
      rule_(steps.accept != nullptr ? steps.accept : verifier.accept),
      uses_residuals_(verifier.accept == engine::accept_token),
      spares_(steps.draft == engine::take_draft ? 0 : static_cast<int>(kRows) * n_drafted, n_ids),
      residual_(1, n_ids),
      lanes_(kRows),
      laws_(kRows) {
  for (std::size_t row = 0; row < kRows; ++row) {
    engine::LaneDraft& lane = lanes_[row];
    lane.lane = static_cast<int>(row);
    lane.request = static_cast<std::uint32_t>(static_cast<std::size_t>(chunk) * kRows + row);
    lane.first_slot = static_cast<int>(row) * (n_drafted + 1);
    lane.n_wanted = n_drafted;
    lane.seed = seed;
    lane.sampling = &sampling_;
  }
}

void Player::align() {
  int last = 0;
  for (const engine::LaneDraft& lane : lanes_) last = std::max(last, lane.newest_pos);
  for (engine::LaneDraft& lane : lanes_) lane.newest_pos = last;
}

void Player::draft(std::size_t row) {
  engine::LaneDraft& lane = lanes_[row];
  const RoundLaws& laws = laws_[row];
  const auto first = static_cast<std::uint32_t>(lane.newest_pos + 1);
  lane.drafted.clear();
  lane.laws.clear();
  for (std::size_t i = 0; i < n_drafted_; ++i) {
    engine::Law law = laws.drafts[i];
    const engine::LawRoom spare = steps_.draft == engine::take_draft
                                      ? engine::LawRoom{}
                                      : spares_.room(static_cast<int>(row * n_drafted_ + i));
    lane.drafted.push_back(
        steps_.draft(law, spare, verifier_.draft_draw,
                     {lane.seed, lane.request, first, first + static_cast<std::uint32_t>(i),
                      engine::Purpose::kDraft, 0}));
    lane.laws.push_back(law);
  }
}

bool Player::is_own(std::size_t row) const {
  const engine::LaneDraft& lane = lanes_[row];
  for (std::size_t i = 0; i < lane.laws.size(); ++i)
    if (!is_same(lane.laws[i], laws_[row].drafts[i])) return false;
  return true;
}

engine::Acceptance Player::accept(std::size_t row, bool has_own_drafts) {
  const engine::LaneDraft& lane = lanes_[row];
  const std::size_t n = lane.drafted.size();
  const RoundLaws& laws = laws_[row];
  const engine::RoundCoins coins =
      steps_.coins({lane.seed, lane.request, lane.newest_pos + 1, static_cast<int>(n), lane.lane});
  const bool has_residuals = uses_residuals_ && has_own_drafts && !laws.residuals.empty();
  return rule_({lane.drafted, lane.laws, laws.targets.first(n + 1),
                has_residuals ? laws.residuals.first(n) : std::span<const engine::Law>{}},
               coins, residual_.room(0));
}

void Player::advance(const PlayedRound& round) {
  engine::LaneDraft& lane = lanes_[round.row];
  lane.n_refused = static_cast<int>(round.n_drafted()) - round.acceptance.n_accepted;
  lane.newest_pos += round.acceptance.n_accepted + 1;
  lane.newest = round.acceptance.final_token;
}

namespace {

engine::Law law_of(const Probs& probs, const engine::LawRoom& room) {
  const int n_ids = static_cast<int>(probs.size());
  std::copy(probs.begin(), probs.end(), room.weights);
  return {room.weights, room.chunk_sums, engine::sum_chunks(room.weights, n_ids, room.chunk_sums),
          n_ids, -1};
}

void repeat(std::vector<engine::Law>& laws) {
  const std::vector<engine::Law> once = laws;
  laws.insert(laws.end(), once.begin(), once.end());
}

}  // namespace

NarrowLaws::NarrowLaws(const NarrowCase& narrow, const engine::Verifier& verifier)
    : is_by_round_(verifier.accept == engine::accept_token),
      n_positions_(narrow.g() + 1),
      n_ids_(narrow.n_ids()),
      buffer_(static_cast<int>(3 * n_positions_ * narrow.rows.size()), static_cast<int>(n_ids_)) {
  for (const NarrowRow& row : narrow.rows) add_row(row, verifier);
}

void NarrowLaws::add_row(const NarrowRow& from, const engine::Verifier& verifier) {
  Row row;
  for (std::size_t i = 0; i < n_positions_; ++i) {
    const Probs& p = from.targets[i];
    const Probs& q = from.drafts[i];
    row.targets.push_back(law_of(p, next_room()));
    if (verifier.draft_draw == engine::DraftDraw::kArgmax) {
      const std::size_t id = likeliest(q, i % std::min<std::size_t>(3, n_ids_));
      row.drafts.push_back(
          {nullptr, nullptr, 1.0, static_cast<int>(n_ids_), static_cast<engine::TokenId>(id)});
    } else {
      row.drafts.push_back(law_of(q, next_room()));
    }
    row.residuals.push_back(engine::residual_law(row.targets[i], row.drafts[i], next_room()));
    add_acceptance(p, q, row.drafts[i], verifier);
  }
  repeat(row.targets);
  repeat(row.drafts);
  repeat(row.residuals);
  rows_.push_back(std::move(row));
}

void NarrowLaws::add_acceptance(const Probs& target, const Probs& draft,
                                const engine::Law& draft_law, const engine::Verifier& verifier) {
  double variance = 0.0;
  for (std::size_t id = 0; id < n_ids_; ++id) {
    const double q = draft_law.prob(static_cast<engine::TokenId>(id));
    double a = target[id];
    if (verifier.draft_draw == engine::DraftDraw::kCoupled)
      a = draft[id] > 0.0 ? coupled_acceptance(target, draft, id) : 0.0;
    else if (verifier.draft_draw == engine::DraftDraw::kCoin)
      a = target[id] < draft[id] ? target[id] / draft[id] : (target[id] > 0.0 ? 1.0 : 0.0);
    acceptance_.push_back(a);
    variance += q * a * (1.0 - a);
  }
  least_bit_variance_ = std::min(least_bit_variance_, variance);
}

RoundLaws NarrowLaws::of(std::size_t row, int first_pos) const {
  const Row& laws = rows_[own(row)];
  const std::size_t first = index(first_pos, 0);
  const auto from = [&](const std::vector<engine::Law>& all, std::size_t n) {
    return std::span(all).subspan(first, n);
  };
  return {from(laws.targets, n_positions_), from(laws.drafts, n_positions_ - 1),
          from(laws.residuals, n_positions_ - 1)};
}

}  // namespace specbench::suites
