// How the drafts of a round come about, for the exact enumeration: from which law each token is
// really drawn, which law is reported, and where drafting stops. Legal rules leave the emitted law
// alone (RULES section 3); the illegal ones look at a token that was drawn, and must be seen.
#pragma once

#include <string_view>
#include <vector>

#include "engine/law.h"
#include "engine/types.h"

namespace specbench::suites {

/// One row of the draft.
struct DraftRow {
  const engine::Law& law;     ///< of the row
  const engine::Law& deeper;  ///< of a deeper exit at the same row
  bool is_any = false;  ///< the token is any id, all alike, and reported as a point mass: for rules
                        ///< that are exact for every draft

  double drawn_prob(engine::TokenId id) const { return is_any ? 1.0 / law.n_ids : law.prob(id); }
  engine::Law reported(engine::TokenId id) const {
    return is_any ? engine::Law{nullptr, nullptr, 1.0, law.n_ids, id} : law;
  }
};

/// What may happen at a row.
struct Branch {
  double prob = 0.0;
  engine::TokenId token = -1;  ///< -1: drafting stops without one
  bool is_last = false;        ///< drafting stops behind it
  engine::Law reported;        ///< the law the rule is told the token came from
};

struct StopRule {
  std::string_view name;
  void (*draft)(const DraftRow&, std::vector<Branch>&);
  /// Tokens to draft, of g at most; n_before: accepted in the round before, -1 in the first.
  int (*n_wanted)(int g, int n_before);
  bool ends_at_eos = false;  ///< the last id is EOS: it ends drafting, and the text
  bool has_room = false;     ///< the text has g + 2 tokens at most
};

/// Fixed g; stop before drawing; stop behind a weak token; EOS; g from the round before;
/// max_tokens; and all of them.
const std::vector<StopRule>& legal_stop_rules();

/// A weak token dropped; an EOS dropped; a weak token drawn anew (D2), or from a deeper exit (D1).
const std::vector<StopRule>& illegal_stop_rules();

/// The one of that name, of both lists. Throws std::logic_error.
const StopRule& stop_rule(std::string_view name);

}  // namespace specbench::suites
