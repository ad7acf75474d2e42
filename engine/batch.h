// The lanes of a decoding run and the steps of a round over all of them. A lane carries one request
// from its prompt to its stop, then takes the next. Private to the engine: decode.cc reads as its
// table of contents.
#pragma once

#include <span>
#include <vector>

#include "engine/decode.h"

namespace specbench::engine {

class Batch {
 public:
  Batch(Backend& backend, std::span<const Request> requests, const DecodeOptions& options,
        Observer& observer);

  /// Gives free lanes the next requests and prefills them; each emits its first token. False when
  /// no lane is busy.
  bool admit();

  /// Starts a round: one LaneDraft for each busy lane, wanting at most draft_tokens and never more
  /// than its room.
  std::span<LaneDraft> begin_round(int draft_tokens);

  /// Target laws of every row of the round. Rows whose first reused_layers layers the draft has
  /// computed go on from there.
  void verify(int reused_layers);

  /// Applies the verifier's rule to every lane.
  void accept();

  /// Takes each lane's one token by the plain draw: the autoregressive step.
  void sample();

  /// Appends what was accepted, cuts at stops, trims the cache, asserts the invariants, delivers
  /// the rounds.
  void commit();

  /// What every request has emitted; a request that was cancelled keeps what it had.
  std::vector<Completion> take_completions();
  DraftSampler& sampler() { return sampler_; }

 private:
  struct Lane {
    const Request* request = nullptr;  ///< null: free
    std::size_t n_request = 0;         ///< its place among the requests
    std::vector<TokenId> tokens;       ///< committed: prompt, then emitted
    int n_rounds = 0;
    std::vector<int> kv_before;
    std::vector<Law> target_laws;
    RoundCoins coins;
    Acceptance acceptance;
    int n_refused = 0;                         ///< of the last round's drafted tokens
    const SamplingParams* sampling = nullptr;  ///< the request's, or the run's
    std::uint64_t seed = 0;
    int n_emitted() const { return static_cast<int>(tokens.size() - request->prompt.size()); }
    RoundKey key(int lane, int n_drafted) const {
      return {seed, request->id, static_cast<int>(tokens.size()), n_drafted, lane};
    }
  };

  void check_request(const Request& request) const;
  bool admit_waiting();
  void prefill(std::span<const int> new_lanes);
  void first_token(int lane, float* logits);
  void make_target_laws();
  void commit_lane(LaneDraft& draft);
  void trim(const Round& round, int length);
  void check_round(const Lane& lane, const Round& round) const;
  StopReason stop_after(const Lane& lane) const;
  StopReason stop_of_round(const Lane& lane, bool is_last) const;
  RowPast past_of(const Lane& lane) const;
  void check_stops(const Round& round) const;
  void finish(Lane& lane, StopReason reason);
  Lane& lane_of(const LaneDraft& draft) { return lanes_[static_cast<std::size_t>(draft.lane)]; }

  Backend& backend_;
  std::span<const Request> requests_;
  const DecodeOptions& options_;
  Observer& observer_;
  AcceptRule accept_rule_;
  std::vector<TokenId> eos_;  ///< what ends a text; empty where nothing does
  int rows_per_lane_;         ///< draft_tokens + 1
  int reused_layers_ = 0;     ///< of the round under way
  std::size_t n_admitted_ = 0;
  std::vector<Lane> lanes_;
  std::vector<LaneDraft> drafts_;                         ///< of the busy lanes
  std::vector<Row> rows_;                                 ///< of the verification, lane after lane
  std::vector<std::pair<const LaneDraft*, int>> places_;  ///< of rows_: draft, and row of its round
  std::vector<Row>
      shallow_;  ///< those the draft has not taken through the reused layers: each lane's last
  std::vector<float> logits_;
  LawBuffer target_laws_, residuals_;
  DraftSampler sampler_;
  std::vector<Completion> completions_;
};

}  // namespace specbench::engine
