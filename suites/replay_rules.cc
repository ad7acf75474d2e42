#include "suites/replay_rules.h"

#include <limits>
#include <string_view>

namespace specbench::suites {

using engine::Purpose;
using engine::TokenId;

Rule replay_rule_of(const engine::Verifier& verifier) {
  if (verifier.name == std::string_view("block")) return Rule::kBlock;
  if (verifier.name == std::string_view("one-hot")) return Rule::kOneHot;
  return verifier.name == std::string_view("coupled") ? Rule::kCoupled : Rule::kToken;
}

engine::CoinKey RoundOracle::key(int i, Purpose purpose) const {
  const auto first = static_cast<std::uint32_t>(round_.first_pos);
  const bool has_round = purpose != Purpose::kTarget && purpose != Purpose::kCoupled;
  return {
      seed_, round_.request, has_round ? first : 0, first + static_cast<std::uint32_t>(i), purpose,
      0};
}

TokenId RoundOracle::draw(const engine::Law& law, int i, Purpose purpose) const {
  return rule_ == Rule::kCoupled ? draw_coupled_plainly(law, key(i, Purpose::kCoupled))
                                 : draw_plainly(law, coin(i, purpose));
}

// The token at a rejection, or the bonus.
TokenId RoundOracle::final_token(int n_accepted, long double share) const {
  const engine::Law& target = target_law(n_accepted);
  if (n_accepted == n_drafted()) return draw_plainly(target, coin(n_accepted, Purpose::kBonus));
  const double u = coin(n_accepted, Purpose::kResidual);
  const TokenId id = draw_plainly(target.n_ids, u, residual(n_accepted, share));
  return id >= 0 ? id : draw_plainly(target, u);  // only rounding leaves no residual
}

Outcome RoundOracle::decide_token() const {
  int i = 0;
  while (i < n_drafted()) {
    const auto u = static_cast<long double>(coin(i, Purpose::kAccept));
    if (!(u * plain_prob(draft_law(i), drafted(i)) < plain_prob(target_law(i), drafted(i)))) break;
    ++i;
  }
  return {i, final_token(i, 1.0L)};
}

// P_0 .. P_n. A token that its draft gives no mass counts by the target's mass alone.
RoundOracle::Shares RoundOracle::block_shares() const {
  Shares shares{};
  shares[0] = 1.0L;
  for (int i = 0; i < n_drafted(); ++i) {
    const auto before = static_cast<std::size_t>(i);
    const long double p = plain_prob(target_law(i), drafted(i));
    const long double q = plain_prob(draft_law(i), drafted(i));
    const long double ratio = q > 0.0L ? p / q : (p > 0.0L ? 1.0L : 0.0L);
    shares[before + 1] = std::min(1.0L, shares[before] * ratio);
  }
  return shares;
}

// h_i, i = 1 .. n.
long double RoundOracle::block_edge(int i, const Shares& shares) const {
  const long double share = shares[static_cast<std::size_t>(i)];
  if (i == n_drafted()) return share;
  const PlainProbs p(target_law(i)), q(draft_law(i));
  long double rest = 0.0L;
  for (int id = 0; id < target_law(i).n_ids; ++id) rest += std::max(0.0L, share * p(id) - q(id));
  const long double whole = rest + (1.0L - share);
  return whole > 0.0L ? rest / whole : 1.0L;
}

long double RoundOracle::accept_edge(int i) const {
  if (rule_ == Rule::kBlock) return block_edge(i + 1, block_shares());
  const long double q = plain_prob(draft_law(i), drafted(i));
  if (!(q > 0.0L)) return std::numeric_limits<long double>::quiet_NaN();
  return std::min(1.0L, plain_prob(target_law(i), drafted(i)) / q);
}

Outcome RoundOracle::decide_block() const {
  const Shares shares = block_shares();
  int tau = n_drafted();
  while (tau > 0 && !(coin(tau - 1, Purpose::kAccept) < block_edge(tau, shares))) --tau;
  const long double share = shares[static_cast<std::size_t>(tau)];
  return {tau, final_token(tau, share), share};
}

// The rules in which the target names its own token and a drafted one stands iff it is that token.
Outcome RoundOracle::decide_named() const {
  for (int i = 0;; ++i) {
    const TokenId id = draw(target_law(i), i, Purpose::kTarget);
    if (i == n_drafted() || id != drafted(i)) return {i, id};
  }
}

Outcome RoundOracle::decide() const {
  if (names_token()) return decide_named();
  return rule_ == Rule::kBlock ? decide_block() : decide_token();
}

}  // namespace specbench::suites
