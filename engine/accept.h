// Verification: which drafted tokens stand and which token follows. Pure functions of ids, laws and
// coins, so that they can be checked exactly (enumeration), statistically (draws) and end to end.
// They know no model, cache, batch or stop.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/coins.h"
#include "engine/law.h"
#include "engine/types.h"

namespace specbench::engine {

/// Where the last token of a round came from.
enum class Source { kResidual, kBonus, kArgmax, kTargetDraw, kCoupled };

/// The coins of one round of one sequence. Entry i belongs to the i-th position of the round.
struct RoundCoins {
  std::array<double, kMaxRows> accept{};    ///< acceptance test of drafted token i
  std::array<double, kMaxRows> residual{};  ///< token emitted if position i is the first rejection
  std::array<double, kMaxRows> target{};    ///< one-hot rule: the target's draw at position i
  double bonus = 0.0;
  std::uint64_t seed = 0;  ///< with request and pos: the key of coupled noise
  std::uint32_t request = 0;
  std::uint32_t first_pos = 0;  ///< absolute position of the round's first token
};

/// Coins of a round that may emit n_drafted + 1 tokens from first_pos on, keyed as RoundCoins says.
RoundCoins round_coins(std::uint64_t seed, std::uint32_t request, int first_pos, int n_drafted);

/// What identifies a round: the key of its coins, and where it ran.
struct RoundKey {
  std::uint64_t seed = 0;
  std::uint32_t request = 0;
  int first_pos = 0;  ///< absolute position of the round's first token
  int n_drafted = 0;
  int lane = 0;  ///< for the log; no coin may depend on it
};
inline RoundCoins coins_of_round(const RoundKey& key) {
  return round_coins(key.seed, key.request, key.first_pos, key.n_drafted);
}

/// What a verifier sees: n drafted tokens, the n laws they were drawn from, n + 1 target laws.
struct Proposal {
  std::span<const TokenId> drafted;
  std::span<const Law> draft_laws;      ///< one each; point masses for greedy and one-hot drafts
  std::span<const Law> target_laws;     ///< one more
  std::span<const Law> residuals = {};  ///< residual_law of each position, where laws are fixed and
                                        ///< made once; empty: made when a rejection needs it
};

struct Acceptance {
  int n_accepted = 0;
  TokenId final_token = -1;  ///< follows the accepted ones
  Source source = Source::kBonus;
  bool residual_was_empty =
      false;  ///< rounding left no residual mass: the token was drawn from the target
};

/// A verification rule. `room` holds the residual law it may have to make.
using AcceptRule = Acceptance (*)(const Proposal&, const RoundCoins&, const LawRoom& room);

/// The shape of token rejection with its steps given: stands(i) judges drafted token i, law(i) is
/// what the token in place of a refused one is drawn from. accept_token gives the right ones.
template <typename Stands, typename ResidualOf>
Acceptance reject_first(const Proposal& proposal, const RoundCoins& coins, const Stands& stands,
                        const ResidualOf& residual_of) {
  const std::size_t n = proposal.drafted.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (stands(i)) continue;
    const Law residual = residual_of(i);
    const bool is_empty = !(residual.total > 0.0);
    return {static_cast<int>(i),
            draw(is_empty ? proposal.target_laws[i] : residual, coins.residual[i]),
            Source::kResidual, is_empty};
  }
  return {static_cast<int>(n), draw(proposal.target_laws[n], coins.bonus), Source::kBonus, false};
}

/// Token rejection (Leviathan et al. 2023, Chen et al. 2023): token i stands iff u_i q_i(x_i) <
/// p_i(x_i); at the first rejection a token of norm(max(0, p_i - q_i)), after none a token of
/// p_{n+1}. Strict: p = 0 never stands.
Acceptance accept_token(const Proposal&, const RoundCoins&, const LawRoom& room);

/// Block verification (Sun et al., ICLR 2025): with P_0 = 1, P_i = min(1, P_{i-1} p_i(x_i) /
/// q_i(x_i)) and E_i = sum_y max(0, P_i p_{i+1}(y) - q_{i+1}(y)), the first tau tokens stand, tau
/// the LARGEST i with u_i < h_i, h_n = P_n, h_i = E_i / (E_i + 1 - P_i) (0/0 = 1), 0 if there is
/// none. Then a bonus if tau = n, else a token of norm(max(0, P_tau p_{tau+1} - q_{tau+1})).
/// Accepts at least as many tokens as token rejection, on average.
Acceptance accept_block(const Proposal&, const RoundCoins&, const LawRoom& room);

/// Greedy: token i stands iff it is the smallest id of largest target probability; then that id.
/// Target laws are point masses (temperature 0).
Acceptance accept_greedy(const Proposal&, const RoundCoins&, const LawRoom& room);

/// One-hot: the target draws at each position; a drafted token stands iff it is that draw. Exact
/// for any draft that does not depend on the target's coins; accepts with probability p_i(x_i).
Acceptance accept_one_hot(const Proposal&, const RoundCoins&, const LawRoom& room);

/// Coupled: as one-hot, with the target drawing by Gumbel noise keyed by absolute position; the
/// output equals autoregressive sampling under the same noise, token for token.
Acceptance accept_coupled(const Proposal&, const RoundCoins&, const LawRoom& room);

}  // namespace specbench::engine
