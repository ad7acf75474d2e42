// The seam of drafting: proposes up to g tokens for each lane, each with the law it was really
// drawn from. A drafter sees the past only; it may run any layers of the backend and must leave the
// cache as reused_layers() says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/backend.h"
#include "engine/law.h"
#include "engine/processors.h"
#include "engine/sampling.h"
#include "engine/types.h"

namespace specbench::engine {

/// How a drafted token is taken from the draft's law.
enum class DraftDraw {
  kCoin,     ///< inverse CDF with the draft coin
  kArgmax,   ///< the likeliest id; the law is then a point mass
  kCoupled,  ///< with the noise the target will use at that position
};

/// One lane's place in the round being drafted.
struct LaneDraft {
  int lane = 0;
  std::uint32_t request = 0;
  int newest_pos = 0;  ///< position of the newest committed token, which has not been fed
  TokenId newest = 0;  ///< that token
  int first_slot =
      0;              ///< row i of the round (position newest_pos + i) lives in slot first_slot + i
  int n_wanted = 0;   ///< draft at most so many
  int n_refused = 0;  ///< drafted tokens of the lane's previous round that did not stand
  std::uint64_t seed = 0;                    ///< of the request's coins
  const SamplingParams* sampling = nullptr;  ///< of the request
  RowPast past;                              ///< of the round's first row
  std::vector<TokenId> drafted;
  std::vector<Law> laws;  ///< one each
};

struct Steps;

/// Turns rows of draft logits into drafted tokens, the same way for every drafter.
class DraftSampler {
 public:
  /// `steps` must outlive it. eos: what ends drafting; empty: nothing does.
  DraftSampler(int n_lanes, int draft_tokens, int n_ids, DraftDraw mode, std::vector<TokenId> eos,
               int n_threads, const Steps& steps);

  /// Draws the next token of each lane from its row of logits (lanes.size() x n_ids, which the
  /// processors may change) and appends it with its law.
  void draw_next(std::span<LaneDraft* const> lanes, float* logits);

  /// Whether the lane may draft another token: below n_wanted, and no EOS drafted.
  bool wants_more(const LaneDraft& lane) const;

  float* logits() { return logits_.data(); }  ///< room for one row a lane

 private:
  void draw_one(LaneDraft& lane, float* logits);

  int draft_tokens_, n_ids_;
  DraftDraw mode_;
  std::vector<TokenId> eos_;
  int n_threads_;
  const Steps& steps_;
  LawBuffer laws_, spares_;
  std::vector<float> logits_;
};

class Drafter {
 public:
  virtual ~Drafter() = default;

  /// Layers that each drafted row (the newest committed token and all drafts but the last) has
  /// passed for good: their cache entries and hidden states are the target's own, and verification
  /// goes on from there. 0: nothing is reused.
  virtual int reused_layers() const = 0;

  /// Fills `drafted` and `laws` of each lane.
  virtual void propose(Backend& backend, DraftSampler& sampler, std::span<LaneDraft> lanes) = 0;
};

/// "layer-skip" (first draft_layers layers, norm and head; 1..n_layers), and the controls "null"
/// (drafts nothing), "oracle" (the whole model, nothing reused: everything must be accepted) and
/// "uniform" (every id alike). Throws InputError.
std::unique_ptr<Drafter> make_drafter(std::string_view name, int draft_layers,
                                      const ModelConfig& config);

}  // namespace specbench::engine
