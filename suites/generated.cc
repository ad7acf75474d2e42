// Runs a generation and gathers what it gave (lossless_end_to_end.h).
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/error.h"
#include "suites/lossless_end_to_end.h"

namespace specbench::suites {

using results::CheckStatus;

namespace {

constexpr std::size_t kRequestsPerWave = 2048;

engine::DecodeOptions decode_options_of(const Context& context, const Generation& generation,
                                        const Faults& faults) {
  engine::DecodeOptions options = decode_options(context);
  options.sampling = generation.sampling;
  options.verifier = generation.verifier;
  options.stop_texts = generation.stop_texts;
  options.draft_tokens = generation.draft_tokens;
  options.seed = generation.seed;
  options.steps = faults.steps;
  return options;
}

/// Decodes waves of requests over the prompts until enough tokens were seen, or none come any more.
std::vector<engine::Completion> decode_waves(const Context& context, const Generation& generation,
                                             const engine::DecodeOptions& options,
                                             const Faults& faults, EndToEnd& rounds) {
  const int length = longest_sequence(context, generation.max_tokens);
  const auto backend = open_backend(context, generation.batch, length, options.draft_tokens,
                                    kPoisonByDefault, faults.n_visible);
  const auto forcing = open_backend(context, 1, length, length);
  const auto drafter = open_drafter(context);
  std::vector<engine::Completion> returned;
  const bool is_greedy = options.sampling.is_greedy();
  const std::size_t wave_size = is_greedy ? context.prompts.size() : kRequestsPerWave;
  std::int64_t n_before = -1;
  std::uint32_t next = 0;
  while (!rounds.is_cancelled() && rounds.n_rounds > n_before && !(is_greedy && next > 0)) {
    n_before = rounds.n_rounds;
    std::vector<engine::Request> wave;
    for (std::size_t i = 0; i < wave_size; ++i)
      wave.push_back(request_of(context, generation, next++));
    for (engine::Completion& completion :
         engine::decode_speculative(*backend, *drafter, wave, options, rounds))
      returned.push_back(std::move(completion));
    rounds.forced.check(*forcing);
  }
  return returned;
}

}  // namespace

Generated test_generation(const Context& context, const Generation& generation,
                          const Faults& faults) {
  const engine::DecodeOptions options = decode_options_of(context, generation, faults);
  EndToEnd rounds(context, generation, faults);
  Generated generated;
  std::vector<engine::Completion> returned;
  std::string violation;
  try {
    returned = decode_waves(context, generation, options, faults, rounds);
  } catch (const engine::StateViolation& broken) {
    violation = broken.what();
  }
  if (violation.empty())
    generated.findings.checks.push_back(
        {generation.name + ".state", CheckStatus::kPassed,
         fmt::format("lengths, positions, counts and supports held in every one of {} rounds.",
                     rounds.n_rounds)});
  else
    generated.findings.checks.push_back(violated(generation.name, violation));
  if (!options.sampling.is_greedy())  // a point mass needs no statistics
    generated.findings.add(rounds.tests());
  generated.findings.add(rounds.checks());
  if (violation.empty())
    for (results::Check& check : check_identities(rounds, returned, options.draft_tokens)) {
      check.id = generation.name + "." + check.id;
      generated.findings.checks.push_back(std::move(check));
    }
  generated.certified_tv = rounds.certified_tv();
  generated.mismatches = mismatch_table(rounds.replay());
  generated.tally = rounds;
  generated.pit = rounds.pit_table();
  return generated;
}

}  // namespace specbench::suites
