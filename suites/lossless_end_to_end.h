// Real generations against their own laws: every emitted token's probability integral transform in
// each order and class, the accept bits, a replay of every decision, and target laws recomputed by
// teacher forcing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/record.h"
#include "stats/log_score.h"
#include "stats/pit_accumulator.h"
#include "stats/z_test.h"
#include "suites/coin_ledger.h"
#include "suites/context.h"
#include "suites/faults.h"
#include "suites/findings.h"
#include "suites/forced_laws.h"
#include "suites/generation.h"
#include "suites/independence.h"
#include "suites/pit.h"
#include "suites/replay.h"
#include "suites/tally.h"

namespace specbench::suites {

/// Token classes, each held against its own law.
enum class OutcomeClass { kAll, kAccepted, kRejected, kBonus };
inline constexpr std::size_t kClasses = 4;
inline constexpr std::array<const char*, kClasses> kClassNames = {"all", "accepted", "rejected",
                                                                  "bonus"};

/// Collects rounds; the tests are made of it afterwards.
class EndToEnd final : public Tally {
 public:
  EndToEnd(const Context& context, const Generation& generation, const Faults& faults);

  void prefill(const engine::Prefill& prefill) override;
  void round(const engine::Round& round) override;
  bool is_cancelled() override;  ///< enough tokens, or Ctrl-C

  /// One row a test.
  std::vector<stats::TestResult> tests() const;

  /// Where the transforms fell that tests() judges, each class in each order (pit.h).
  results::NamedTable pit_table() const;

  /// The checks that need no statistics: replays, laws made again, the identity of acceptance.
  std::vector<results::Check> checks() const;

  /// Upper bound on the drift of one emitted token, from the replays; none if a part of it saw
  /// nothing.
  std::optional<double> certified_tv() const;

  ForcedLaws forced;
  const ReplayCounts& replay() const { return replay_; }

 private:
  struct Stream {
    stats::PitAccumulator pit;
    std::int64_t n_impossible = 0;  ///< tokens their law gives no mass
  };
  struct ReplayPart;

  void note_token(const engine::Round& round, std::size_t i);
  void note_pits(OutcomeClass outcome, const std::array<double, kOrders>& pits);
  void note_bit(const engine::Round& round, std::size_t i, bool is_accepted);
  void note_score(engine::TokenId token);
  void note_identity(const engine::Round& round);
  void test_stream(std::size_t c, std::size_t o, std::vector<stats::TestResult>& tests) const;
  void test_bits(const std::string& id, const std::string& what, const stats::AcceptBits& bits,
                 std::vector<stats::TestResult>& tests) const;
  std::vector<ReplayPart> replay_parts() const;
  results::Check check_of(const ReplayPart& part) const;
  bool has_class_laws() const;   ///< the token rule: accepted and rejected tokens too
  bool judges_by_ratio() const;  ///< the token and the block rule
  stats::Contract contract_of(const std::string& id, const std::string& what, double tau,
                              double share) const;

  const Context& context_;
  const Generation& generation_;
  const Faults& faults_;
  RowProbs row_;
  std::vector<std::vector<Stream>> streams_;      ///< [class][order]
  std::vector<stats::PitAccumulator> positions_;  ///< [i]: token at position i of the round, by id
  std::vector<stats::AcceptBits> bits_;           ///< [i]: given the drafted token
  stats::AcceptBits all_bits_,
      rate_bits_;  ///< over all positions; against the rule's rate of the row
  ReplayCounts replay_;
  stats::LogScores scores_;  ///< of one token in a few
  std::int64_t n_identities_ = 0;
  double worst_identity_ = 0.0;
  std::vector<double> residual_weights_, residual_sums_;
  std::optional<CoinLedger> ledger_;          ///< where the generation asks for it
  std::optional<Independence> independence_;  ///< likewise
};

/// What a generation gave: tests, checks, and the tally for the record.
struct Generated {
  Findings findings;
  std::optional<double> certified_tv;
  Tally tally;
  results::NamedTable pit;         ///< bins of the transforms; no rows where nothing was drawn
  results::NamedTable mismatches;  ///< of the replay, the first few with their margins
};

/// Decodes requests over the prompts until generation.n_tokens tokens were verified, and tests
/// them. A broken invariant becomes a failed check "<name>.state".
Generated test_generation(const Context& context, const Generation& generation,
                          const Faults& faults);

}  // namespace specbench::suites
