// The steps of a round as a table of functions: one seam through which a fault can be planted, for
// the checks that must find it. The defaults are the product; each is called once a row, a sequence
// or a round, so that the seam costs nothing. No step keeps a state.
#pragma once

#include <span>
#include <vector>

#include "engine/accept.h"
#include "engine/backend.h"
#include "engine/drafter.h"
#include "engine/processors.h"
#include "engine/round.h"
#include "engine/sampling.h"

namespace specbench::engine {

/// Which row of a round a law is made for.
struct RowPlace {
  int row = 0;        ///< of the round's token `row`
  int n_drafted = 0;  ///< tokens drafted in the round (so far, for a row of the draft)
  bool is_draft = false;
  bool is_bonus() const { return !is_draft && row == n_drafted; }
};

/// Processors, then the filters: the law of one row. May change the logits.
Law law_of_row(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
               const RowPlace& place, const LawRoom& room);

/// Takes a drafted token from its law with the coin of that key (its purpose is kDraft).
TokenId take_draft(Law& law, const LawRoom& spare, DraftDraw mode, const CoinKey& key);

/// A round's end as the cache must see it.
struct RoundEnd {
  int n_committed = 0;  ///< prompt and emitted tokens, this round's included
  int n_fed = 0;        ///< cache entries the verification left
  int n_drafted = 0;
  int n_verdict = 0;  ///< drafted tokens the rule accepted
  bool is_cut = false;
};

struct Steps {
  AcceptRule accept = nullptr;  ///< the rule; null: the verifier's
  RoundCoins (*coins)(const RoundKey&) = coins_of_round;
  /// Law of a row, of the draft and of the target alike.
  Law (*law)(float* logits, int n_ids, const SamplingParams&, const RowPast&, const RowPlace&,
             const LawRoom&) = law_of_row;
  /// Draws a drafted token. `law` is what the row gives; what it is afterwards is reported as the
  /// law the token came from. `spare` has room for another law.
  TokenId (*draft)(Law& law, const LawRoom& spare, DraftDraw, const CoinKey&) = take_draft;
  /// How many tokens a lane may draft: `room` tokens may still be emitted.
  int (*n_wanted)(int draft_tokens, int room) = [](int draft_tokens, int room) {
    return draft_tokens < room - 1 ? draft_tokens : room - 1;
  };
  /// The rows of the verification as they go to the backend; is_shallow: those that still have to
  /// pass the layers the draft has run.
  void (*rows)(std::vector<Row>& rows, bool is_shallow, std::span<const LaneDraft>) = nullptr;
  /// The logits of all rows of a verification, row after row.
  void (*logits)(float* logits, std::span<const Row> rows, int n_ids) = nullptr;
  /// The drafts of all lanes as they reach the rule.
  void (*judged)(std::span<LaneDraft>) = nullptr;
  /// Whether the text ends with this token; `due` is the answer. is_last: the round's last token.
  StopReason (*stop)(StopReason due, bool is_last) = nullptr;
  /// The tokens of a lane after a round was appended.
  void (*emitted)(std::vector<TokenId>& tokens, const Round&) = nullptr;
  /// Cache entries to keep.
  int (*kept_entries)(const RoundEnd&) = [](const RoundEnd& end) { return end.n_committed - 1; };
  /// Empties a lane for the next request; null: Backend::reset.
  void (*reset)(Backend&, int lane, std::uint32_t owner) = nullptr;
  /// The round as it is logged.
  void (*report)(Round&) = nullptr;
};

}  // namespace specbench::engine
