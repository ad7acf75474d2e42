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

Acceptance accept_token(const Proposal& proposal, const RoundCoins& coins, const LawRoom& room) {
  const auto& [drafted, draft_laws, target_laws, residuals] = proposal;
  return reject_first(
      proposal, coins,
      [&](std::size_t i) {
        return coins.accept[i] * draft_laws[i].prob(drafted[i]) < target_laws[i].prob(drafted[i]);
      },
      [&](std::size_t i) {
        return residuals.empty() ? residual_law(target_laws[i], draft_laws[i], room) : residuals[i];
      });
}

namespace {

// P_i of the block rule for i = 0..n. A token its draft gives no mass cannot have been drawn; as in
// the token rule it counts by the target's mass alone.
std::array<double, kMaxRows> block_shares(const Proposal& proposal) {
  std::array<double, kMaxRows> shares{};
  shares[0] = 1.0;
  for (std::size_t i = 0; i < proposal.drafted.size(); ++i) {
    const double target = proposal.target_laws[i].prob(proposal.drafted[i]);
    const double draft = proposal.draft_laws[i].prob(proposal.drafted[i]);
    const double ratio = draft > 0.0 ? target / draft : (target > 0.0 ? 1.0 : 0.0);
    const double share = shares[i] * ratio;
    shares[i + 1] = share < 1.0 ? share : 1.0;
  }
  return shares;
}

}  // namespace

Acceptance accept_block(const Proposal& proposal, const RoundCoins& coins, const LawRoom& room) {
  const std::size_t n = proposal.drafted.size();
  const auto shares = block_shares(proposal);
  if (n == 0 || coins.accept[n - 1] < shares[n])
    return {static_cast<int>(n), draw(proposal.target_laws[n], coins.bonus), Source::kBonus, false};
  for (std::size_t tau = n - 1;; --tau) {
    // At tau = 0 nothing is left to refuse. Else u < E / (E + 1 - P), without the division; 0/0
    // is 1.
    const Law residual =
        residual_law(proposal.target_laws[tau], proposal.draft_laws[tau], room, shares[tau]);
    const double rest = residual.total + (1.0 - shares[tau]);
    if (tau > 0 && rest > 0.0 && !(coins.accept[tau - 1] * rest < residual.total)) continue;
    const bool is_empty = !(residual.total > 0.0);
    return {static_cast<int>(tau),
            draw(is_empty ? proposal.target_laws[tau] : residual, coins.residual[tau]),
            Source::kResidual, is_empty};
  }
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

Acceptance accept_greedy(const Proposal& proposal, const RoundCoins&, const LawRoom&) {
  return accept_if_equal(proposal, Source::kArgmax,
                         [&](std::size_t i) { return proposal.target_laws[i].point; });
}

Acceptance accept_one_hot(const Proposal& proposal, const RoundCoins& coins, const LawRoom&) {
  return accept_if_equal(proposal, Source::kTargetDraw, [&](std::size_t i) {
    return draw(proposal.target_laws[i], coins.target[i]);
  });
}

Acceptance accept_coupled(const Proposal& proposal, const RoundCoins& coins, const LawRoom&) {
  return accept_if_equal(proposal, Source::kCoupled, [&](std::size_t i) {
    return coupled_draw(proposal.target_laws[i], coins.seed, coins.request,
                        coins.first_pos + static_cast<std::uint32_t>(i));
  });
}

}  // namespace specbench::engine
