// The event log of decoding: every metric, test and assertion is derived from these events, nothing
// keeps a second count.
#pragma once

#include <cstdint>
#include <span>

#include "engine/accept.h"
#include "engine/types.h"

namespace specbench::engine {

enum class StopReason { kNone, kEos, kMaxTokens, kStopText };

/// The first token of a request, emitted by the prefill. Valid during the call that delivers it.
struct Prefill {
  std::uint32_t request = 0;
  int lane = 0;
  int n_prompt = 0;          ///< tokens fed
  TokenId token = -1;        ///< at position n_prompt
  const Law* law = nullptr;  ///< it was drawn from
  StopReason stop = StopReason::kNone;
};

/// One round of one sequence. Spans are valid during the call that delivers it. A plain step is a
/// round with no draft.
struct Round {
  std::uint32_t request = 0;
  int lane = 0;
  int index = 0;      ///< counts the rounds of the request from 0
  int first_pos = 0;  ///< absolute position of the first token of the round
  Proposal proposal;  ///< drafted ids, the laws they were drawn from, the target's laws (one more)
  const RoundCoins* coins = nullptr;
  int n_verdict = 0;   ///< drafted tokens the rule accepted, before stops
  int n_accepted = 0;  ///< of those, emitted: cut behind the first EOS
  std::span<const TokenId> emitted;
  Source source = Source::kBonus;  ///< of the rule's final token
  bool is_cut = false;             ///< the final token was dropped by a stop
  bool residual_was_empty = false;
  StopReason stop = StopReason::kNone;
  std::span<const int> kv_before;  ///< cache entries per layer before drafting
  std::span<const int> kv_after;   ///< and after trimming
  int n_reused_rows = 0;  ///< rows whose first layers the draft had computed for the verification

  int n_drafted() const { return static_cast<int>(proposal.drafted.size()); }
};

/// What the engine is doing; announced when it begins. The engine reads no clock: the observer may.
enum class Phase { kPrefill, kDraft, kVerify, kAccept, kTrim };

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void phase(Phase) {}
  virtual void prefill(const Prefill&) {}
  virtual void round(const Round&) {}
  virtual bool is_cancelled() {
    return false;
  }  ///< asked between rounds; true ends decoding with what there is
};

}  // namespace specbench::engine
