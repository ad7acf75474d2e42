#include "suites/coin_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "engine/coins.h"
#include "stats/collisions.h"

namespace specbench::suites {

using engine::Purpose;
using results::Check;
using results::CheckStatus;

namespace {

constexpr std::int64_t kRepeatsToFail = 2;
constexpr double kAlphaHigh = 1e-9;  // of the count of coins that share their first 32 bits

constexpr const char* kPurposeNames[] = {"", "draft", "accept", "residual", "bonus", "target"};

std::string place(const CoinUse& coin) {
  return fmt::format("the {} coin of request {}, round {}, position {}",
                     kPurposeNames[static_cast<std::size_t>(coin.purpose)], coin.request,
                     coin.round, coin.pos);
}

auto key_of(const CoinUse& coin) {
  return std::make_tuple(coin.request, coin.round_pos, coin.pos, coin.purpose);
}

// The one-hot rule's draw of a position, which any round that reaches it makes again.
bool is_same_target(const CoinUse& a, const CoinUse& b) {
  return a.purpose == Purpose::kTarget && key_of(a) == key_of(b);
}

double high_bits(const CoinUse& coin) { return std::floor(coin.value * 0x1p32); }

/// Pairs of coins that should not be, and the one that came first.
struct Pairs {
  std::int64_t n = 0;
  std::size_t first = 0, second = 0;  ///< indices, first < second

  void add(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax(a, b);
    if (n++ == 0 || high < second) std::tie(first, second) = std::tie(low, high);
  }
};

/// Indices of the coins, sorted by what `of` says of each, ties as they came.
template <typename Of>
std::vector<std::size_t> order_by(const std::vector<CoinUse>& coins, const Of& of) {
  std::vector<std::size_t> order(coins.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_pair(of(coins[a]), a) < std::make_pair(of(coins[b]), b);
  });
  return order;
}

/// Neighbours in that order that are the same and not allowed to be.
template <typename Of, typename Allowed>
Pairs find_same(const std::vector<CoinUse>& coins, const Of& of, const Allowed& is_allowed) {
  const std::vector<std::size_t> order = order_by(coins, of);
  Pairs pairs;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const CoinUse& a = coins[order[i - 1]];
    const CoinUse& b = coins[order[i]];
    if (of(a) == of(b) && !is_allowed(a, b)) pairs.add(order[i - 1], order[i]);
  }
  return pairs;
}

// Coins u and 1 - u: the ascending values against the descending ones.
Pairs find_complements(const std::vector<CoinUse>& coins) {
  const auto order = order_by(coins, [](const CoinUse& c) { return c.value; });
  Pairs pairs;
  std::size_t low = 0, high = order.size();
  while (low + 1 < high) {
    const double complement = 1.0 - coins[order[low]].value;  // exact for every u of the grid
    const double largest = coins[order[high - 1]].value;
    if (largest == complement) pairs.add(order[low], order[high - 1]);
    largest <= complement ? ++low : --high;
  }
  return pairs;
}

// A coin lies within 1e-9 steps of a given grid by chance once in 5e8 times.
bool is_on_grid(const CoinUse& coin, double grid) {
  const double steps = coin.value * grid;
  return std::fabs(steps - std::nearbyint(steps)) < 1e-9;
}

Check made_check(const char* id, bool is_failed, std::string detail) {
  return {id, is_failed ? CheckStatus::kFailed : CheckStatus::kPassed, std::move(detail)};
}

}  // namespace

CoinLedger::CoinLedger(const engine::Verifier& verifier, SeedOf seed_of)
    : rule_(verifier.name == std::string_view("token")     ? Rule::kToken
            : verifier.name == std::string_view("block")   ? Rule::kBlock
            : verifier.name == std::string_view("one-hot") ? Rule::kOneHot
                                                           : Rule::kNone),
      has_draft_coins_(verifier.draft_draw == engine::DraftDraw::kCoin),
      seed_of_(std::move(seed_of)) {}

void CoinLedger::keep(const CoinUse& coin) {
  ++n_coins_;
  if (!(coin.value >= 0.0 && coin.value < 1.0)) {
    if (n_outside_++ == 0) first_outside_ = fmt::format("{} is {:.17g}", place(coin), coin.value);
  } else if (coins_.size() < kMaxKept) {
    coins_.push_back(coin);
  }
}

// One coin of a round; where it is not logged, what its key says it was.
void CoinLedger::use(double value, const engine::Round& round, std::size_t i, Purpose purpose) {
  const auto first = static_cast<std::uint32_t>(round.first_pos);
  CoinUse coin{value,
               round.request,
               round.index,
               purpose == Purpose::kTarget ? 0 : first,
               first + static_cast<std::uint32_t>(i),
               purpose};
  const double due =
      engine::uniform({seed_of_(coin.request), coin.request, coin.round_pos, coin.pos, purpose, 0});
  const bool is_logged = round.coins != nullptr && purpose != Purpose::kDraft;
  if (!is_logged) coin.value = due;
  n_logged_ += is_logged ? 1 : 0;
  if (coin.value != due && n_foreign_++ == 0)
    first_foreign_ =
        fmt::format("{} is {:.17g}, its key gives {:.17g}", place(coin), coin.value, due);
  keep(coin);
}

void CoinLedger::note(const engine::Prefill& prefill) {
  if (rule_ == Rule::kNone) return;
  engine::Round round;
  round.request = prefill.request;
  round.index = -1;
  round.first_pos = prefill.n_prompt;
  use(0.0, round, 0, rule_ == Rule::kOneHot ? Purpose::kTarget : Purpose::kBonus);
}

