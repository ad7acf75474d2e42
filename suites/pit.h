// Randomised probability integral transforms of one token under one law, in the orders that faults
// show in. O(vocabulary) a token, no sorting: only the mass in front of the token is needed.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "engine/law.h"
#include "results/record.h"
#include "stats/pit_accumulator.h"

namespace specbench::suites {

/// Order in which a law's ids are lined up; ties always by id.
enum class Order {
  kId,
  kTarget,
  kRatio
};  ///< id; target probability; target over draft probability
inline constexpr std::size_t kOrders = 3;
inline constexpr std::array<const char*, kOrders> kOrderNames = {"id", "p", "p/q"};

/// Which law the token is held against.
enum class OutcomeLaw {
  kTarget,    ///< p: any token at a position that was reached
  kAccepted,  ///< min(p, q) / A: an accepted draft
  kResidual,  ///< max(0, p - q) / (1 - A): the token at a rejection
};

/// Target and draft probabilities of one row, normalised. Reused from row to row.
class RowProbs {
 public:
  explicit RowProbs(int n_ids);
  /// Loads a row; draft null: no draft at this position (only the orders id and target then mean
  /// anything).
  void load(const engine::Law& target, const engine::Law* draft);

  int n_ids() const { return n_ids_; }
  bool has_draft() const { return has_draft_; }
  double target(engine::TokenId id) const { return target_[static_cast<std::size_t>(id)]; }
  double draft(engine::TokenId id) const { return draft_[static_cast<std::size_t>(id)]; }
  double overlap() const {
    return overlap_;
  }  ///< sum min(p, q), the acceptance probability of the token rule

  /// (mass in front of the token + coin x mass of the token) / total, for each order; uniform on
  /// [0, 1] if the token has that law and the coin is uniform. 0 <= coin < 1. NaN if the law gives
  /// the token no mass.
  std::array<double, kOrders> pit(engine::TokenId token, OutcomeLaw law, double coin) const;

  /// The same under max(0, share x p - q) over its sum: the block rule's token at a rejection,
  /// share its P_tau.
  std::array<double, kOrders> pit_of_block(engine::TokenId token, double share, double coin) const;

 private:
  template <typename Weight>
  std::array<double, kOrders> pit_of(engine::TokenId token, double coin,
                                     const Weight& weight) const;

  int n_ids_;
  bool has_draft_ = false;
  double overlap_ = 0.0;
  std::vector<double> target_, draft_;  ///< padded to whole groups with zeros
};

/// The table "pit": columns order, class, bin, count, expected.
results::NamedTable empty_pit_table();

/// Appends the 64 equal-probability bins of one stream, each with n / 64 expected where the tokens
/// have their law. Nothing for fewer transforms than bins: there is nothing to see in them.
void add_pit_bins(const char* order, const char* outcome_class, const stats::PitAccumulator& pits,
                  results::NamedTable& table);

}  // namespace specbench::suites
