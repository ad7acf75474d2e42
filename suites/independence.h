// Are the random numbers of a run independent of each other: between roles (accept coin, residual,
// draft), along a text, across the rows of a batch? Sees every token once through its probability
// integral transform (PIT), by id, since that is the order of inverse-CDF draws: a coin used twice
// shows there. Says nothing of whether each has its law (lossless_end_to_end.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/decode.h"
#include "engine/round.h"
#include "stats/pair_table.h"
#include "stats/serial.h"
#include "stats/variance_ratio.h"
#include "stats/z_test.h"
#include "suites/pit.h"

namespace specbench::suites {

/// Drifts of interest. With 1e5 tokens (and texts of 8 tokens or more, rounds of 12 or fewer) every
/// test meets its contract: 64 cells need 32e3 pairs for a total variation of .03 (a class that is
/// a share of the tokens is held to .03 / share, for which share^2 x 32e3 suffice), a serial
/// correlation of .05 needs 24e3 pairs at the longest lag, rows need 1,000 groups of 8.
inline constexpr double kPairTau = 0.03;
inline constexpr double kSerialTau = 0.05;
inline constexpr double kRowTau = 0.05;
inline constexpr double kCoincidenceTau = 0.02;

/// Fed like an observer: each emitted token with its loaded row (note_token), then its round
/// (note_round). note() does both and loads the rows itself.
class Independence {
 public:
  /// `seed` keys the coins that randomise transforms (Purpose::kVerification, indices 2 to 4).
  /// max_tokens: what a request emits at most.
  Independence(const engine::Verifier& verifier, std::uint64_t seed, int n_ids, int max_tokens);

  /// Emitted token i of a round, in order of positions. The first token of a request comes as
  /// round_of(prefill). The row has the draft's law where token i was drafted.
  void note_token(const engine::Round& round, std::size_t i, const RowProbs& row);
  void note_round(const engine::Round& round);
  void note(const engine::Prefill& prefill);
  void note(const engine::Round& round);

  /// One row a test. Tests for which the run gave nothing (no rejection, one row a step) are left
  /// out, and those of classes too rare to move the emitted law by tau.
  std::vector<stats::TestResult> results() const;

 private:
  /// What one token of one row gives for the comparison of rows.
  struct Member {
    double token = 0.5;            ///< PIT under the target
    std::optional<double> accept;  ///< PIT of the accept bit; none: nothing was judged
  };
  struct Groups {
    stats::RowCorrelation accepts, tokens;
  };
  struct Lane {
    std::uint32_t request = 0;
    std::optional<double> last;  ///< PIT of the newest token
    stats::LaggedProducts tokens, accept_coins;
  };

  Lane& lane_of(const engine::Round& round);
  void note_draft(const engine::Round& round, std::size_t i, const RowProbs& row, double a);
  void note_refused(const engine::Round& round, std::size_t i, const RowProbs& row, double a);
  void end_group(std::vector<Member>& group, Groups& groups);
  void end_step();
  std::vector<stats::TestResult> test_roles() const;
  std::vector<stats::TestResult> test_texts() const;
  std::vector<stats::TestResult> test_rows() const;
  double share_of(std::int64_t n) const;

  bool is_token_rule_, is_one_hot_;
  std::uint64_t seed_;
  int n_lags_;
  RowProbs row_;  ///< of note()
  std::int64_t n_tokens_ = 0, n_first_ = 0, n_judged_ = 0;

  stats::PairTable accept_residual_, draft_residual_, draft_accept_, accept_accept_, neighbours_;
  std::optional<double> last_coin_;  ///< accept coin of the round's even token before, which stood
  std::vector<Lane> lanes_;
  Groups in_step_, at_position_;
  stats::AcceptBits coincidences_;
  std::optional<Member> first_;  ///< of the round under way: its first token
  std::vector<Member> step_;     ///< rows of the step under way, up to a group
  int last_lane_ = -1;
  std::vector<std::vector<Member>> positions_;  ///< [position]: the group under way
};

}  // namespace specbench::suites
