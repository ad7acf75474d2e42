// The laws of the narrow cases: small (target, draft) pairs, each nasty in its own way, and what a
// correct rule makes of them. Makes laws; draws and tests nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace specbench::suites {

using Probs = std::vector<double>;

/// Laws of one row of a batch. Entry i is for the i-th position of a round under the token rule,
/// for which a round is all there is, and for an absolute position of remainder i modulo g + 1
/// under the others, whose output is one law whatever the rounds.
struct NarrowRow {
  std::vector<Probs> targets;  ///< [g + 1][n_ids], each sums to 1
  std::vector<Probs> drafts;   ///< [g + 1][n_ids]; the token rule needs no last one
};

struct NarrowCase {
  std::string name;
  std::vector<NarrowRow> rows;  ///< one for all rows of a batch, or one each
  bool is_position_distinct = false;

  std::size_t g() const { return rows.front().targets.size() - 1; }
  std::size_t n_ids() const { return rows.front().targets.front().size(); }
  bool is_row_distinct() const { return rows.size() > 1; }
  bool has_one_law() const { return !is_row_distinct() && !is_position_distinct; }
};

/// Rows that decode together, each a request of its own.
inline constexpr std::size_t kRows = 4;

/// Probability of the rarest id of all cases.
inline constexpr double kTinyProb = 1e-4;

/// Weights over their sum.
Probs normalised(Probs weights);

/// Opposed, mild, tiny-ratio, near-equal, equal, disjoint, one-hot target, one-hot draft, top-k
/// draft, position-distinct and row-distinct laws over 2, 3, 8, 16 and 64 ids with g = 3, and over
/// 16 ids with g = 1 and 5.
std::vector<NarrowCase> narrow_cases();

/// The few of them in which every fault of the laws shows in some test, for the selftest.
std::vector<NarrowCase> narrow_probe_cases();

/// What the token rule makes of a pair.
struct PairLaws {
  PairLaws(const Probs& target, const Probs& draft);
  double acceptance = 0.0;  ///< sum min(p, q)
  Probs accepted;           ///< min(p, q) / acceptance; empty where it cannot happen
  Probs rejected;           ///< max(0, p - q) over its sum; empty where it cannot happen
};

/// Probability that target and draft, drawn with the same Gumbel noise, agree, given that the draft
/// drew `id`: 1 / (q(id) sum_y max(p(y)/p(id), q(y)/q(id))). 0 where p(id) is. Requires q(id) > 0.
double coupled_acceptance(const Probs& target, const Probs& draft, std::size_t id);

/// The id of the k-th largest probability, ties to the smallest id.
std::size_t likeliest(const Probs& probs, std::size_t k);

}  // namespace specbench::suites
