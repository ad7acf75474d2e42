// Synthetic laws over a large vocabulary, with the tables that give any token's probability
// integral transforms at once. Draws and tests nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/law.h"
#include "engine/sampling.h"
#include "suites/pit.h"

namespace specbench::suites {

/// Logits of a target, Zipf-like in a random order of ids, and of its draft: the same at another
/// temperature, with noise. A block of ids is forbidden (-inf) in the target, another in the draft.
/// Fixed: the same for every seed of a run.
class WideLogits {
 public:
  explicit WideLogits(int n_ids);
  int n_ids() const { return n_ids_; }
  /// n_ids logits, all moved by `offset` ids, 0 <= offset < n_ids: another row at no cost.
  const float* target(int offset = 0) const { return target_.data() + offset; }
  const float* draft(int offset = 0) const { return draft_.data() + offset; }

 private:
  int n_ids_;
  std::vector<float> target_, draft_;  ///< [2 n_ids], two periods
};

/// Where an id stands in a law: mass in front of it in each order of pit.h, and its own; the whole
/// law has mass 1. One cache line.
struct Standing {
  std::array<double, kOrders> below;
  double mass;
};

/// One fixed pair of laws and their residual.
class WideLaws {
 public:
  explicit WideLaws(int n_ids);
  WideLaws(const WideLaws&) = delete;

  int n_ids() const { return target.n_ids; }
  const Standing& standing(OutcomeLaw law, engine::TokenId id) const {
    return standings_[static_cast<std::size_t>(law)][static_cast<std::size_t>(id)];
  }
  std::vector<double> target_probs() const;
  /// The k likeliest ids of the draft.
  std::vector<engine::TokenId> likeliest_drafts(std::size_t k) const;

  engine::Law target, draft, residual;
  double acceptance = 0.0;  ///< sum min(p, q)

 private:
  using Ranking = std::vector<engine::TokenId>;
  void rank(Order order, const Ranking& ids);
  engine::LawBuffer buffer_;
  std::array<std::vector<Standing>, 3> standings_;  ///< [OutcomeLaw][id]
};

}  // namespace specbench::suites
