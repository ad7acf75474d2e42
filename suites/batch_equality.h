// What a request gets does not depend on who is decoded with it: the token rule alone and in
// batches. And what the cases of equality share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/decode.h"
#include "results/record.h"
#include "suites/context.h"
#include "suites/faults.h"

namespace specbench::suites {

using Counters = std::vector<std::pair<std::string, std::int64_t>>;

/// Every processor at once. The id that the prompts hold most often is banned and the next made
/// likelier, so that both show whatever the model.
engine::SamplingParams all_processors(const Context& context, double temperature);

/// The options', at temperature 1 where they are greedy.
engine::DecodeOptions sampled_options(const Context& context);

/// All that is planted but a rule: it stands for another rule than the case's.
engine::Steps steps_beside_rule(const Faults& faults);

/// Equal: the check, and its counter of tokens.
results::Check passed_equality(const std::string& id, std::int64_t n_tokens, std::size_t n_requests,
                               Counters& counters);

/// "equality.batch". The requests are given seeds, temperatures and processors of their own by
/// turns; sequences have `length` positions at most.
results::Check check_batch(const Context& context, std::span<const engine::Request> requests,
                           int length, const Faults& faults, Counters& counters);

}  // namespace specbench::suites
