#include "suites/forced_drafter.h"

namespace specbench::suites {

ForcedDrafter::ForcedDrafter(const std::vector<std::vector<engine::TokenId>>& texts, int vocab_size,
                             int reused_layers, int draft_tokens, bool accept_all,
                             engine::TokenId lure)
    : texts_(texts),
      vocab_size_(vocab_size),
      reused_layers_(reused_layers),
      draft_tokens_(draft_tokens),
      accept_all_(accept_all),
      lure_(lure),
      n_rounds_(texts.size()) {}

void ForcedDrafter::propose(engine::Backend& backend, engine::DraftSampler&,
                            std::span<engine::LaneDraft> lanes) {
  for (engine::LaneDraft& lane : lanes) {
    const std::vector<engine::TokenId>& text = texts_[lane.request];
    // Lanes start at different counts, so that a batch is ragged from its first round on.
    const int n_right = accept_all_ ? draft_tokens_
                                    : (n_rounds_[lane.request]++ + static_cast<int>(lane.request)) %
                                          (draft_tokens_ + 1);
    for (int i = 0; i < lane.n_wanted; ++i) {
      const auto pos = static_cast<std::size_t>(lane.newest_pos + 1 + i);
      const engine::TokenId right = pos < text.size() ? text[pos] : 0;
      const engine::TokenId id = i < n_right ? right : wrong_token(right);
      const engine::Row row{lane.lane, lane.newest_pos + i,
                            i == 0 ? lane.newest : lane.drafted.back(), lane.first_slot + i};
      backend.forward({&row, 1}, 0, reused_layers_);
      lane.drafted.push_back(id);
      lane.laws.push_back({nullptr, nullptr, 1.0, vocab_size_, id});
      if (i < n_right && pos + 1 >= text.size()) break;  // the text is told no further
    }
  }
}

}  // namespace specbench::suites
