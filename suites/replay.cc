#include "suites/replay.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/coins.h"

namespace specbench::suites {

namespace {

using engine::Law;
using engine::Purpose;
using engine::TokenId;

long double prob(const Law& law, int id) {
  if (law.is_point()) return id == law.point ? 1.0L : 0.0L;
  return static_cast<long double>(law.weights[id]) / static_cast<long double>(law.total);
}

// The first id whose running sum exceeds u times the whole.
template <typename Weight>
TokenId draw_plainly(int n_ids, double u, const Weight& weight) {
  long double total = 0.0L;
  for (int id = 0; id < n_ids; ++id) total += weight(id);
  const long double t = static_cast<long double>(u) * total;
  long double sum = 0.0L;
  TokenId last = -1;
  for (int id = 0; id < n_ids; ++id) {
    const long double w = weight(id);
    if (!(w > 0.0L)) continue;
    last = id;
    sum += w;
    if (t < sum) return id;
  }
  return last;
}

TokenId draw_law(const Law& law, double u) {
  if (law.is_point()) return law.point;
  return draw_plainly(law.n_ids, u,
                      [&](int id) { return static_cast<long double>(law.weights[id]); });
}

// argmax of log p + Gumbel noise as the rule is written, by the library's logarithm.
TokenId draw_coupled(const Law& law, std::uint64_t seed, std::uint32_t request, std::uint32_t pos) {
  if (law.is_point()) return law.point;
  TokenId best = -1;
  double best_score = 0.0;
  for (int id = 0; id < law.n_ids; ++id) {
    if (!(law.weights[id] > 0.0)) continue;
    const auto at = static_cast<std::uint32_t>(id);
    const auto words = engine::coin_words({seed, request, 0, pos, Purpose::kCoupled, at / 2});
    const double u = (static_cast<double>(words[at % 2] >> 12) + 0.5) * 0x1p-52;
    const double score = std::log(law.weights[id] / law.total) - std::log(-std::log(u));
    if (best >= 0 && !(score > best_score)) continue;
    best = id;
    best_score = score;
  }
  return best;
}

struct Outcome {
  int n_accepted = 0;
  TokenId final_token = -1;
};

/// The coins of a round from their keys, not from what the engine says it used.
class RoundCoinSource {
 public:
  RoundCoinSource(const engine::Round& round, std::uint64_t seed) : round_(round), seed_(seed) {}
  double coin(int i, Purpose purpose) const {
    return engine::uniform({seed_, round_.request, first(), pos(i), purpose, 0});
  }
  double target_coin(int i) const {
    return engine::uniform({seed_, round_.request, 0, pos(i), Purpose::kTarget, 0});
  }
  TokenId coupled(const Law& law, int i) const {
    return draw_coupled(law, seed_, round_.request, pos(i));
  }

 private:
  std::uint32_t first() const { return static_cast<std::uint32_t>(round_.first_pos); }
  std::uint32_t pos(int i) const { return first() + static_cast<std::uint32_t>(i); }
  const engine::Round& round_;
  std::uint64_t seed_;
};

Outcome replay_token(const engine::Round& round, const RoundCoinSource& coins) {
  const auto& [drafted, draft_laws, target_laws, residuals] = round.proposal;
  for (std::size_t i = 0; i < drafted.size(); ++i) {
    const int at = static_cast<int>(i);
    const long double p = prob(target_laws[i], drafted[i]);
    const long double q = prob(draft_laws[i], drafted[i]);
    if (static_cast<long double>(coins.coin(at, Purpose::kAccept)) * q < p) continue;
    const auto rest = [&](int id) {
      return std::max(0.0L, prob(target_laws[i], id) - prob(draft_laws[i], id));
    };
    return {at, draw_plainly(target_laws[i].n_ids, coins.coin(at, Purpose::kResidual), rest)};
  }
  const int n = static_cast<int>(drafted.size());
  return {n, draw_law(target_laws.back(), coins.coin(n, Purpose::kBonus))};
}

// The rules in which the target names its own token and a drafted one stands iff it is that token.
Outcome replay_if_equal(const engine::Round& round, const RoundCoinSource& coins, bool is_coupled) {
  const auto& drafted = round.proposal.drafted;
  for (int i = 0;; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Law& law = round.proposal.target_laws[at];
    const TokenId id = is_coupled ? coins.coupled(law, i) : draw_law(law, coins.target_coin(i));
    if (at == drafted.size() || id != drafted[at]) return {i, id};
  }
}

void note_first(ReplayCounts& counts, const engine::Round& round, const char* what, int i,
                TokenId engine_id, TokenId replayed) {
  if (!counts.first_mismatch.empty()) return;
  counts.first_mismatch =
      "Request " + std::to_string(round.request) + ", round " + std::to_string(round.index) +
      ", position " + std::to_string(round.first_pos + i) + ": " + what + " " +
      std::to_string(engine_id) + ", the replay says " + std::to_string(replayed) + ".";
}

}  // namespace

engine::Round round_of(const engine::Prefill& prefill) {
  engine::Round round;
  round.request = prefill.request;
  round.lane = prefill.lane;
  round.index = -1;
  round.first_pos = prefill.n_prompt;
  round.proposal.target_laws = {prefill.law, 1};
  round.emitted = {&prefill.token, 1};
  round.stop = prefill.stop;
  return round;
}

void replay_round(const engine::Round& round, const engine::Verifier& verifier, std::uint64_t seed,
                  ReplayCounts& counts) {
  const RoundCoinSource coins(round, seed);
  const auto& drafted = round.proposal.drafted;
  const bool is_coupled = verifier.name == std::string_view("coupled");
  for (int i = 0; i < static_cast<int>(drafted.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Law& law = round.proposal.draft_laws[at];
    const TokenId id =
        is_coupled ? coins.coupled(law, i) : draw_law(law, coins.coin(i, Purpose::kDraft));
    ++counts.n_drafted;
    if (id == drafted[at]) continue;
    ++counts.n_draft_mismatches;
    note_first(counts, round, "drafted", i, drafted[at], id);
  }
  const bool names_token = is_coupled || verifier.name == std::string_view("one-hot");
  const Outcome outcome =
      names_token ? replay_if_equal(round, coins, is_coupled) : replay_token(round, coins);
  ++counts.n_rounds;
  counts.n_tokens += static_cast<std::int64_t>(round.emitted.size());
  // What was emitted must be the prefix of accepted ids and the final token; a stop may have cut it
  // short.
  bool is_same = outcome.n_accepted == round.n_verdict;
  for (int i = 0; is_same && i < static_cast<int>(round.emitted.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const TokenId due = i < outcome.n_accepted ? drafted[at] : outcome.final_token;
    if (round.emitted[at] != due) {
      note_first(counts, round, "emitted", i, round.emitted[at], due);
      is_same = false;
    }
  }
  if (outcome.n_accepted != round.n_verdict)
    note_first(counts, round, "accepted drafts:", std::min(outcome.n_accepted, round.n_verdict),
               round.n_verdict, outcome.n_accepted);
  counts.n_round_mismatches += is_same ? 0 : 1;
}

}  // namespace specbench::suites
