// The laws of the narrow cases: small (target, draft) pairs, each nasty in its own way. Makes laws;
// draws and tests nothing.
#pragma once

#include <string>
#include <vector>

namespace specbench::suites {

using Probs = std::vector<double>;

/// Laws of one round: position i has targets[i] and drafts[i]; targets has one more for the bonus.
struct NarrowCase {
  std::string name;
  std::vector<Probs> targets;  ///< [g + 1][n_ids], each sums to 1
  std::vector<Probs> drafts;   ///< [g][n_ids]
};

/// Probability of the rarest id of all cases.
inline constexpr double kTinyProb = 1e-4;

/// Weights over their sum.
Probs normalised(Probs weights);

/// Opposed, mild, tiny-ratio, near-equal, equal, disjoint, one-hot target, one-hot draft, top-k
/// draft and position-distinct pairs over 2, 3, 8, 16 and 64 ids with g = 3, and over 16 ids with
/// g = 1 and 5.
std::vector<NarrowCase> narrow_cases();

}  // namespace specbench::suites
