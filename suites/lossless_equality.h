// Where equality must hold, nothing less will do: greedy, coupled and one-hot speculative output
// equals autoregressive output token for token, and an empty draft changes nothing under the token
// rule.
#pragma once

#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// Decodes the prompts both ways, autoregressively one sequence at a time, speculatively in a
/// batch, and adds a check and a counter of tokens a verifier. n_prompts at most, max_tokens each.
void check_equality(const Context& context, int n_prompts, int max_tokens,
                    const engine::Steps& steps, results::Record& record);

}  // namespace specbench::suites
