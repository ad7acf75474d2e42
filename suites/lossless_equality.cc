#include "suites/lossless_equality.h"

#include <algorithm>

#include "suites/batch_equality.h"
#include "suites/cancellable.h"
#include "suites/tally.h"

namespace specbench::suites {

namespace {

using results::Check;
using results::CheckStatus;

constexpr int kBatch = 16;
// Of the cases beyond the plain four.
constexpr std::size_t kFewPrompts = 16;
constexpr int kFewTokens = 48;

/// One way of decoding whose output is fixed token by token.
struct EqualityCase {
  const char* id;
  const char* verifier;
  double temperature;   ///< below 0: the options' (1 where that is greedy)
  const char* drafter;  ///< null: the options'
  bool has_processors = false;
  bool is_extra = false;
  bool has_stops = false;  ///< texts end at stop strings, not before the eighth token
};

constexpr EqualityCase kCases[] = {
    {"equality.greedy", "greedy", 0.0, nullptr},
    {"equality.coupled", "coupled", -1.0, nullptr},
    {"equality.one-hot", "one-hot", -1.0, nullptr},
    {"equality.null-draft", "token", -1.0, "null"},
    {"equality.null-draft-block", "block", -1.0, "null", false, true},
    {"equality.greedy-processors", "greedy", 0.0, nullptr, true, true},
    {"equality.coupled-processors", "coupled", 0.7, nullptr, true, true},
    {"equality.greedy-stops", "greedy", 0.0, nullptr, false, true, true},
    {"equality.coupled-stops", "coupled", 1.0, nullptr, false, true, true}};

engine::DecodeOptions options_of(const Context& context, const EqualityCase& equality) {
  engine::DecodeOptions options = sampled_options(context);
  if (equality.has_processors)
    options.sampling = all_processors(context, equality.temperature);
  else if (equality.temperature >= 0.0)
    options.sampling.temperature = equality.temperature;
  if (equality.has_stops) {
    options.stop_texts = {",", ".", "and"};
    options.sampling.min_tokens = 8;
  }
  options.verifier = &engine::find_verifier(equality.verifier, options.sampling);
  return options;
}

Check check_case(const Context& context, const EqualityCase& equality,
                 std::span<const engine::Request> requests, int length, const Faults& faults,
                 Counters& counters) {
  Cancellable observer(*context.stop);
  engine::DecodeOptions options = options_of(context, equality);
  const auto alone = open_backend(context, 1, length, 0);
  const auto baseline = engine::decode_autoregressive(*alone, requests, options, observer);

  options.steps = steps_beside_rule(faults);
  const auto batched = open_backend(context, kBatch, length, options.draft_tokens, kPoisonByDefault,
                                    faults.n_visible);
  const auto drafter =
      engine::make_drafter(equality.drafter != nullptr ? equality.drafter : context.options.drafter,
                           context.options.draft_layers, context.model.config);
  const auto speculative =
      engine::decode_speculative(*batched, *drafter, requests, options, observer);
  if (*context.stop) return {equality.id, CheckStatus::kSkipped, "Interrupted."};

  std::int64_t n_tokens = 0;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    n_tokens += static_cast<std::int64_t>(baseline[i].tokens.size());
    if (baseline[i].tokens != speculative[i].tokens)
      return {equality.id, CheckStatus::kFailed, first_difference(baseline[i], speculative[i])};
  }
  return passed_equality(equality.id, n_tokens, baseline.size(), counters);
}

}  // namespace

std::vector<Check> check_equality(const Context& context, int n_prompts, int max_tokens,
                                  const Faults& faults, Counters& counters) {
  // As long as the model has positions for.
  max_tokens =
      std::clamp(max_tokens, 1, context.model.config.max_positions - longest_sequence(context, 0));
  std::vector<engine::Request> requests;
  for (const Prompt& prompt : context.prompts) {
    if (static_cast<int>(requests.size()) == n_prompts) break;
    requests.push_back({static_cast<std::uint32_t>(requests.size()), prompt.ids, max_tokens});
  }
  std::vector<engine::Request> few(
      requests.begin(),
      requests.begin() + static_cast<std::ptrdiff_t>(std::min(requests.size(), kFewPrompts)));
  for (engine::Request& request : few) request.max_tokens = std::min(max_tokens, kFewTokens);
  const int length = longest_sequence(context, max_tokens);
  std::vector<Check> checks;
  for (const EqualityCase& equality : kCases) {
    if (*context.stop) return checks;
    context.progress->show(std::string("lossless: ") + equality.id, 0, 0);
    checks.push_back(check_case(context, equality, equality.is_extra ? few : requests, length,
                                faults, counters));
  }
  if (!*context.stop) checks.push_back(check_batch(context, few, length, faults, counters));
  return checks;
}

}  // namespace specbench::suites
