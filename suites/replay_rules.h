// The rules of verification, written a second time: from the laws of a round and coins made afresh
// from their keys to the outcome that is due. Private to replay.cc; must share no arithmetic with
// engine/accept.cc.
#pragma once

#include <array>
#include <cstdint>

#include "engine/decode.h"
#include "engine/round.h"
#include "suites/faults.h"
#include "suites/replay_draws.h"

namespace specbench::suites {

enum class Rule { kToken, kBlock, kOneHot, kCoupled };  ///< greedy: the token rule of point masses
Rule replay_rule_of(const engine::Verifier& verifier);

struct Outcome {
  int n_accepted = 0;
  engine::TokenId final_token = -1;
  long double share = 1.0L;  ///< of the target in the residual: P_tau of the block rule
};

/// One round to be decided anew. A view: the round outlives it.
class RoundOracle {
 public:
  RoundOracle(const engine::Round& round, const engine::Verifier& verifier, std::uint64_t seed,
              OracleFault fault)
      : round_(round), rule_(replay_rule_of(verifier)), seed_(seed), fault_(fault) {}

  Outcome decide() const;
  /// A draw from a law at position i: by the coin of that purpose, or by the coupled noise.
  engine::TokenId draw(const engine::Law& law, int i, engine::Purpose purpose) const;
  /// What u of position i is held against by the rule that judges drafted token i (0-based): the
  /// largest u for which it stands (block rule: h_{i+1}). NaN if its draft gives it no mass.
  long double accept_edge(int i) const;

  Rule rule() const { return rule_; }
  bool names_token() const { return rule_ == Rule::kOneHot || rule_ == Rule::kCoupled; }
  int n_drafted() const { return round_.n_drafted(); }
  engine::TokenId drafted(int i) const {
    return round_.proposal.drafted[static_cast<std::size_t>(i)];
  }
  const engine::Law& draft_law(int i) const {
    return round_.proposal.draft_laws[static_cast<std::size_t>(i)];
  }
  const engine::Law& target_law(int i) const {
    return round_.proposal.target_laws[static_cast<std::size_t>(i)];
  }
  engine::CoinKey key(int i, engine::Purpose purpose) const;
  double coin(int i, engine::Purpose purpose) const { return engine::uniform(key(i, purpose)); }

  /// max(0, share x target - draft) at position i, as a function of the id.
  auto residual(int i, long double share) const {
    const bool is_faulty = fault_ == OracleFault::kResidualIsTarget;
    return [share, is_faulty, p = PlainProbs(target_law(i)), q = PlainProbs(draft_law(i))](int id) {
      return is_faulty ? p(id) : std::max(0.0L, share * p(id) - q(id));
    };
  }

 private:
  using Shares = std::array<long double, engine::kMaxRows + 1>;
  Outcome decide_token() const;
  Outcome decide_block() const;
  Outcome decide_named() const;
  engine::TokenId final_token(int n_accepted, long double share) const;
  Shares block_shares() const;
  long double block_edge(int i, const Shares& shares) const;

  const engine::Round& round_;
  Rule rule_;
  std::uint64_t seed_;
  OracleFault fault_;
};

}  // namespace specbench::suites
