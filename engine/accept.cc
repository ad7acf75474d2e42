#include "engine/accept.h"

namespace specbench::engine {

RoundCoins round_coins(std::uint64_t seed, std::uint32_t request, int first_pos, int n_drafted) {
  RoundCoins coins;
  coins.seed = seed;
  coins.request = request;
  coins.first_pos = static_cast<std::uint32_t>(first_pos);
  const auto coin = [&](int i, Purpose purpose, std::uint32_t round_pos) {
    return uniform(
        {seed, request, round_pos, coins.first_pos + static_cast<std::uint32_t>(i), purpose, 0});
  };
  for (int i = 0; i < n_drafted; ++i) {
    const auto at = static_cast<std::size_t>(i);
    coins.accept[at] = coin(i, Purpose::kAccept, coins.first_pos);
    coins.residual[at] = coin(i, Purpose::kResidual, coins.first_pos);
  }
  for (int i = 0; i <= n_drafted; ++i)
    coins.target[static_cast<std::size_t>(i)] = coin(i, Purpose::kTarget, 0);
  coins.bonus = coin(n_drafted, Purpose::kBonus, coins.first_pos);
  return coins;
}

Acceptance accept_token(const Proposal& proposal, const RoundCoins& coins,
                        const ResidualScratch& scratch) {
  const std::size_t n = proposal.drafted.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Law& target = proposal.target_laws[i];
    const Law& draft = proposal.draft_laws[i];
    const TokenId id = proposal.drafted[i];
    if (coins.accept[i] * draft.prob(id) < target.prob(id)) continue;
    const Law residual = residual_law(target, draft, scratch.weights, scratch.chunk_sums);
    const bool is_empty = !(residual.total > 0.0);
    return {static_cast<int>(i), draw(is_empty ? target : residual, coins.residual[i]),
            Source::kResidual, is_empty};
  }
  return {static_cast<int>(n), draw(proposal.target_laws[n], coins.bonus), Source::kBonus, false};
}

namespace {

// The three rules in which the target names its own token and a drafted one stands iff it is that
// token.
template <typename TargetToken>
Acceptance accept_if_equal(const Proposal& proposal, Source source, TargetToken target_token) {
  const std::size_t n = proposal.drafted.size();
  for (std::size_t i = 0; i <= n; ++i) {
    const TokenId id = target_token(i);
    if (i == n || id != proposal.drafted[i]) return {static_cast<int>(i), id, source, false};
  }
  return {};  // not reached: i == n returns
}

}  // namespace

Acceptance accept_greedy(const Proposal& proposal, const RoundCoins&, const ResidualScratch&) {
  return accept_if_equal(proposal, Source::kArgmax,
                         [&](std::size_t i) { return proposal.target_laws[i].point; });
}

Acceptance accept_one_hot(const Proposal& proposal, const RoundCoins& coins,
                          const ResidualScratch&) {
  return accept_if_equal(proposal, Source::kTargetDraw, [&](std::size_t i) {
    return draw(proposal.target_laws[i], coins.target[i]);
  });
}

Acceptance accept_coupled(const Proposal& proposal, const RoundCoins& coins,
                          const ResidualScratch&) {
  return accept_if_equal(proposal, Source::kCoupled, [&](std::size_t i) {
    return coupled_draw(proposal.target_laws[i], coins.seed, coins.request,
                        coins.first_pos + static_cast<std::uint32_t>(i));
  });
}

}  // namespace specbench::engine
