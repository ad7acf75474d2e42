// The model suite: what a model makes of real text under the chosen backend, and whether the
// backends agree on it. The figures that another engine's are held against (ci/oracles).
#pragma once

#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// Largest |log p - log p'| of two backends that passes. Both add the same products in other
/// orders: sums of up to 16,384 float32 terms err by some 1e-5 of their size, twice a layer, and
/// logits reach 30; 32 layers then give a few thousandths.
inline constexpr double kMaxBackendDifference = 1e-2;

/// Scores the texts of --prompts (default: the embedded passages), each up to --max-tokens (default
/// 1,024) and the model's positions, at most --max-prompts of them (default 10). Metrics
/// perplexity, nats_per_token, bits_per_byte, backend_difference; table texts; and, for a record
/// that is kept, tokens: text, pos, token, log_prob (nats) and the five likeliest ids with theirs.
/// Exit code 1 where a probability is not finite or the backends differ. Throws engine::InputError
/// where no text has two tokens.
void run_model(const Context& context, results::Record& record);

/// The record of a model run as a terminal shows it: without the table of tokens.
results::Record without_tokens(results::Record record);

}  // namespace specbench::suites
