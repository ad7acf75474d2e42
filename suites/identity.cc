#include "suites/identity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "suites/law_oracle.h"

namespace specbench::suites {

using engine::Law;
using engine::TokenId;
using Probs = std::vector<double>;

namespace {

constexpr double kLastCoin = 1.0 - 0x1p-53;
constexpr double kSlack = 2e-15;    // p/q is right to a few roundings
constexpr int kDraws = 8;           // coins at which a draw is compared
constexpr double kEdgeBand = 1e-9;  // a draw so near an edge may fall on either side
constexpr int kDearProbes = 128;
constexpr int kMaxBisected = 64;  // that many suffice to know that the rule is another

Probs probs_of(const Law& law) {
  Probs probs(static_cast<std::size_t>(law.n_ids));
  for (TokenId id = 0; id < law.n_ids; ++id) probs[static_cast<std::size_t>(id)] = law.prob(id);
  return probs;
}

/// One drafted token, judged.
class Probe {
 public:
  Probe(engine::AcceptRule rule, const Law& target, const Law& draft, const Law& residual,
        const engine::LawRoom& room)
      : rule_(rule), targets_{target, target}, draft_(draft), residual_(residual), room_(room) {}

  engine::Acceptance judge(TokenId id, double accept, double draw) {
    coins_.accept[0] = accept;
    coins_.residual[0] = coins_.bonus = draw;
    return rule_({{&id, 1}, {&draft_, 1}, targets_, {&residual_, 1}}, coins_, room_);
  }
  bool stands(TokenId id, double accept) { return judge(id, accept, 0.0).n_accepted == 1; }

  /// Measure of the accept coins for which id stands, predicted by p/q.
  double share(TokenId id, double ratio, bool has_upper) {
    const double low = ratio - kSlack;
    const double high = ratio + kSlack;
    const bool low_is_right = !(low > 0.0) || stands(id, std::min(low, kLastCoin));
    const bool high_is_right = !has_upper || high > kLastCoin || !stands(id, high);
    if ((low_is_right && high_is_right) || n_bisected_++ >= kMaxBisected)
      return std::min(1.0, ratio);
    return bisect(id);
  }

 private:
  double bisect(TokenId id) {
    double low = 0.0;
    double high = 1.0;
    if (stands(id, kLastCoin)) return 1.0;
    while (high - low > 0x1p-53) {
      const double middle = low + (high - low) / 2;
      (stands(id, middle) ? low : high) = middle;
    }
    return low;
  }

  engine::AcceptRule rule_;
  Law targets_[2];
  Law draft_, residual_;
  engine::LawRoom room_;
  engine::RoundCoins coins_;
  int n_bisected_ = 0;
};

// Whether the draw at each coin is that of the inverse CDF of `probs`.
template <typename DrawAt>
bool draws_follow(const Probs& probs, const DrawAt& draw_at) {
  for (int i = 0; i < kDraws; ++i) {
    const double u = (i + 0.5) / kDraws;
    const TokenId drawn = draw_at(u);
    if (drawn != oracle_draw(probs, u - kEdgeBand) && drawn != oracle_draw(probs, u + kEdgeBand))
      return false;
  }
  return true;
}

// The rule's draws in place of a refused token, and behind an accepted one.
bool draws_are_right(Probe& probe, const Probs& p, const Probs& q, const Probs& residual) {
  TokenId refused = -1;
  TokenId kept = -1;
  for (std::size_t id = 0; id < p.size(); ++id) {
    if (!(q[id] > 0.0)) continue;
    if (p[id] < 0.999 * q[id]) refused = static_cast<TokenId>(id);
    if (p[id] > 0.0) kept = static_cast<TokenId>(id);
  }
  const bool is_right_residual = refused < 0 || draws_follow(residual, [&](double u) {
                                   return probe.judge(refused, kLastCoin, u).final_token;
                                 });
  return is_right_residual && (kept < 0 || draws_follow(p, [&](double u) {
                                 return probe.judge(kept, 0.0, u).final_token;
                               }));
}

double token_error(engine::AcceptRule rule, const Law& target, const Law& draft,
                   const engine::LawRoom& room) {
  const Law residual = engine::residual_law(target, draft, room);
  const Probs p = probs_of(target);
  const Probs q = probs_of(draft);
  Probs r(room.weights, room.weights + target.n_ids);  // the rule may write to the room
  Probe probe(rule, target, draft, residual, room);
  const bool is_cheap = rule == engine::accept_token;  // takes the residual it is given
  const std::size_t stride = is_cheap ? 1 : std::max<std::size_t>(1, p.size() / kDearProbes);
  Probs accepted(p.size());
  double all_accepted = 0.0;
  for (std::size_t id = 0; id < p.size(); ++id) {
    if (!(q[id] > 0.0)) continue;
    const double a = probe.share(static_cast<TokenId>(id), p[id] / q[id], id % stride == 0);
    accepted[id] = q[id] * a;
    all_accepted += accepted[id];
  }
  const bool is_right = draws_are_right(probe, p, q, r);
  double error = is_right ? 0.0 : 1.0;
  const double scale = residual.total > 0.0 ? (1.0 - all_accepted) / residual.total : 0.0;
  for (std::size_t id = 0; id < p.size(); ++id)
    error += std::fabs(accepted[id] + scale * r[id] - p[id]);
  return error;
}

// One-hot, coupled and greedy: the emitted token is the target's own, whatever was drafted.
double own_token_error(std::string_view verifier, engine::AcceptRule rule, const Law& target,
                       const engine::LawRoom& room) {
  const TokenId drafted = target.n_ids - 1;
  const Law draft{nullptr, nullptr, 1.0, target.n_ids, drafted};
  const Law targets[] = {target, target};
  const auto first = [&](const engine::RoundCoins& coins) {
    const auto a = rule({{&drafted, 1}, {&draft, 1}, targets}, coins, room);
    return a.n_accepted > 0 ? drafted : a.final_token;
  };
  if (verifier == "one-hot")
    return draws_follow(probs_of(target),
                        [&](double u) {
                          engine::RoundCoins coins;
                          coins.target.fill(u);
                          return first(coins);
                        })
               ? 0.0
               : 1.0;
  for (std::uint32_t request = 0; request < kDraws; ++request) {
    const TokenId due = engine::coupled_draw(target, 1, request, 1);  // of a point mass: its point
    if (first(engine::round_coins(1, request, 1, 1)) != due) return 1.0;
  }
  return 0.0;
}

}  // namespace

double identity_error(std::string_view verifier, engine::AcceptRule rule, const Law& target,
                      const Law& draft, const engine::LawRoom& room) {
  if (verifier == "token" || verifier == "block") return token_error(rule, target, draft, room);
  return own_token_error(verifier, rule, target, room);
}

}  // namespace specbench::suites
