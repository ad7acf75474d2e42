// Coins by their keys, and drafts by their coin: every coin in [0, 1) with all its bits, no two
// alike, the same for the same key.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "suites/edge_cases.h"
#include "suites/keyed_numbers.h"

namespace specbench::suites {

using engine::Law;
using engine::RoundCoins;
using engine::RoundKey;
using engine::TokenId;

namespace {

bool has_coins(const EdgeSubject& s) { return s.has_residual() || s.draws_targets(); }
bool has_draft_coins(const EdgeSubject& subject) { return subject.has_residual(); }

// The coins that the verifier looks at, of a round of n drafts.
std::vector<double> coins_used(const EdgeSubject& subject, const RoundKey& key) {
  const RoundCoins coins = subject.steps.coins(key);
  const auto n = static_cast<std::ptrdiff_t>(key.n_drafted);
  if (subject.draws_targets()) return {coins.target.begin(), coins.target.begin() + n + 1};
  std::vector<double> all(coins.accept.begin(), coins.accept.begin() + n);
  all.insert(all.end(), coins.residual.begin(), coins.residual.begin() + n);
  all.push_back(coins.bonus);
  return all;
}

// A5 and A7: a grid of few levels, or float32, which rounds to 1 once in 3e7 coins.
std::string range(const EdgeSubject& subject) {
  std::vector<double> all;
  int n_short = 0;
  for (std::uint32_t request = 0; all.size() < 100000; ++request)
    for (const double u : coins_used(subject, {11, request, 17, 4, 0})) {
      if (!(u >= 0.0) || !(u < 1.0)) return fmt::format("A coin is {:.17g}, outside [0, 1).", u);
      n_short += static_cast<double>(static_cast<float>(u)) == u;
      all.push_back(u);
    }
  std::sort(all.begin(), all.end());
  const auto n_levels = std::unique(all.begin(), all.end()) - all.begin();
  if (n_levels + 1 < static_cast<std::ptrdiff_t>(all.size()))
    return fmt::format("{} coins have {} values.", all.size(), n_levels);
  // One in 5e8 fits a float by chance.
  if (n_short > 1) return fmt::format("{} of {} coins fit float32.", n_short, all.size());
  return "";
}

// N1 to N6: no coin for two uses, positions, rounds, requests or seeds. Only the one-hot rule's
// draws leave the round out of their key.
std::string distinct(const EdgeSubject& subject) {
  using Use = std::tuple<std::uint64_t, std::uint32_t, int, std::size_t>;
  std::map<double, Use> seen;
  for (const std::uint64_t seed : {21U, 22U})
    for (const std::uint32_t request : {0U, 1U, 2U})
      for (const int first_pos : {5, 6, 7, 9}) {
        std::vector<double> coins = coins_used(subject, {seed, request, first_pos, 4, 0});
        const auto first = static_cast<std::uint32_t>(first_pos);
        for (std::uint32_t i = 0; i < 4 && subject.has_residual(); ++i)
          coins.push_back(
              engine::uniform({seed, request, first, first + i, engine::Purpose::kDraft, 0}));
        for (std::size_t i = 0; i < coins.size(); ++i) {
          // The place that owns the coin: for a draw without the round, its position.
          const Use use = subject.draws_targets()
                              ? Use{seed, request, 0, static_cast<std::size_t>(first_pos) + i}
                              : Use{seed, request, first_pos, i};
          const auto [at, is_new] = seen.try_emplace(coins[i], use);
          if (!is_new && at->second != use)
            return fmt::format(
                "Coin {:.17g} of seed {}, request {}, round at {} is used again for seed {}, "
                "request {}, round at {} (coin {} of its round).",
                coins[i], std::get<0>(at->second), std::get<1>(at->second), std::get<2>(at->second),
                seed, request, first_pos, i);
        }
      }
  return "";
}

// N5: the same key has the same coins, in whatever lane and however many are drafted.
std::string replay(const EdgeSubject& subject) {
  for (std::uint32_t request = 0; request < 50; ++request) {
    const RoundCoins one = subject.steps.coins({31, request, 12, 4, 0});
    const RoundCoins other = subject.steps.coins({31, request, 12, 4, 3});
    for (std::size_t i = 0; i < 4; ++i)
      if (one.accept[i] != other.accept[i] || one.residual[i] != other.residual[i] ||
          one.target[i] != other.target[i] || one.bonus != other.bonus)
        return fmt::format("Request {} has other coins in lane 3 than in lane 0.", request);
    if (other.seed != 31 || other.request != request || other.first_pos != 12)
      return fmt::format("The key of coupled noise is ({}, {}, {}) for seed 31, request {} at 12.",
                         other.seed, other.request, other.first_pos, request);
    // Of a plain step: autoregressive decoding draws the one-hot rule's target with the same coin.
    const RoundCoins later = subject.steps.coins({31, request, 14, 0, 0});
    if (subject.draws_targets() && later.target[0] != one.target[2])
      return "A one-hot rule's coin depends on the round it is drawn in.";
  }
  return "";
}

// Q1, Q2, D2, N2: a drafted token is what its own coin gives from the law that is reported.
std::string draft_draws(const EdgeSubject& subject) {
  constexpr int kIds = 40;
  KeyedNumbers numbers(108);
  std::vector<double> probs(kIds);
  for (double& p : probs) p = std::exp(5.0 * (numbers.uniform() - 0.5));
  const SmallLaw law(probs);
  const bool is_coupled = subject.is_coupled();
  const auto mode = is_coupled ? engine::DraftDraw::kCoupled : engine::DraftDraw::kCoin;
  engine::LawBuffer room(1, kIds);
  for (std::uint32_t request = 0; request < 4096; ++request) {
    const engine::CoinKey key{41, request, 8, 8 + request % 5, engine::Purpose::kDraft, 0};
    Law reported = law.law;
    const TokenId id = subject.steps.draft(reported, room.room(0), mode, key);
    const TokenId due = is_coupled ? engine::coupled_draw(reported, 41, request, key.pos)
                                   : engine::draw(reported, engine::uniform(key));
    if (id != due)
      return fmt::format("Draft {} of 4096 is token {}; its coin and reported law give {}.",
                         request, id, due);
  }
  return "";
}

}  // namespace

std::vector<EdgeCase> coin_edges() {
  return {
      {"coins-range", "100,000 coins lie in [0, 1), differ, and have more bits than a float.",
       range, has_coins},
      {"coins-distinct", "No coin is used twice over 24 rounds of 2 seeds and 3 requests.",
       distinct, has_coins},
      {"coins-replay", "Coins depend on seed, request and position, not on the lane.", replay,
       [](const EdgeSubject& subject) { return !subject.is_greedy(); }},
      {"draft-draws", "4,096 drafted tokens are what their coin gives from the reported law.",
       draft_draws, [](const EdgeSubject& s) { return has_draft_coins(s) || s.is_coupled(); }},
  };
}

}  // namespace specbench::suites
