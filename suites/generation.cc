#include "suites/generation.h"

#include <algorithm>
#include <string>

#include "engine/error.h"

namespace specbench::suites {

namespace {

constexpr int kTokensPerRequest = 96;
constexpr int kDefaultBatch = 64, kSmallestBatch = 16;
constexpr int kMostDrafted = 8;                  // of the settings below
constexpr std::int64_t kLawBytes = 512ll << 20;  // of a batch, at most
constexpr double kSettingTau = 6.0;  // a setting sees fewer tokens: it looks for coarser drifts

// As many as the laws of a round have room for: with 128,256 ids and 8 drafts those of one sequence
// are 23 MB, and settings run side by side. A text is the same in any batch.
int default_batch(const Context& context) {
  const int g = std::max(kMostDrafted, context.options.draft_tokens);
  constexpr std::int64_t kLaw = sizeof(double), kLogit = sizeof(float);
  // Target rows with their logits, drafts, and one residual.
  const std::int64_t of_an_id = (g + 1) * (kLaw + kLogit) + (g + 1) * kLaw;
  const std::int64_t n = kLawBytes / (of_an_id * context.model.config.vocab_size);
  return static_cast<int>(std::clamp<std::int64_t>(n, kSmallestBatch, kDefaultBatch));
}

}  // namespace

int end_to_end_tokens(const Context& context) {
  const Options& o = context.options;
  const int max_tokens = o.max_tokens > 0 ? o.max_tokens : kTokensPerRequest;
  if (max_tokens < 2)
    throw engine::InputError(
        "--max-tokens is 1; the lossless suite needs at least 2, since the first token belongs to "
        "the prefill.");
  const int longest = longest_sequence(context, max_tokens);
  if (longest > context.model.config.max_positions)
    throw engine::InputError("A prompt with " + std::to_string(max_tokens) + " tokens more has " +
                             std::to_string(longest) + " positions; " + context.model.name +
                             " has " + std::to_string(context.model.config.max_positions) +
                             ", so lower --max-tokens.");
  return max_tokens;
}

Generation main_generation(const Context& context, std::int64_t n_tokens, std::uint64_t seed) {
  const Options& o = context.options;
  Generation generation;
  generation.sampling = o.sampling;
  generation.verifier = decode_options(context).verifier;
  generation.stop_texts = o.stop_texts;
  generation.draft_tokens = o.draft_tokens;
  generation.batch = o.batch > 0 ? o.batch : default_batch(context);
  generation.max_tokens = end_to_end_tokens(context);
  generation.n_tokens = n_tokens;
  generation.seed = seed;
  return generation;
}

std::vector<Generation> setting_generations(const Context& context, std::int64_t n_tokens,
                                            std::uint64_t seed) {
  const int n_ids = context.model.config.vocab_size;
  std::vector<Generation> settings;
  const auto add = [&](const char* name, int draft_tokens) -> Generation& {
    Generation g = main_generation(context, n_tokens, seed + settings.size() + 1);
    g.name = std::string("setting.") + name;
    g.sampling = {};
    g.stop_texts.clear();
    g.draft_tokens = context.options.draft_tokens == 0 ? 0 : draft_tokens;
    g.tau_factor = kSettingTau;
    g.looks_at_coins = false;  // a few thousand tokens say little of it
    settings.push_back(g);
    return settings.back();
  };
  add("T07", 4).sampling.temperature = 0.7;
  add("top-k", 8).sampling.top_k = 50;
  engine::SamplingParams& top_p = add("top-p", 1).sampling;
  top_p.temperature = 0.7;
  top_p.top_p = 0.9;
  add("min-p", 4).sampling.min_p = 0.05;
  engine::SamplingParams& penalties = add("penalties", 4).sampling;
  penalties.repetition_penalty = 1.2;
  penalties.presence_penalty = 0.4;
  penalties.frequency_penalty = 0.3;
  penalties.min_tokens = 8;
  if (n_ids >= 16) penalties.banned = {n_ids / 3};
  for (const engine::TokenId eos : context.model.config.eos)
    penalties.logit_bias.emplace_back(eos, 6.0);  // texts end early: every kind of stop is seen
  add("stops", 4).stop_texts = {",", ".", "and"};
  Generation& mixed = add("mixed", 4);
  mixed.has_greedy_rows = true;
  return settings;
}

engine::Request request_of(const Context& context, const Generation& generation, std::uint32_t id) {
  engine::Request request{id, context.prompts[id % context.prompts.size()].ids,
                          generation.max_tokens};
  if (generation.has_greedy_rows && id % 3 == 0) {
    request.sampling = generation.sampling;
    request.sampling->temperature = 0.0;
  }
  return request;
}

}  // namespace specbench::suites
