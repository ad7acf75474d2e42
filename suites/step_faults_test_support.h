// Faults of single steps of a round (ids of MUTANTS), each right but for the one thing its comment
// says. For the tests of the exact checks; never part of the product.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/decode.h"

namespace specbench::suites::testing {

using engine::Acceptance;
using engine::Law;
using engine::LawRoom;
using engine::Proposal;
using engine::RoundCoins;
using engine::RowPast;
using engine::RowPlace;
using engine::SamplingParams;
using engine::TokenId;

// The token rule's own steps.

inline bool stands(const Proposal& p, const RoundCoins& coins, std::size_t i) {
  const TokenId id = p.drafted[i];
  return coins.accept[i] * p.draft_laws[i].prob(id) < p.target_laws[i].prob(id);
}
inline Law residual(const Proposal& p, std::size_t i, const LawRoom& room) {
  return engine::residual_law(p.target_laws[i], p.draft_laws[i], room);
}
/// The law of the residual's weights, changed in place.
template <typename Change>
Law changed(const Law& law, const LawRoom& room, const Change& change) {
  for (TokenId id = 0; id < law.n_ids; ++id) room.weights[id] = change(id, room.weights[id]);
  return {room.weights, room.chunk_sums,
          engine::sum_chunks(room.weights, law.n_ids, room.chunk_sums), law.n_ids, -1};
}
inline TokenId argmax_of(const Law& law) {
  TokenId best = 0;
  for (TokenId id = 1; id < law.n_ids; ++id)
    if (law.prob(id) > law.prob(best)) best = id;
  return best;
}

// Rules.

template <typename ResidualOf>
Acceptance with_residual(const Proposal& p, const RoundCoins& c, const ResidualOf& residual_of) {
  return engine::reject_first(
      p, c, [&](std::size_t i) { return stands(p, c, i); }, residual_of);
}
template <typename Stands>
Acceptance with_test(const Proposal& p, const RoundCoins& c, const LawRoom& room,
                     const Stands& test) {
  return engine::reject_first(p, c, test, [&](std::size_t i) { return residual(p, i, room); });
}

/// Nothing is subtracted.
inline Acceptance rule_r1(const Proposal& p, const RoundCoins& c, const LawRoom&) {
  return with_residual(p, c, [&](std::size_t i) { return p.target_laws[i]; });
}
/// Only the refused token is taken out of the target.
inline Acceptance rule_r2(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_residual(p, c, [&](std::size_t i) {
    return changed(p.target_laws[i], room, [&](TokenId id, double) {
      return id == p.drafted[i] ? 0.0 : p.target_laws[i].prob(id);
    });
  });
}
/// A softmax in place of the division by the sum.
inline Acceptance rule_r3(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_residual(p, c, [&](std::size_t i) {
    return changed(residual(p, i, room), room,
                   [](TokenId, double weight) { return weight > 0.0 ? std::exp(weight) : 0.0; });
  });
}
/// The residual of the first row at every row.
inline Acceptance rule_r4(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_residual(p, c, [&](std::size_t) { return residual(p, 0, room); });
}
/// The inverse CDF falls through to the last id for coins near 1.
inline Acceptance rule_r5(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  Acceptance a = engine::accept_token(p, c, room);
  const auto at = static_cast<std::size_t>(a.n_accepted);
  const double u = at < p.drafted.size() ? c.residual[at] : c.bonus;
  if (u > 1.0 - 1e-12) a.final_token = p.target_laws[at].n_ids - 1;
  return a;
}
/// A residual without mass gives id 0.
inline Acceptance rule_r6(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  Acceptance a = engine::accept_token(p, c, room);
  if (a.residual_was_empty) a.final_token = 0;
  return a;
}
/// The residual in half precision.
inline Acceptance rule_r7(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_residual(p, c, [&](std::size_t i) {
    return changed(residual(p, i, room), room, [](TokenId, double weight) {
      int exponent = 0;
      const double mantissa = std::frexp(weight, &exponent);
      return std::ldexp(std::round(mantissa * 2048.0) / 2048.0, exponent);
    });
  });
}
/// The block rule with the token rule's residual.
inline Acceptance rule_r9(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  Acceptance a = engine::accept_block(p, c, room);
  const auto at = static_cast<std::size_t>(a.n_accepted);
  if (at < p.drafted.size())
    if (const Law law = residual(p, at, room); law.total > 0.0)
      a.final_token = engine::draw(law, c.residual[at]);
  return a;
}
/// Every token stands.
inline Acceptance rule_a1(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_test(p, c, room, [](std::size_t) { return true; });
}
/// <= in place of <.
inline Acceptance rule_a2(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_test(p, c, room, [&](std::size_t i) {
    const TokenId id = p.drafted[i];
    return c.accept[i] * p.draft_laws[i].prob(id) <= p.target_laws[i].prob(id);
  });
}
/// A threshold in place of the coin.
inline Acceptance rule_a3(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_test(p, c, room,
                   [&](std::size_t i) { return p.target_laws[i].prob(p.drafted[i]) > 0.3; });
}
/// A token stands iff it is the target's likeliest.
inline Acceptance rule_a4(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_test(p, c, room,
                   [&](std::size_t i) { return p.drafted[i] == argmax_of(p.target_laws[i]); });
}
/// The first token is not verified.
inline Acceptance rule_a6(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  return with_test(p, c, room, [&](std::size_t i) { return i == 0 || stands(p, c, i); });
}
/// The accept coin again for the residual.
inline Acceptance rule_n1(const Proposal& p, const RoundCoins& c, const LawRoom& room) {
  RoundCoins coins = c;
  coins.residual = c.accept;
  return engine::accept_token(p, coins, room);
}

// Laws of rows.

/// At temperature 1 on the rows that `is_hit` names.
template <typename IsHit>
Law law_warm(float* logits, int n, const SamplingParams& params, const RowPast& past,
             const RowPlace& place, const LawRoom& room, const IsHit& is_hit) {
  SamplingParams other = params;
  if (is_hit(place)) other.temperature = 1.0;
  return engine::law_of_row(logits, n, other, past, place, room);
}
/// Verification at temperature 1.
inline Law law_q4(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  return law_warm(logits, n, params, past, place, room,
                  [](const RowPlace& at) { return !at.is_draft; });
}
/// The bonus at temperature 1.
inline Law law_b3(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  return law_warm(logits, n, params, past, place, room,
                  [](const RowPlace& at) { return at.is_bonus() && at.row > 0; });
}
/// Greedy rows sampled.
inline Law law_q5(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  SamplingParams other = params;
  if (params.is_greedy()) other.temperature = 1.0;
  return engine::law_of_row(logits, n, other, past, place, room);
}
/// Processors on the bonus row alone.
inline Law law_q7(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  if (place.is_bonus()) return engine::law_of_row(logits, n, params, past, place, room);
  return engine::make_law(logits, n, params, room.weights, room.chunk_sums);
}
/// The history lacks the newest drafted token.
inline Law law_q8(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  RowPast shorter = past;
  if (!past.drafted.empty()) shorter.drafted = past.drafted.first(past.drafted.size() - 1);
  return engine::law_of_row(logits, n, params, shorter, place, room);
}
/// Normalised over two rows.
inline Law law_q6(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  Law law = engine::law_of_row(logits, n, params, past, place, room);
  law.total *= 2.0;
  return law;
}
/// Temperature behind the filters.
inline Law law_q10(float* logits, int n, const SamplingParams& params, const RowPast& past,
                   const RowPlace& place, const LawRoom& room) {
  if (params.is_greedy()) return engine::law_of_row(logits, n, params, past, place, room);
  SamplingParams warm = params;
  warm.temperature = 1.0;
  const Law law = engine::law_of_row(logits, n, warm, past, place, room);
  return changed(law, room, [&](TokenId, double weight) {
    return weight > 0.0 ? std::pow(weight, 1.0 / params.temperature) : 0.0;
  });
}
/// Ties of the argmax go to the last id.
inline Law law_a8(float* logits, int n, const SamplingParams& params, const RowPast& past,
                  const RowPlace& place, const LawRoom& room) {
  Law law = engine::law_of_row(logits, n, params, past, place, room);
  if (law.is_point())
    for (TokenId id = 0; id < n; ++id)
      if (logits[id] >= logits[law.point]) law.point = id;
  return law;
}
/// NaN becomes zero.
inline Law law_nan(float* logits, int n, const SamplingParams& params, const RowPast& past,
                   const RowPlace& place, const LawRoom& room) {
  for (TokenId id = 0; id < n; ++id)
    if (std::isnan(logits[id])) logits[id] = 0.0F;
  return engine::law_of_row(logits, n, params, past, place, room);
}

// Coins.

inline RoundCoins coins_shared(const engine::RoundKey& key, bool in_positions, bool in_requests,
                               bool in_seeds) {
  RoundCoins coins = engine::round_coins(in_seeds ? 1 : key.seed, in_requests ? 0 : key.request,
                                         key.first_pos, key.n_drafted);
  if (in_positions) coins.accept.fill(coins.accept[0]);
  return coins;
}
inline RoundCoins coins_n1(const engine::RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  coins.residual = coins.accept;
  return coins;
}
inline RoundCoins coins_n3(const engine::RoundKey& key) {
  return coins_shared(key, true, false, false);
}
inline RoundCoins coins_n4(const engine::RoundKey& key) {
  return coins_shared(key, false, true, false);
}
inline RoundCoins coins_n5_seed(const engine::RoundKey& key) {
  return coins_shared(key, false, false, true);
}
inline RoundCoins coins_n5_lane(const engine::RoundKey& key) {
  return engine::round_coins(key.seed + static_cast<std::uint64_t>(key.lane), key.request,
                             key.first_pos, key.n_drafted);
}
/// Accept coins keyed by position alone.
inline RoundCoins coins_n6(const engine::RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (int i = 0; i < key.n_drafted; ++i)
    coins.accept[static_cast<std::size_t>(i)] =
        engine::uniform({key.seed, key.request, 0, static_cast<std::uint32_t>(key.first_pos + i),
                         engine::Purpose::kAccept, 0});
  return coins;
}
template <typename Change>
RoundCoins coins_through(const engine::RoundKey& key, const Change& change) {
  RoundCoins coins = engine::coins_of_round(key);
  for (auto* const list : {&coins.accept, &coins.residual, &coins.target})
    for (double& coin : *list) coin = change(coin);
  coins.bonus = change(coins.bonus);
  return coins;
}
/// 101 levels, of which the last is 1.
inline RoundCoins coins_a5(const engine::RoundKey& key) {
  return coins_through(key, [](double u) { return std::floor(u * 101.0) / 101.0; });
}
/// float32, which rounds to 1 now and then.
inline RoundCoins coins_a7(const engine::RoundKey& key) {
  return coins_through(key, [](double u) { return static_cast<double>(static_cast<float>(u)); });
}

// Drafts.

/// The likeliest token, reported as drawn from the soft law.
inline TokenId draft_q1(Law& law, const LawRoom&, engine::DraftDraw, const engine::CoinKey&) {
  return argmax_of(law);
}
/// Drawn from the likelier half, reported as drawn from all.
inline TokenId draft_q2(Law& law, const LawRoom& spare, engine::DraftDraw,
                        const engine::CoinKey& key) {
  const double edge = law.prob(argmax_of(law)) / 8.0;
  const Law half = changed(
      law, spare, [&](TokenId id, double) { return law.prob(id) >= edge ? law.prob(id) : 0.0; });
  return engine::draw(half, engine::uniform(key));
}

inline engine::Steps with_rule(engine::AcceptRule rule) {
  engine::Steps steps;
  steps.accept = rule;
  return steps;
}
inline engine::Steps with_law(decltype(engine::Steps::law) law) {
  engine::Steps steps;
  steps.law = law;
  return steps;
}
inline engine::Steps with_coins(decltype(engine::Steps::coins) coins) {
  engine::Steps steps;
  steps.coins = coins;
  return steps;
}
inline engine::Steps with_draft(decltype(engine::Steps::draft) draft) {
  engine::Steps steps;
  steps.draft = draft;
  return steps;
}

}  // namespace specbench::suites::testing
