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
#include "stats/pit_accumulator.h"
#include "stats/z_test.h"
#include "suites/context.h"
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
  EndToEnd(const Context& context, const engine::Verifier& verifier, std::int64_t n_wanted);

  void prefill(const engine::Prefill& prefill) override;
  void round(const engine::Round& round) override;
  bool is_cancelled() override;  ///< enough tokens, or Ctrl-C

  /// Recomputes the target laws of the sequences kept so far by one packed pass over each and
  /// compares them bit for bit.
  void check_kept_sequences(engine::Backend& backend);

  /// One row a test; the certified total variation if every part of the replay could be bounded.
  std::vector<stats::TestResult> results() const;
  std::optional<double> certified_tv() const { return certified_tv_; }
  void certify(results::Record& record);

  const ReplayCounts& replay() const { return replay_; }
  std::int64_t n_forced_mismatches() const { return n_forced_mismatches_; }

 private:
  struct Stream {
    stats::PitAccumulator pit;
    std::int64_t n_impossible = 0;  ///< tokens their law gives no mass
  };
  /// A sequence whose target laws are recomputed later.
  struct Kept {
    std::uint32_t request = 0;
    std::vector<engine::TokenId> tokens;    ///< prompt and emitted
    std::vector<std::uint64_t> law_hashes;  ///< of the law each emitted token is held against
    bool is_whole = false;
  };

  void note_token(const engine::Round& round, std::size_t i);
  void note_pits(OutcomeClass outcome, const std::array<double, kOrders>& pits);
  void note_bit(engine::TokenId drafted, std::size_t i, bool is_accepted);
  void test_stream(std::size_t c, std::size_t o, double n_all,
                   std::vector<stats::TestResult>& tests) const;
  bool is_kept(std::uint32_t request) const;
  void keep(const engine::Round& round);
  Kept* find_kept(std::uint32_t request);

  const Context& context_;
  const engine::Verifier& verifier_;
  std::int64_t n_wanted_;
  double keep_every_;  ///< one sequence in so many is recomputed
  RowProbs row_;
  std::vector<std::vector<Stream>> streams_;      ///< [class][order]
  std::vector<stats::PitAccumulator> positions_;  ///< [i]: token at position i of the round, by id
  std::vector<stats::AcceptBits> bits_;           ///< [i]: given the drafted token
  stats::AcceptBits all_bits_,
      rate_bits_;  ///< over all positions; against sum min(p, q) of the row
  ReplayCounts replay_;
  std::vector<Kept> kept_;
  std::int64_t n_forced_ = 0, n_forced_mismatches_ = 0;
  std::optional<double> certified_tv_;
};

/// Tokens a request of the end-to-end part emits at most. Throws engine::InputError if --max-tokens
/// is 1 or more than the model has positions for.
int end_to_end_tokens(const Context& context);

/// Decodes requests over the prompts until `n_samples` tokens were verified, and tests them.
void test_end_to_end(const Context& context, std::int64_t n_samples, const engine::Steps& steps,
                     results::Record& record, std::vector<stats::TestResult>& tests);

}  // namespace specbench::suites
