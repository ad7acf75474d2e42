// Plays rounds as decoding does, on laws that are given instead of computed: several requests side
// by side, each round after the other at growing positions, through the steps of the engine (draft,
// judged, coins, accept). Counts and tests nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/decode.h"
#include "suites/narrow_cases.h"

namespace specbench::suites {

/// Chunks of work a play is cut into, whatever the number of threads. Each has kRows requests of
/// its own, so that chunks share no coins.
inline constexpr int kPlayChunks = 64;

/// Laws of one round of one row.
struct RoundLaws {
  std::span<const engine::Law> targets;         ///< at least n_drafted + 1
  std::span<const engine::Law> drafts;          ///< at least n_drafted
  std::span<const engine::Law> residuals = {};  ///< at least n_drafted, or none: made when needed
};

struct PlayedRound {
  std::size_t row = 0;
  const engine::LaneDraft& draft;  ///< as the rule saw it
  const RoundLaws& laws;
  bool has_own_drafts = true;  ///< the draft's laws are those given; else what a fault reported
  const engine::Acceptance& acceptance;

  int first_pos() const { return draft.newest_pos + 1; }
  std::size_t n_drafted() const { return draft.drafted.size(); }
  std::size_t n_accepted() const { return static_cast<std::size_t>(acceptance.n_accepted); }
  /// The i-th emitted token, i <= n_accepted.
  engine::TokenId token(std::size_t i) const {
    return i < n_accepted() ? draft.drafted[i] : acceptance.final_token;
  }
};

/// The rows of one chunk.
class Player {
 public:
  /// n_ids: the vocabulary. `verifier` and `steps` must outlive it.
  Player(int chunk, int n_drafted, int n_ids, std::uint64_t seed, const engine::Verifier& verifier,
         const engine::Steps& steps);
  Player(const Player&) = delete;

  /// One round of every row. laws_of(row, first_pos) gives a round's laws, valid during the step;
  /// note(const PlayedRound&) is called for each row in turn.
  template <typename LawsOf, typename Note>
  void step(const LawsOf& laws_of, const Note& note) {
    if (n_steps_++ % kAlignEvery == 0) align();
    for (std::size_t row = 0; row < kRows; ++row) {
      laws_[row] = laws_of(row, lanes_[row].newest_pos + 1);
      draft(row);
    }
    if (steps_.judged != nullptr) steps_.judged(lanes_);
    for (std::size_t row = 0; row < kRows; ++row) {
      const bool has_own_drafts = is_own(row);
      const engine::Acceptance acceptance = accept(row, has_own_drafts);
      const PlayedRound round{row, lanes_[row], laws_[row], has_own_drafts, acceptance};
      note(round);
      advance(round);
    }
  }

  const engine::LaneDraft& lane(std::size_t row) const { return lanes_[row]; }

 private:
  // Rows drift apart; coins that depend on the position but not on the request are shared by rows
  // at the same position only. Every so many steps all go to the largest position: forward, so
  // that no coin comes twice.
  static constexpr std::int64_t kAlignEvery = 8;

  void align();
  void draft(std::size_t row);
  bool is_own(std::size_t row) const;
  engine::Acceptance accept(std::size_t row, bool has_own_drafts);
  void advance(const PlayedRound& round);

  std::size_t n_drafted_;
  const engine::Verifier& verifier_;
  const engine::Steps& steps_;
  engine::AcceptRule rule_;
  bool uses_residuals_;
  engine::SamplingParams sampling_;  ///< plain: the laws are given
  engine::LawBuffer spares_, residual_;
  std::vector<engine::LaneDraft> lanes_;  ///< [kRows]
  std::vector<RoundLaws> laws_;           ///< [kRows]
  std::int64_t n_steps_ = 0;
};

/// The laws of a narrow case as the engine's, made once.
class NarrowLaws {
 public:
  /// Drafts are point masses where the verifier wants them: one of the draft's likeliest ids, by
  /// position.
  NarrowLaws(const NarrowCase& narrow, const engine::Verifier& verifier);
  NarrowLaws(const NarrowLaws&) = delete;

  /// Index of the laws of the i-th position of a round (NarrowRow).
  std::size_t index(int first_pos, std::size_t i) const {
    return is_by_round_ ? i : (static_cast<std::size_t>(first_pos) + i) % n_positions_;
  }
  RoundLaws of(std::size_t row, int first_pos) const;
  /// Probability that the rule accepts a drafted id (block rule: that the token rule would).
  double acceptance(std::size_t row, std::size_t index, engine::TokenId id) const {
    return acceptance_[(own(row) * n_positions_ + index) * n_ids_ + static_cast<std::size_t>(id)];
  }
  /// Mean of a (1 - a) for the positions of a round, where it is least.
  double least_bit_variance() const { return least_bit_variance_; }

 private:
  struct Row {
    std::vector<engine::Law> targets, drafts, residuals;  ///< [2 n_positions]: two periods
  };
  std::size_t own(std::size_t row) const { return rows_.size() == 1 ? 0 : row; }
  void add_row(const NarrowRow& from, const engine::Verifier& verifier);
  void add_acceptance(const Probs& target, const Probs& draft, const engine::Law& draft_law,
                      const engine::Verifier& verifier);
  engine::LawRoom next_room() { return buffer_.room(n_laws_++); }

  bool is_by_round_;
  std::size_t n_positions_, n_ids_;
  engine::LawBuffer buffer_;
  int n_laws_ = 0;
  std::vector<Row> rows_;
  std::vector<double> acceptance_;  ///< [row][index][id]
  double least_bit_variance_ = 1.0;
};

}  // namespace specbench::suites
