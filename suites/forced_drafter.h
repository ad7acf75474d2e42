// A drafter that is told what the target will say, and so forces how much of each draft is
// accepted. For state checks at temperature 0; it feeds the backend exactly as layer-skip drafting
// does.
#pragma once

#include <vector>

#include "engine/drafter.h"

namespace specbench::suites {

class ForcedDrafter final : public engine::Drafter {
 public:
  /// texts[request id]: prompt and greedy continuation. Round r of a lane at position P accepts (r
  /// + shift) mod (g + 1) tokens, or everything where accept_all. reused_layers as for a drafter; 0
  /// runs no layers. A token to be refused is `lure` where that is wrong (-1: none), else the right
  /// one's neighbour.
  ForcedDrafter(const std::vector<std::vector<engine::TokenId>>& texts, int vocab_size,
                int reused_layers, int draft_tokens, bool accept_all, engine::TokenId lure = -1);

  int reused_layers() const override { return reused_layers_; }
  void propose(engine::Backend& backend, engine::DraftSampler& sampler,
               std::span<engine::LaneDraft> lanes) override;

 private:
  engine::TokenId wrong_token(engine::TokenId right) const {
    return lure_ >= 0 && lure_ != right ? lure_ : (right + 1) % vocab_size_;
  }

  const std::vector<std::vector<engine::TokenId>>& texts_;
  int vocab_size_, reused_layers_, draft_tokens_;
  bool accept_all_;
  engine::TokenId lure_;
  std::vector<int> n_rounds_;  ///< [request id]
};

}  // namespace specbench::suites