// The coins that the rule looked at: behind the first rejection the token rule looks at none, the
// block rule comes from the last and stops at the first that accepts.
void CoinLedger::use_judged(const engine::Round& round) {
  const auto n = static_cast<std::size_t>(round.n_drafted());
  const auto verdict = static_cast<std::size_t>(std::clamp(round.n_verdict, 0, round.n_drafted()));
  if (rule_ == Rule::kOneHot) {
    for (std::size_t i = 0; i <= verdict; ++i)
      use(round.coins->target[i], round, i, Purpose::kTarget);
    return;
  }
  const bool is_block = rule_ == Rule::kBlock;
  const std::size_t begin = is_block && verdict > 0 ? verdict - 1 : 0;
  const std::size_t end = is_block ? n : std::min(verdict + 1, n);
  for (std::size_t i = begin; i < end; ++i) use(round.coins->accept[i], round, i, Purpose::kAccept);
  if (verdict < n)
    use(round.coins->residual[verdict], round, verdict, Purpose::kResidual);
  else
    use(round.coins->bonus, round, n, Purpose::kBonus);
}

void CoinLedger::note(const engine::Round& round) {
  if (rule_ == Rule::kNone) return;
  if (has_draft_coins_)
    for (std::size_t i = 0; i < static_cast<std::size_t>(round.n_drafted()); ++i)
      use(0.0, round, i, Purpose::kDraft);
  use_judged(round);
}

Check CoinLedger::check_repeats() const {
  const Pairs keys = find_same(coins_, key_of, is_same_target);
  if (keys.n > 0)
    return made_check("coins.ledger", true,
                      fmt::format("A key was used twice: {} and {}; {} in all.",
                                  place(coins_[keys.first]), place(coins_[keys.second]), keys.n));
  const Pairs values = find_same(
      coins_, [](const CoinUse& c) { return c.value; }, is_same_target);
  if (values.n >= kRepeatsToFail)
    return made_check("coins.ledger", true,
                      fmt::format("{} and {} are the same, {:.17g}; {} repeats in all.",
                                  place(coins_[values.first]), place(coins_[values.second]),
                                  coins_[values.first].value, values.n));
  return made_check("coins.ledger", false,
                    fmt::format("{} coins, {} repeats.", coins_.size(), values.n));
}

Check CoinLedger::check_derived() const {
  const Pairs complements = find_complements(coins_);
  if (complements.n >= kRepeatsToFail)
    return made_check(
        "coins.derived", true,
        fmt::format("{} is one minus {}; {} such pairs in all.", place(coins_[complements.first]),
                    place(coins_[complements.second]), complements.n));
  // Equal values are coins.ledger's.
  const Pairs high = find_same(
      coins_, high_bits, [](const CoinUse& a, const CoinUse& b) { return a.value == b.value; });
  const double n = static_cast<double>(coins_.size());
  const double expected = n * n * 0x1p-33;
  const bool is_excess = high.n > 1 && stats::poisson_upper_tail(high.n, expected) < kAlphaHigh;
  std::string counts =
      fmt::format("{} pairs share their first 32 bits, {:.2g} expected", high.n, expected);
  if (is_excess)
    counts += fmt::format("; {} and {}", place(coins_[high.first]), place(coins_[high.second]));
  return made_check("coins.derived", is_excess,
                    fmt::format("{} coins: {}.", coins_.size(), counts));
}

// The coarsest of the grids that hold the most coins is named.
Check CoinLedger::check_levels() const {
  constexpr double kGrids[] = {100, 255, 256, 1000, 1024, 4096, 10000, 32767, 65535, 65536, 0x1p24};
  std::int64_t most = 0;
  double named = 0.0;
  for (const double grid : kGrids) {
    const auto n = std::count_if(coins_.begin(), coins_.end(),
                                 [&](const CoinUse& c) { return is_on_grid(c, grid); });
    if (n > most) std::tie(most, named) = std::make_tuple(n, grid);
  }
  if (most <= std::max<std::int64_t>(2, static_cast<std::int64_t>(coins_.size()) / 1000))
    return made_check(
        "coins.levels", false,
        fmt::format("{} coins lie on no grid of 2^24 levels or fewer.", coins_.size()));
  const CoinUse& first = *std::find_if(coins_.begin(), coins_.end(),
                                       [&](const CoinUse& c) { return is_on_grid(c, named); });
  return made_check("coins.levels", true,
                    fmt::format("{} of {} coins are multiples of 1/{:.0f}; {} is {:.17g}.", most,
                                coins_.size(), named, place(first), first.value));
}

std::vector<Check> CoinLedger::checks() const {
  if (rule_ == Rule::kNone || n_coins_ == 0) return {};
  const auto counted = [](const char* id, std::int64_t n_bad, const std::string& first,
                          std::int64_t n, const char* good) {
    return made_check(id, n_bad > 0,
                      n_bad > 0 ? fmt::format("{}; {} in all.", first, n_bad)
                                : fmt::format("{} coins {}.", n, good));
  };
  return {counted("coins.range", n_outside_, first_outside_, n_coins_, "lie in [0, 1)"),
          counted("coins.keys", n_foreign_, first_foreign_, n_logged_, "are their keys'"),
          check_repeats(), check_derived(), check_levels()};
}

}  // namespace specbench::suites
