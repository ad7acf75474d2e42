// What is done to a row of logits before it becomes a law: bias, bans, min_tokens, penalties, in
// one order for every row of every path. Sees a row and its past, nothing else, and keeps no state.
#pragma once

#include <span>

#include "engine/sampling.h"
#include "engine/types.h"

namespace specbench::engine {

/// What stands before a row: everything that could change its processors.
struct RowPast {
  std::span<const TokenId> prompt;
  std::span<const TokenId> emitted;  ///< committed behind the prompt
  std::span<const TokenId> drafted;  ///< of the round under way, before this row
  std::span<const TokenId> eos;      ///< what ends a text, forbidden below min_tokens; may be empty

  int n_emitted() const { return static_cast<int>(emitted.size() + drafted.size()); }
};

/// Changes the logits in place: adds the biases, sets bans to -inf, and EOS too while fewer than
/// min_tokens are out; then the repetition penalty (Keskar et al. 2019: a positive logit of a seen
/// id is divided, a negative one multiplied; prompt and output count), then presence and frequency
/// penalties (output only: subtracted once, and once for each occurrence). Evaluated in double,
/// stored as float.
void process_logits(float* logits, int n_ids, const SamplingParams& params, const RowPast& past);

/// Throws InputError where a bias or ban names an id outside the vocabulary, or where bans (with
/// EOS below min_tokens) leave no token.
void validate_ids(const SamplingParams& params, int n_ids, std::span<const TokenId> eos);

}  // namespace specbench::engine
