#include "suites/replay.h"

#include <algorithm>
#include <cmath>

#include "suites/replay_rules.h"

namespace specbench::suites {

namespace {

using engine::Law;
using engine::Purpose;
using engine::TokenId;

/// What a mismatch hangs on: see ReplayMismatch.
struct Edge {
  double coin = std::numeric_limits<double>::quiet_NaN();
  double margin = 1.0;
};

/// A round, what is due by the oracle, and where to count it.
class Comparison {
 public:
  Comparison(const engine::Round& round, const RoundOracle& oracle, ReplayCounts& counts)
      : round_(round), oracle_(oracle), counts_(counts) {}
  void compare_drafts();
  void compare_outcome();

 private:
  Edge draw_edge(const Law& law, int i, Purpose purpose, TokenId engine, TokenId own) const;
  Edge final_edge(const Outcome& own, TokenId engine) const;
  Edge decision_edge(const Outcome& own) const;
  template <typename EdgeOf>
  void note(const char* what, int i, TokenId engine, TokenId own, const EdgeOf& edge_of);

  const engine::Round& round_;
  const RoundOracle& oracle_;
  ReplayCounts& counts_;
};

Edge Comparison::draw_edge(const Law& law, int i, Purpose purpose, TokenId engine,
                           TokenId own) const {
  if (oracle_.rule() != Rule::kCoupled) {
    const double u = oracle_.coin(i, purpose);
    return {u, distance_to(engine, law.n_ids, u, PlainProbs(law))};
  }
  Edge edge;
  if (engine < 0 || engine >= law.n_ids || law.is_point() || !(law.weights[engine] > 0.0))
    return edge;
  const engine::CoinKey key = oracle_.key(i, Purpose::kCoupled);
  edge.margin = coupled_score(law, key, own) - coupled_score(law, key, engine);
  return edge;
}

Edge Comparison::final_edge(const Outcome& own, TokenId engine) const {
  const int i = own.n_accepted;
  const Law& target = oracle_.target_law(i);
  if (oracle_.names_token()) return draw_edge(target, i, Purpose::kTarget, engine, own.final_token);
  if (i == oracle_.n_drafted())
    return draw_edge(target, i, Purpose::kBonus, engine, own.final_token);
  const double u = oracle_.coin(i, Purpose::kResidual);
  return {u, distance_to(engine, target.n_ids, u, oracle_.residual(i, own.share))};
}

// The edge that one side crossed and the other did not: at the first token (block rule: the last)
// that they judge differently. In the rules that name a token, of the engine's own token there.
Edge Comparison::decision_edge(const Outcome& own) const {
  const int low = std::min(own.n_accepted, round_.n_verdict);
  const int high = std::max(own.n_accepted, round_.n_verdict);
  if (low < 0 || high > oracle_.n_drafted()) return {};
  if (oracle_.names_token()) {
    const bool stood = round_.n_verdict > low;
    if (!stood && (round_.is_cut || round_.emitted.empty())) return {};
    return draw_edge(oracle_.target_law(low), low, Purpose::kTarget,
                     stood ? oracle_.drafted(low) : round_.emitted.back(),
                     stood ? own.final_token : oracle_.drafted(low));
  }
  const int judged = oracle_.rule() == Rule::kBlock ? high - 1 : low;
  const double u = oracle_.coin(judged, Purpose::kAccept);
  const double distance =
      static_cast<double>(std::fabs(static_cast<long double>(u) - oracle_.accept_edge(judged)));
  return {u, std::isnan(distance) ? 1.0 : distance};
}

// The edge costs a pass over the law, so it is asked for only while mismatches are kept.
template <typename EdgeOf>
void Comparison::note(const char* what, int i, TokenId engine, TokenId own, const EdgeOf& edge_of) {
  if (counts_.mismatches.size() >= ReplayCounts::kKept) return;
  const Edge edge = edge_of();
  counts_.mismatches.push_back({round_.request, round_.index, round_.first_pos + i, what, engine,
                                own, edge.coin, edge.margin});
  if (counts_.first_mismatch.empty()) counts_.first_mismatch = describe(counts_.mismatches.back());
}

void Comparison::compare_drafts() {
  for (int i = 0; i < oracle_.n_drafted(); ++i) {
    const Law& law = oracle_.draft_law(i);
    const TokenId drafted = oracle_.drafted(i);
    const TokenId own = oracle_.draw(law, i, Purpose::kDraft);
    ++counts_.n_drafted;
    if (own == drafted) continue;
    ++counts_.n_draft_mismatches;
    note("drafted", i, drafted, own,
         [&] { return draw_edge(law, i, Purpose::kDraft, drafted, own); });
  }
}

// What was emitted must be the accepted ids and the final token; a stop may have cut it short.
void Comparison::compare_outcome() {
  const Outcome own = oracle_.decide();
  ++counts_.n_rounds;
  counts_.n_tokens += static_cast<std::int64_t>(round_.emitted.size());
  if (own.n_accepted != round_.n_verdict) {
    ++counts_.n_round_mismatches;
    return note("accepted drafts:", std::min(own.n_accepted, round_.n_verdict), round_.n_verdict,
                own.n_accepted, [&] { return decision_edge(own); });
  }
  for (int i = 0; i < static_cast<int>(round_.emitted.size()); ++i) {
    const bool is_draft = i < own.n_accepted;
    const TokenId due = is_draft ? oracle_.drafted(i) : own.final_token;
    const TokenId emitted = round_.emitted[static_cast<std::size_t>(i)];
    if (emitted == due) continue;
    ++counts_.n_round_mismatches;
    return note("emitted", i, emitted, due,
                [&] { return is_draft ? Edge{} : final_edge(own, emitted); });
  }
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
                  ReplayCounts& counts, OracleFault fault) {
  const RoundOracle oracle(round, verifier, seed, fault);
  Comparison comparison(round, oracle, counts);
  comparison.compare_drafts();
  comparison.compare_outcome();
}

}  // namespace specbench::suites
