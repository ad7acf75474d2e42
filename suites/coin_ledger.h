// Every coin a run used, looked through for coins that are not their own: used twice, made from one
// another, from a coarse generator, or not the one their key gives. Looks at no token and no law.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "engine/round.h"
#include "results/record.h"

namespace specbench::suites {

/// Seed of a request's coins.
using SeedOf = std::function<std::uint64_t(std::uint32_t request)>;

/// One coin and where it was used.
struct CoinUse {
  double value = 0.0;
  std::uint32_t request = 0;
  int round = 0;                ///< -1: the first token, which the prefill emits
  std::uint32_t round_pos = 0;  ///< first position of the round; 0 where the rule leaves it out
  std::uint32_t pos = 0;
  engine::Purpose purpose = engine::Purpose::kDraft;
};

/// Fed with every prefill and round of a run. Draft coins and the prefill's coin are not logged:
/// they are made from their keys. The coupled rule's noise and the greedy rule use no coins.
class CoinLedger {
 public:
  /// Coins kept for the search, the run's first. Among so many, one pair of equal 53-bit values is
  /// there by chance with probability 2e-6, two with 2e-12.
  static constexpr std::size_t kMaxKept = 200'000;

  CoinLedger(const engine::Verifier& verifier, SeedOf seed_of);
  void note(const engine::Prefill& prefill);
  void note(const engine::Round& round);  ///< with its coins

  /// coins.range: every coin lies in [0, 1). coins.keys: each logged coin is the one its key gives.
  /// coins.ledger: no key and no value (two repeats or more) was used twice; a target draw of the
  /// one-hot rule may come again at its own position. coins.derived: no coin is one minus another,
  /// and no more share their first 32 bits than chance says. coins.levels: the coins lie on no grid
  /// of 2^24 levels or fewer. Empty where the rule uses no coins.
  std::vector<results::Check> checks() const;

  const std::vector<CoinUse>& coins() const { return coins_; }

 private:
  void use(double value, const engine::Round& round, std::size_t i, engine::Purpose purpose);
  void use_judged(const engine::Round& round);
  void keep(const CoinUse& coin);

  results::Check check_repeats() const;
  results::Check check_derived() const;
  results::Check check_levels() const;

  enum class Rule { kNone, kToken, kBlock, kOneHot };
  Rule rule_;
  bool has_draft_coins_;
  SeedOf seed_of_;
  std::vector<CoinUse> coins_;
  std::int64_t n_coins_ = 0, n_logged_ = 0;
  std::int64_t n_outside_ = 0, n_foreign_ = 0;
  std::string first_outside_, first_foreign_;
};

}  // namespace specbench::suites
