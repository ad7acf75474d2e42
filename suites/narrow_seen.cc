#include "suites/narrow_seen.h"

#include <algorithm>
#include <array>

#include "engine/coins.h"
#include "engine/parallel.h"

namespace specbench::suites {

Rule rule_of(const engine::Verifier& verifier) {
  if (verifier.draft_draw == engine::DraftDraw::kCoupled) return Rule::kCoupled;
  if (verifier.draft_draw == engine::DraftDraw::kArgmax) return Rule::kOneHot;
  return verifier.accept == engine::accept_token ? Rule::kToken : Rule::kBlock;
}

Classes::Classes(const NarrowCase& narrow, Rule the_rule)
    : rule(the_rule),
      g(narrow.g()),
      n_ids(narrow.n_ids()),
      is_by_row(narrow.is_row_distinct()),
      has_pairs(narrow.has_one_law() && narrow.n_ids() <= 8),
      n_slots(is_by_row ? kRows : g),
      n_groups(is_by_row                                                 ? kRows
               : narrow.is_position_distinct && the_rule != Rule::kToken ? g + 1
                                                                         : 1) {}

Seen::Seen(const Classes& classes)
    : accepted(classes.n_slots * classes.n_ids),
      rejected(accepted.size()),
      emitted(classes.n_groups * classes.n_ids),
      bonus(emitted.size()),
      length(classes.g + 1),
      bits(classes.n_slots),
      first_pairs(classes.has_pairs ? classes.n_ids * classes.n_ids : 0),
      pairs(first_pairs.size()),
      next(classes.has_pairs ? classes.n_ids : 0, classes.has_pairs ? classes.n_ids : 0) {}

void Seen::merge(const Seen& other) {
  const auto add = [](Counts& to, const Counts& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add(accepted, other.accepted);
  add(rejected, other.rejected);
  add(emitted, other.emitted);
  add(bonus, other.bonus);
  add(length, other.length);
  add(first_pairs, other.first_pairs);
  add(pairs, other.pairs);
  add(next.counts, other.next.counts);
  for (std::size_t slot = 0; slot < bits.size(); ++slot) bits[slot].merge(other.bits[slot]);
  rows.merge(other.rows);
}

Noter::Noter(const Classes& classes, const NarrowLaws& laws, Seen& seen)
    : classes_(classes), laws_(laws), seen_(seen), states_(kRows) {}

void Noter::note(const PlayedRound& round) {
  note_classes(round);
  if (classes_.rule == Rule::kBlock)
    note_block_bits(round);
  else
    note_bits(round);
  if (classes_.has_pairs) note_pairs(round);
}

void Noter::note_classes(const PlayedRound& round) {
  const std::size_t n = round.n_accepted();
  const engine::TokenId final_token = round.acceptance.final_token;
  if (classes_.rule == Rule::kToken) {
    for (std::size_t i = 0; i < n; ++i)
      ++seen_.accepted[cell(classes_.slot(round.row, i), round.draft.drafted[i])];
    if (n < round.n_drafted()) ++seen_.rejected[cell(classes_.slot(round.row, n), final_token)];
    ++seen_.length[n];
  } else {
    for (std::size_t i = 0; i <= n; ++i) {
      const int pos = round.first_pos() + static_cast<int>(i);
      ++seen_.emitted[cell(classes_.group(round.row, pos), round.token(i))];
    }
  }
  if (n == round.n_drafted())
    ++seen_.bonus[cell(classes_.group(round.row, round.first_pos() + static_cast<int>(n)),
                       final_token)];
}

// By the laws that were reported: a lossless but wrong rule is named, a wrong law shows elsewhere.
double Noter::acceptance(const PlayedRound& round, std::size_t i) const {
  const engine::TokenId id = round.draft.drafted[i];
  if (round.has_own_drafts || classes_.rule != Rule::kToken)
    return laws_.acceptance(round.row, laws_.index(round.first_pos(), i), id);
  const double p = round.laws.targets[i].prob(id);
  const double q = round.draft.laws[i].prob(id);
  return p < q ? p / q : (p > 0.0 ? 1.0 : 0.0);
}

// Bits that were certain and came true say nothing, and would hide rare ones: a rare bit is held
// against the mean of all (z_test.h).
void Noter::add_bit(std::size_t slot, bool is_accepted, double a) {
  if (a > 0.0 ? a < 1.0 || !is_accepted : is_accepted) seen_.bits[slot].add(is_accepted, a);
}

void Noter::note_bits(const PlayedRound& round) {
  const std::size_t n = round.n_accepted();
  for (std::size_t i = 0; i <= n && i < round.n_drafted(); ++i) {
    const double a = acceptance(round, i);
    add_bit(classes_.slot(round.row, i), i < n, a);
    if (i == 0) seen_.rows.add_bit(i < n, a);
  }
}

namespace {

// h_i of the block rule for i below the number drafted, by its formula (accept.h).
double block_height(const PlayedRound& round, std::size_t i, double share) {
  const engine::Law& target = round.laws.targets[i];
  const engine::Law& draft = round.draft.laws[i];
  double excess = 0.0;
  for (engine::TokenId id = 0; id < target.n_ids; ++id)
    excess += std::max(0.0, share * target.prob(id) - draft.prob(id));
  const double rest = excess + (1.0 - share);
  return rest > 0.0 ? excess / rest : 1.0;
}

}  // namespace

// tau is the largest i with u_i < h_i: read from behind, each i in turn is tau with probability
// h_i, given that no larger one is.
void Noter::note_block_bits(const PlayedRound& round) {
  const std::size_t n = round.n_drafted();
  const std::size_t tau = round.n_accepted();
  std::array<double, engine::kMaxRows> shares{};
  shares[0] = 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = round.laws.targets[i].prob(round.draft.drafted[i]);
    const double q = round.draft.laws[i].prob(round.draft.drafted[i]);
    shares[i + 1] = std::min(1.0, q > 0.0 ? shares[i] * (p / q) : (p > 0.0 ? shares[i] : 0.0));
  }
  double is_zero = 1.0;  // probability of tau = 0
  for (std::size_t i = n; i >= 1; --i) {
    const double h = i == n ? shares[n] : block_height(round, i, shares[i]);
    if (i >= tau) add_bit(classes_.slot(round.row, i - 1), i == tau, h);
    is_zero *= 1.0 - h;
  }
  if (n > 0) seen_.rows.add_bit(tau > 0, 1.0 - is_zero);
}

void Noter::add_pair_token(RowState& state, engine::TokenId id) {
  if (state.open < 0) {
    state.open = id;
    return;
  }
  ++seen_.pairs[cell(static_cast<std::size_t>(state.open), id)];
  state.open = -1;
}

void Noter::note_pairs(const PlayedRound& round) {
  RowState& state = states_[round.row];
  const std::size_t n = round.n_accepted();
  if (n >= 1 && classes_.g >= 2)
    ++seen_.first_pairs[cell(static_cast<std::size_t>(round.token(0)), round.token(1))];
  for (std::size_t i = 0; i <= n; ++i) add_pair_token(state, round.token(i));
  // Every other round: a round of one token must not stand in two pairs.
  if (state.is_odd_round)
    ++seen_.next.at(static_cast<std::size_t>(state.last), static_cast<std::size_t>(round.token(0)));
  state.is_odd_round = !state.is_odd_round;
  state.last = round.acceptance.final_token;
}

void Noter::end_play(const Player& player) {
  if (!classes_.has_pairs) return;
  for (std::size_t row = 0; row < kRows; ++row) {
    if (states_[row].open < 0) continue;
    const engine::LaneDraft& lane = player.lane(row);
    const double u =
        engine::uniform({lane.seed, lane.request, 0, static_cast<std::uint32_t>(lane.newest_pos),
                         engine::Purpose::kVerification, 0});
    add_pair_token(states_[row], engine::draw(laws_.of(row, lane.newest_pos + 1).targets[0], u));
  }
}

namespace {
constexpr auto kRoundsOfStep = static_cast<std::int64_t>(kPlayChunks * kRows);
}

std::int64_t whole_rounds(std::int64_t n_rounds) {
  return (n_rounds + kRoundsOfStep - 1) / kRoundsOfStep * kRoundsOfStep;
}

Seen play_narrow_case(const NarrowCase& narrow, const engine::Verifier& verifier,
                      std::int64_t n_rounds, std::uint64_t seed, const engine::Steps& steps,
                      int n_threads) {
  const std::int64_t n_steps = whole_rounds(n_rounds) / kRoundsOfStep;
  const Classes classes(narrow, rule_of(verifier));
  const NarrowLaws laws(narrow, verifier);
  std::vector<Seen> parts(kPlayChunks, Seen(classes));
  engine::parallel_for(kPlayChunks, n_threads, [&](int chunk) {
    Noter noter(classes, laws, parts[static_cast<std::size_t>(chunk)]);
    Player player(chunk, static_cast<int>(classes.g), static_cast<int>(classes.n_ids), seed,
                  verifier, steps);
    for (std::int64_t s = 0; s < n_steps; ++s) {
      player.step([&](std::size_t row, int first_pos) { return laws.of(row, first_pos); },
                  [&](const PlayedRound& round) { noter.note(round); });
      noter.end_step();
    }
    noter.end_play(player);
  });
  for (std::size_t chunk = 1; chunk < parts.size(); ++chunk) parts[0].merge(parts[chunk]);
  return std::move(parts[0]);
}

}  // namespace specbench::suites
