// What the rounds of a narrow case showed: counts by class, accept bits, pairs. Mergeable; tests
// nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stats/tables.h"
#include "stats/variance_ratio.h"
#include "stats/z_test.h"
#include "suites/narrow_play.h"

namespace specbench::suites {

enum class Rule { kToken, kBlock, kOneHot, kCoupled };
Rule rule_of(const engine::Verifier& verifier);

/// How the draws of a case are sorted. A slot is a position of the round, or a row where rows have
/// laws of their own; a group is what emitted tokens of one law share.
struct Classes {
  Classes(const NarrowCase& narrow, Rule rule);
  std::size_t slot(std::size_t row, std::size_t i) const { return is_by_row ? row : i; }
  /// Of a token at an absolute position.
  std::size_t group(std::size_t row, int pos) const {
    return is_by_row ? row : static_cast<std::size_t>(pos) % n_groups;
  }
  Rule rule;
  std::size_t g, n_ids;
  bool is_by_row;
  bool has_pairs;  ///< one law and so few ids that pairs of tokens are worth a table
  std::size_t n_slots, n_groups;
};

struct Seen {
  explicit Seen(const Classes& classes);
  void merge(const Seen& other);

  using Counts = std::vector<std::int64_t>;
  Counts accepted, rejected;            ///< [slot][id]; token rule
  Counts emitted;                       ///< [group][id]; the others
  Counts bonus;                         ///< [group][id]; token and block rule
  Counts length;                        ///< [n accepted]; token rule
  std::vector<stats::AcceptBits> bits;  ///< [slot]; those that were not certain
  stats::RowCorrelation rows;           ///< bits of the rows of one step
  Counts first_pairs;                   ///< [token 0 accepted][token 1]; token rule
  Counts pairs;                         ///< [token][next one], no token in two pairs
  stats::CountTable next;  ///< [last token of a round][first of the next], every other round
};

/// Sorts the rounds of one chunk.
class Noter {
 public:
  Noter(const Classes& classes, const NarrowLaws& laws, Seen& seen);
  void note(const PlayedRound& round);
  /// After the round of the last row of a step.
  void end_step() { seen_.rows.end_step(); }
  /// An emitted sequence that ends inside a pair goes on with its law, as it would.
  void end_play(const Player& player);

 private:
  struct RowState {
    engine::TokenId last = -1;  ///< of the previous round
    engine::TokenId open = -1;  ///< first of a pair; -1: none
    bool is_odd_round = false;
  };
  void note_classes(const PlayedRound& round);
  void note_bits(const PlayedRound& round);
  void note_block_bits(const PlayedRound& round);
  void add_bit(std::size_t slot, bool is_accepted, double a);
  void note_pairs(const PlayedRound& round);
  void add_pair_token(RowState& state, engine::TokenId id);
  double acceptance(const PlayedRound& round, std::size_t i) const;
  std::size_t cell(std::size_t line, engine::TokenId id) const {
    return line * classes_.n_ids + static_cast<std::size_t>(id);
  }

  const Classes& classes_;
  const NarrowLaws& laws_;
  Seen& seen_;
  std::vector<RowState> states_;  ///< [kRows]
};

/// n_rounds up to the next multiple of all rows of all chunks.
std::int64_t whole_rounds(std::int64_t n_rounds);

/// Plays whole_rounds(n_rounds) rounds of a case. Same seed, same result, whatever the number of
/// threads.
Seen play_narrow_case(const NarrowCase& narrow, const engine::Verifier& verifier,
                      std::int64_t n_rounds, std::uint64_t seed, const engine::Steps& steps,
                      int n_threads);

}  // namespace specbench::suites
