// The sweep suite: which exit layer and draft length decode fastest here? One interleaved
// measurement of autoregressive decoding and of every cell of the grid. Says where to look, not how
// fast the winner is: that is for the latency suite.
#pragma once

#include <vector>

#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// What is measured. Layers that are not below the model's are left out.
struct SweepGrid {
  std::vector<int> layers{1, 2, 3, 4, 6, 9};
  std::vector<int> draft_tokens{1, 2, 3, 4, 6, 8};
  int n_prompts = 4;
  int max_tokens = 32;  ///< of a prompt, where --max-tokens does not say
};

/// Exit codes in the record: 0 measured, 1 a check failed and nothing was timed or what was timed
/// is refused, 3 nothing could be measured, or not undisturbed. Throws engine::InputError for
/// another drafter than layer-skip, a batch, --max-tokens 1, or a model without a layer to leave
/// out.
void run_sweep(const Context& context, results::Record& record, const SweepGrid& grid = {});

}  // namespace specbench::suites
