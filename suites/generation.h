// One way of generating text in the lossless suite: what is asked of the decoder, and how closely
// its tokens are looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "stats/e_process.h"
#include "suites/context.h"

namespace specbench::suites {

struct Generation {
  std::string name = "real";  ///< begins the ids of its tests
  engine::SamplingParams sampling;
  const engine::Verifier* verifier = nullptr;
  std::vector<std::string> stop_texts;
  int draft_tokens = 0;
  int batch = 1;
  int max_tokens = 0;         ///< of a request
  std::int64_t n_tokens = 0;  ///< verified draws wanted
  std::uint64_t seed = 0;
  double tau_factor = 1.0;              ///< drifts of interest, as a multiple of budget.h's
  bool looks_at_coins = true;           ///< keeps a ledger of them and looks for dependence
  bool has_greedy_rows = false;         ///< every third request asks for temperature 0
  stats::EProcess* evidence = nullptr;  ///< takes every token's transform in p/q order; or null
};

/// As the options say, with n_tokens draws.
Generation main_generation(const Context& context, std::int64_t n_tokens, std::uint64_t seed);

/// Other temperatures, filters, penalties and draft lengths than the user's, n_tokens draws each:
/// T = .7, top-k 50, top-p .9, min-p .05, penalties with a ban and min_tokens where EOS is likely,
/// stop strings, and a batch that mixes greedy and sampled requests; g in {1, 4, 8}.
std::vector<Generation> setting_generations(const Context& context, std::int64_t n_tokens,
                                            std::uint64_t seed);

/// The request `id` of a generation: a prompt in turn, every sequence of the same length at most.
engine::Request request_of(const Context& context, const Generation& generation, std::uint32_t id);

/// Tokens a request of the main generation emits at most. Throws engine::InputError if --max-tokens
/// is 1 or more than the model has positions for.
int end_to_end_tokens(const Context& context);

}  // namespace specbench::suites
