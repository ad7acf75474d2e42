#include "suites/cache_audit.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/error.h"

namespace specbench::suites {

void CacheAudit::count_eos(const engine::Round& round) {
  if (round.n_verdict < round.n_drafted())
    eos.n_refused +=
        is_eos(round.proposal.drafted[static_cast<std::size_t>(round.n_verdict)]) ? 1 : 0;
  if (round.stop != engine::StopReason::kEos) return;
  ++(round.is_cut                          ? eos.n_accepted
     : round.n_verdict < round.n_drafted() ? eos.n_corrected
                                           : eos.n_bonus);
}

void CacheAudit::audit(const engine::Round& round, std::span<const engine::TokenId> tokens) {
  const engine::ModelConfig& c = backend_.config();
  std::vector<engine::Row> rows;
  for (int pos = 0; pos + 1 < static_cast<int>(tokens.size()); ++pos)
    rows.push_back({0, pos, tokens[static_cast<std::size_t>(pos)], pos});
  fresh_.reset(0, round.request);
  fresh_.forward(rows, 0, c.n_layers);
  const auto width = static_cast<std::size_t>(c.n_kv_heads * c.head_dim);
  std::vector<float> key(width), value(width), fresh_key(width), fresh_value(width);
  for (int layer = 0; layer < c.n_layers; ++layer) {
    for (const engine::Row& row : rows) {
      backend_.read_kv(round.lane, layer, row.pos, key, value);
      fresh_.read_kv(0, layer, row.pos, fresh_key, fresh_value);
      if (std::memcmp(key.data(), fresh_key.data(), width * sizeof(float)) != 0 ||
          std::memcmp(value.data(), fresh_value.data(), width * sizeof(float)) != 0)
        throw engine::StateViolation(fmt::format(
            "KV cache after round {} of request {}, lane {}, layer {}: the entry at position {} "
            "is not what a fresh prefill of the same tokens writes.",
            round.index, round.request, round.lane, layer, row.pos));
    }
  }
  ++n_audits;
  n_entries += static_cast<std::int64_t>(rows.size()) * c.n_layers;
}

}  // namespace specbench::suites
