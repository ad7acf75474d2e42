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

/// What a verifier sees: n drafted tokens, the n laws they were drawn from, n + 1 target laws.
struct Proposal {
  std::span<const TokenId> drafted;
  std::span<const Law> draft_laws;   ///< one each; point masses for greedy and one-hot drafts
  std::span<const Law> target_laws;  ///< one more
};

/// Room for one residual law: padded_size(vocabulary) weights and n_chunks sums.
struct ResidualScratch {
  double* weights = nullptr;
  double* chunk_sums = nullptr;
};

struct Acceptance {
  int n_accepted = 0;
  TokenId final_token = -1;  ///< follows the accepted ones
  Source source = Source::kBonus;
  bool residual_was_empty =
      false;  ///< rounding left no residual mass: the token was drawn from the target
};

using AcceptRule = Acceptance (*)(const Proposal&, const RoundCoins&, const ResidualScratch&);

/// Token rejection (Leviathan et al. 2023, Chen et al. 2023): token i stands iff u_i q_i(x_i) <
/// p_i(x_i); at the first rejection a token of norm(max(0, p_i - q_i)), after none a token of
/// p_{n+1}. Strict: p = 0 never stands.
Acceptance accept_token(const Proposal&, const RoundCoins&, const ResidualScratch&);

/// Greedy: token i stands iff it is the smallest id of largest target probability; then that id.
/// Target laws are point masses (temperature 0).
Acceptance accept_greedy(const Proposal&, const RoundCoins&, const ResidualScratch&);

/// One-hot: the target draws at each position; a drafted token stands iff it is that draw. Exact
/// for any draft that does not depend on the target's coins; accepts with probability p_i(x_i).
Acceptance accept_one_hot(const Proposal&, const RoundCoins&, const ResidualScratch&);

/// Coupled: as one-hot, with the target drawing by Gumbel noise keyed by absolute position; the
/// output equals autoregressive sampling under the same noise, token for token.
Acceptance accept_coupled(const Proposal&, const RoundCoins&, const ResidualScratch&);

}  // namespace specbench::engine
