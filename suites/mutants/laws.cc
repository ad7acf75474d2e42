// Faults of the laws: what is verified, or reported, is not what was asked for or drawn from.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/coins.h"
#include "suites/mutants/plant.h"

namespace specbench::suites::plant {

namespace {

constexpr double kWeak = 0.05;  // a drafted token less likely than this is a weak one

Law right_law(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
              const RowPlace& place, const LawRoom& room) {
  return engine::law_of_row(logits, n_ids, params, past, place, room);
}

Law sum_up(const LawRoom& room, int n_ids) {
  return {room.weights, room.chunk_sums, engine::sum_chunks(room.weights, n_ids, room.chunk_sums),
          n_ids, -1};
}

template <typename Weight>
Law changed(const Law& law, const LawRoom& spare, const Weight& weight) {
  for (int id = 0; id < engine::padded_size(law.n_ids); ++id)
    spare.weights[id] = id < law.n_ids ? weight(id) : 0.0;
  return sum_up(spare, law.n_ids);
}

}  // namespace

Law a8(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  Law law = right_law(logits, n_ids, params, past, place, room);
  if (!law.is_point()) return law;
  for (int id = 0; id < n_ids; ++id)
    if (logits[id] >= logits[law.point]) law.point = id;
  return law;
}

Law q4(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  SamplingParams other = params;
  if (!place.is_draft) other.temperature = 1.0;
  return right_law(logits, n_ids, other, past, place, room);
}

Law q5(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  Law law = right_law(logits, n_ids, params, past, place, room);
  if (!law.is_point() || place.is_draft) return law;
  const double inverse = 1.0 / params.temperature;  // infinite
  const auto largest = static_cast<double>(logits[law.point]);
  for (int id = 0; id < engine::padded_size(n_ids); ++id)
    room.weights[id] =
        id < n_ids ? std::exp((static_cast<double>(logits[id]) - largest) * inverse) : 0.0;
  return sum_up(room, n_ids);
}

Law q6(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  Law law = right_law(logits, n_ids, params, past, place, room);
  if (!place.is_draft && !law.is_point()) law.total *= place.n_drafted + 1;
  return law;
}

Law q7(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  SamplingParams bare;
  bare.temperature = params.temperature;
  const bool is_processed = place.is_draft || place.is_bonus();
  return right_law(logits, n_ids, is_processed ? params : bare, past, place, room);
}

Law q8(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  RowPast older = past;
  if (!place.is_draft && !older.drafted.empty())
    older.drafted = older.drafted.first(older.drafted.size() - 1);
  else if (!place.is_draft && !older.emitted.empty())
    older.emitted = older.emitted.first(older.emitted.size() - 1);
  return right_law(logits, n_ids, params, older, place, room);
}

Law q10(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
        const RowPlace& place, const LawRoom& room) {
  if (params.is_greedy() || place.is_draft)
    return right_law(logits, n_ids, params, past, place, room);
  SamplingParams at_one = params;
  at_one.temperature = 1.0;
  const Law law = right_law(logits, n_ids, at_one, past, place, room);
  for (int id = 0; id < n_ids; ++id)
    room.weights[id] =
        law.weights[id] > 0.0 ? std::exp(std::log(law.weights[id]) / params.temperature) : 0.0;
  return sum_up(room, n_ids);
}

Law b3(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  SamplingParams bare;
  if (params.is_greedy()) bare.temperature = 0.0;
  const bool is_bare = place.is_bonus() && place.n_drafted > 0;
  return right_law(logits, n_ids, is_bare ? bare : params, past, place, room);
}

Law s3(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
       const RowPlace& place, const LawRoom& room) {
  SamplingParams other = params;
  if (!place.is_bonus()) other.min_tokens = 0;
  return right_law(logits, n_ids, other, past, place, room);
}

TokenId q1(Law& law, const LawRoom& spare, DraftDraw mode, const CoinKey& key) {
  if (law.is_point()) return engine::take_draft(law, spare, mode, key);
  return static_cast<TokenId>(std::max_element(law.weights, law.weights + law.n_ids) - law.weights);
}

TokenId q2(Law& law, const LawRoom& spare, DraftDraw mode, const CoinKey& key) {
  if (law.is_point()) return engine::take_draft(law, spare, mode, key);
  std::vector<double> sorted(law.weights, law.weights + law.n_ids);
  const std::size_t k = std::min<std::size_t>(8, (sorted.size() + 1) / 2);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k) - 1,
                   sorted.end(), std::greater<>());
  const double edge = sorted[k - 1];
  const Law cut = changed(
      law, spare, [&](TokenId id) { return law.weights[id] >= edge ? law.weights[id] : 0.0; });
  return engine::draw(cut, engine::uniform(key));
}

TokenId q3(Law& law, const LawRoom& spare, DraftDraw mode, const CoinKey& key) {
  if (law.is_point()) return engine::take_draft(law, spare, mode, key);
  const Law coarse = changed(law, spare, [&](TokenId id) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(law.weights[id]));
    return static_cast<double>(std::bit_cast<float>((bits + 0x8000U) & 0xffff0000U));
  });
  return engine::draw(coarse, engine::uniform(key));
}

TokenId d1(Law& law, const LawRoom& spare, DraftDraw mode, const CoinKey& key) {
  TokenId id = engine::take_draft(law, spare, mode, key);
  if (law.is_point() || law.prob(id) >= kWeak) return id;
  // The deeper exit: a sharper law, from which a new token is drawn, and which is reported.
  const Law deeper =
      changed(law, spare, [&](TokenId other) { return law.weights[other] * law.weights[other]; });
  CoinKey again = key;
  again.index = 1;
  law = deeper;
  return engine::draw(law, engine::uniform(again));
}

TokenId d2(Law& law, const LawRoom& spare, DraftDraw mode, const CoinKey& key) {
  const TokenId id = engine::take_draft(law, spare, mode, key);
  if (law.is_point() || law.prob(id) >= kWeak) return id;
  CoinKey again = key;
  again.index = 1;
  return engine::draw(law, engine::uniform(again));
}

TokenId n2_draft(Law& law, const LawRoom&, DraftDraw, const CoinKey& key) {
  return engine::coupled_draw(law, key.seed, key.request, key.pos);
}

void q9(std::span<LaneDraft> lanes) {
  for (std::size_t i = 0; i + 1 < lanes.size(); i += 2)
    if (lanes[i].laws.size() == lanes[i + 1].laws.size())
      std::swap(lanes[i].laws, lanes[i + 1].laws);
}

}  // namespace specbench::suites::plant
