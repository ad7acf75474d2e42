// Small made-up models: logits of target, draft and a deeper draft that depend on the position and
// on the last token, so that all their texts can be enumerated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/types.h"

namespace specbench::suites {

enum class Tables {
  kRandom,  ///< every id possible
  kMixed,   ///< impossible ids in either, disjoint, one-hot and equal rows
  kTied,    ///< small integers: equal logits are common
};

class LogitTable {
 public:
  LogitTable(Tables kind, int n_ids, std::uint64_t seed);

  /// What the rows behind a text depend on: the same number, the same rows.
  std::size_t state(std::span<const engine::TokenId> text) const;

  const std::vector<float>& target(std::size_t state) const { return targets_[state]; }
  const std::vector<float>& draft(std::size_t state) const { return drafts_[state]; }
  const std::vector<float>& deeper(std::size_t state) const { return deeper_[state]; }

 private:
  int n_ids_;
  static constexpr int kPositions = 12;  ///< more than a text of two rounds has
  std::vector<std::vector<float>> targets_, drafts_, deeper_;  ///< [state][n_ids]
};

}  // namespace specbench::suites
