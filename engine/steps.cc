#include "engine/steps.h"

namespace specbench::engine {

Law law_of_row(float* logits, int n_ids, const SamplingParams& params, const RowPast& past,
               const RowPlace&, const LawRoom& room) {
  if (params.has_processors()) process_logits(logits, n_ids, params, past);
  return make_law(logits, n_ids, params, room.weights, room.chunk_sums);
}

TokenId take_draft(Law& law, const LawRoom&, DraftDraw mode, const CoinKey& key) {
  switch (mode) {
    case DraftDraw::kCoin:
      return draw(law, uniform(key));
    case DraftDraw::kCoupled:
      return coupled_draw(law, key.seed, key.request, key.pos);
    case DraftDraw::kArgmax:
      break;
  }
  return law.point;
}

}  // namespace specbench::engine
