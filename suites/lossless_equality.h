// Where equality must hold, nothing less will do: greedy, coupled and one-hot speculative output
// equals autoregressive output token for token, with and without processors; an empty draft changes
// nothing under the token and the block rule; and what a request gets does not depend on who is
// decoded with it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/record.h"
#include "suites/context.h"
#include "suites/faults.h"

namespace specbench::suites {

/// One check a case, ids "equality.*", and a counter "<id>.tokens" of the tokens compared.
/// Speculative decoding is in a batch and has the faults; the baselines are autoregressive, one
/// sequence at a time, and free of them. "equality.batch" compares the token rule with itself, with
/// the faults on both sides: alone, where seed and sampling are the run's, and in two batches,
/// where they are the request's own; greedy requests are held against the plain baseline. A planted
/// rule is left out: it stands for another rule than the case's. At most n_prompts of max_tokens
/// each; the cases beyond the plain four make do with fewer. Stops early at Ctrl-C.
std::vector<results::Check> check_equality(
    const Context& context, int n_prompts, int max_tokens, const Faults& faults,
    std::vector<std::pair<std::string, std::int64_t>>& counters);

}  // namespace specbench::suites
