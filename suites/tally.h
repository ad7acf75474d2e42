// The figures of METRICS, counted from the round log and from nothing else. Tokens are counted as
// ids, cut at the stop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "engine/round.h"
#include "results/record.h"

namespace specbench::suites {

class Tally : public engine::Observer {
 public:
  void prefill(const engine::Prefill& prefill) override;
  void round(const engine::Round& round) override;

  std::int64_t n_requests = 0;
  std::int64_t n_rounds = 0;
  std::int64_t n_drafted = 0;
  std::int64_t n_accepted = 0;    ///< emitted drafted tokens
  std::int64_t n_rejections = 0;  ///< rounds in which a drafted token was judged and refused
  std::int64_t n_emitted = 0;     ///< the prefills' first tokens included
  std::int64_t n_covered = 0;     ///< of those, from rounds with a draft
  std::int64_t n_cut = 0;
  std::int64_t n_residual_empty = 0;
  std::int64_t n_repeated_4grams =
      0;  ///< emitted tokens that end a 4-gram their sequence had before
  std::int64_t n_4grams = 0;
  double sum_overlap = 0.0;  ///< sum over judged rows of sum_y min(target, draft)
  std::int64_t n_overlap_rows = 0;
  bool wants_overlap = false;          ///< the overlap costs a pass over each row
  std::vector<std::int64_t> n_judged;  ///< [i]: rounds in which drafted token i was judged
  std::vector<std::int64_t> n_stood;   ///< [i]: rounds in which drafted token i was accepted
  std::vector<std::vector<std::int64_t>> histogram;  ///< [drafted][accepted]: rounds

  double acceptance_length() const;
  double draft_acceptance_rate() const;                ///< NaN where nothing was drafted
  double acceptance_probability() const;               ///< censored; NaN where nothing was judged
  std::vector<double> conditional_acceptance() const;  ///< [i]
  std::vector<double> joint_acceptance() const;        ///< [i]: rounds with at least i + 1 accepted

 private:
  struct Tail {
    std::vector<engine::TokenId> tokens;
    std::vector<std::uint64_t> seen;  ///< hashes of its 4-grams
  };
  void note_tokens(std::uint32_t request, std::span<const engine::TokenId> tokens, bool is_last);
  std::vector<std::pair<std::uint32_t, Tail>> tails_;  ///< running requests
};

/// a / b; NaN where b is 0.
double ratio(std::int64_t a, std::int64_t b);

/// A sentence naming the first emitted token in which `other`, decoded speculatively, differs from
/// the autoregressive `baseline`; empty where there is none.
std::string first_difference(const engine::Completion& baseline, const engine::Completion& other);

/// sum_y min(target(y), draft(y)).
double overlap(const engine::Law& target, const engine::Law& draft);

/// The identities of METRICS as checks. `returned` are the completions of the same run;
/// draft_tokens is g.
std::vector<results::Check> check_identities(const Tally& tally,
                                             std::span<const engine::Completion> returned,
                                             int draft_tokens);

/// acceptance_length, draft_acceptance_rate, acceptance_probability, expected_acceptance, coverage,
/// and the table by position.
void report_acceptance(const Tally& tally, results::Record& record);

}  // namespace specbench::suites
