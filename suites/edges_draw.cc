// Which id a coin gives: the last coin, and both sides of every edge of the inverse CDF.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suites/edge_cases.h"
#include "suites/keyed_numbers.h"
#include "suites/law_oracle.h"

namespace specbench::suites {

using engine::Acceptance;
using engine::Law;
using engine::RoundCoins;
using engine::TokenId;
using Probs = std::vector<double>;

namespace {

constexpr double kEdgeOffset = 1e-9;  // a thousandth of half precision, a hundredth of single

bool has_residual(const EdgeSubject& subject) { return subject.has_residual(); }
bool draws_by_coin(const EdgeSubject& s) { return s.has_residual() || s.draws_targets(); }

Probs normalised(Probs weights) {
  long double total = 0.0L;
  for (const double w : weights) total += static_cast<long double>(w);
  for (double& w : weights) w = static_cast<double>(static_cast<long double>(w) / total);
  return weights;
}

Probs random_probs(int n, double spread, KeyedNumbers& numbers) {
  Probs weights(static_cast<std::size_t>(n));
  for (double& w : weights) w = std::exp(spread * (numbers.uniform() - 0.5));
  return normalised(std::move(weights));
}

// The id with the largest p/q below 1: refused by a coin near 1, and costs the block rule least.
TokenId refusable(const Probs& target, const Probs& draft) {
  TokenId best = 0;
  double largest = 0.0;
  for (std::size_t id = 0; id < target.size(); ++id) {
    const double ratio = draft[id] > 0.0 ? target[id] / draft[id] : 1.0;
    if (ratio >= 0.999 || ratio < largest) continue;
    largest = ratio;
    best = static_cast<TokenId>(id);
  }
  return best;
}

// R5: no draw at u = 1 - 2^-53 gives an impossible id, however the sums round.
std::string last_coin(const EdgeSubject& subject) {
  KeyedNumbers numbers(102);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = trial % 4 == 0 ? 3 : 200 + numbers.below(900);
    Probs target = random_probs(n, 8.0, numbers);
    Probs draft = random_probs(n, 8.0, numbers);
    for (int id = n - std::max(1, n / 4); id < n; ++id) target[static_cast<std::size_t>(id)] = 0.0;
    const SmallLaw p(target), q(draft);
    for (const double accept : {0.0, kLastCoin}) {
      const TokenId id = refusable(target, draft);
      const Acceptance a =
          judge(subject, {id}, {q.law}, {p.law, p.law}, coins_of(accept, kLastCoin));
      const bool is_residual = subject.has_residual() && a.n_accepted == 0;
      const double least = is_residual ? q.law.prob(std::clamp(a.final_token, 0, n - 1)) : 0.0;
      if (a.final_token < 0 || a.final_token >= n || !(p.law.prob(a.final_token) > least))
        return fmt::format("The last coin gave token {} of {}, which has no probability{}.",
                           a.final_token, n, is_residual ? " in the residual" : "");
    }
  }
  return "";
}

// Calls at(u, due) a little before and behind each edge between ids; returns the first fault.
template <typename At>
std::string each_edge(const Probs& weights, const At& at) {
  const Probs probs = normalised(weights);
  long double sum = 0.0L;
  for (const double p : probs) {
    if (!(p > 4 * kEdgeOffset)) {
      sum += static_cast<long double>(p);
      continue;
    }
    sum += static_cast<long double>(p);
    for (const double offset : {-kEdgeOffset, kEdgeOffset}) {
      const double u = static_cast<double>(sum) + offset;
      if (!(u >= 0.0) || u >= 1.0) continue;
      std::string fault = at(u, oracle_draw(probs, u));
      if (!fault.empty()) return fault;
    }
  }
  return "";
}

std::string expect(const Acceptance& a, int n_due, TokenId due, double u, const char* what) {
  if (a.n_accepted == n_due && a.final_token == due) return "";
  return fmt::format("{} at coin {:.17g}: {} accepted and token {} drawn; {} and {} are due.", what,
                     u, a.n_accepted, a.final_token, n_due, due);
}

// The bonus, and the one-hot rule's draws: the target's own inverse CDF.
std::string target_draws(const EdgeSubject& subject) {
  KeyedNumbers numbers(103);
  for (const int n : {5, 300}) {
    const Probs probs = random_probs(n, 3.0, numbers);
    const SmallLaw law(probs);
    const std::string fault = each_edge(probs, [&](double u, TokenId due) {
      const Acceptance plain = judge(subject, {}, {}, {law.law}, coins_of(0.0, u));
      std::string at_once = expect(plain, 0, due, u, "A plain step");
      if (!at_once.empty()) return at_once;
      // One draft, kept, then another row; for the one-hot rule the draft is what is drawn.
      const Law draft = subject.draws_targets() ? point_law(n, due) : law.law;
      return expect(judge(subject, {due}, {draft}, {law.law, law.law}, coins_of(0.0, u)), 1, due, u,
                    "The token behind a kept one");
    });
    if (!fault.empty()) return fault;
  }
  return "";
}

// Three rows of laws; the token at `row` is the first refused.
struct Refusal {
  std::vector<Probs> target, draft;
  std::vector<TokenId> drafted;
  explicit Refusal(std::uint64_t seed) {
    KeyedNumbers numbers(seed);
    for (int i = 0; i < 3; ++i) {
      target.push_back(random_probs(50, 3.0, numbers));
      draft.push_back(random_probs(50, 3.0, numbers));
      drafted.push_back(refusable(target.back(), draft.back()));
    }
  }
  /// Share of the target in the residual at `row`: 1, or the block rule's P.
  long double share(std::size_t row, bool is_block) const {
    long double share = 1.0L;
    for (std::size_t i = 0; i < row && is_block; ++i) {
      const auto id = static_cast<std::size_t>(drafted[i]);
      share = std::min(1.0L, share * static_cast<long double>(target[i][id]) / draft[i][id]);
    }
    return share;
  }
  Probs residual(std::size_t row, bool is_block) const {
    Probs weights(target[row].size());
    for (std::size_t id = 0; id < weights.size(); ++id)
      weights[id] = static_cast<double>(std::max(
          0.0L, share(row, is_block) * static_cast<long double>(target[row][id]) - draft[row][id]));
    return weights;
  }
};

// R7 (half precision), R4 (another row's residual), R9 (the token rule's): the edges lie elsewhere.
std::string residual_draws(const EdgeSubject& subject) {
  const Refusal refusal(104);
  std::vector<SmallLaw> owned;
  for (const Probs& probs : refusal.target) owned.emplace_back(probs);
  for (const Probs& probs : refusal.draft) owned.emplace_back(probs);
  const std::vector<Law> targets{owned[0].law, owned[1].law, owned[2].law, owned[0].law};
  const std::vector<Law> drafts{owned[3].law, owned[4].law, owned[5].law};
  for (std::size_t row = 0; row < 3; ++row) {
    // Coins of the rows before it keep, those from it on refuse: in both rules.
    RoundCoins coins = coins_of(kLastCoin, 0.0);
    std::fill_n(coins.accept.begin(), row, 0.0);
    const std::string fault =
        each_edge(refusal.residual(row, subject.is_block()), [&](double u, TokenId due) {
          coins.residual.fill(u);
          return expect(judge(subject, refusal.drafted, drafts, targets, coins),
                        static_cast<int>(row), due, u,
                        fmt::format("The residual at row {}", row).c_str());
        });
    if (!fault.empty()) return fault;
  }
  return "";
}

// The coupled rule by definition: argmax of log p + Gumbel noise, in extended precision.
std::string coupled_draws(const EdgeSubject& subject) {
  KeyedNumbers numbers(105);
  const Probs probs = random_probs(31, 3.0, numbers);
  const SmallLaw law(probs);
  for (std::uint32_t pos = 1; pos <= 500; ++pos) {
    TokenId due = -1;
    long double best = -HUGE_VALL;
    for (TokenId id = 0; id < 31; ++id) {
      const auto words = engine::coin_words(
          {9, 3, 0, pos, engine::Purpose::kCoupled, static_cast<std::uint32_t>(id) / 2});
      const long double u = (static_cast<long double>(words[id % 2] >> 12) + 0.5L) * 0x1p-52L;
      const long double score =
          std::log(static_cast<long double>(probs[static_cast<std::size_t>(id)])) -
          std::log(-std::log(u));
      if (score > best) {
        best = score;
        due = id;
      }
    }
    const RoundCoins coins = subject.steps.coins({9, 3, static_cast<int>(pos), 1, 0});
    for (const TokenId drafted : {due, (due + 1) % 31}) {
      const Acceptance a = judge(subject, {drafted}, {law.law}, {law.law, law.law}, coins);
      const TokenId first = a.n_accepted > 0 ? drafted : a.final_token;
      if (first != due || (a.n_accepted > 0) != (drafted == due))
        return fmt::format("Position {} emitted token {}; the noise gives {}.", pos, first, due);
    }
  }
  return "";
}

}  // namespace

std::vector<EdgeCase> draw_edges() {
  return {
      {"last-coin",
       "The coin 1 - 2^-53 gave a possible id in 400 draws from 200 laws with impossible ids last.",
       last_coin, draws_by_coin},
      {"target-draws", "Coins 1e-9 before and behind each edge of the target give the neighbours.",
       target_draws, draws_by_coin},
      {"residual-draws",
       "Coins 1e-9 before and behind each edge of the residual give the neighbours, at three rows.",
       residual_draws, has_residual},
      {"coupled-draws", "500 positions emit the argmax of log p + Gumbel noise.", coupled_draws,
       [](const EdgeSubject& subject) { return subject.is_coupled(); }},
  };
}

}  // namespace specbench::suites
