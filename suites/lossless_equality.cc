#include "suites/lossless_equality.h"

#include <algorithm>
#include <string>

#include "suites/cancellable.h"
#include "suites/tally.h"

namespace specbench::suites {

namespace {

constexpr int kBatch = 16;

/// One way of decoding whose output is fixed token by token.
struct EqualityCase {
  const char* id;
  const char* verifier;
  double temperature;   ///< below 0: the options' (1 where that is greedy)
  const char* drafter;  ///< null: the options'
};

constexpr EqualityCase kCases[] = {{"equality.greedy", "greedy", 0.0, nullptr},
                                   {"equality.coupled", "coupled", -1.0, nullptr},
                                   {"equality.one-hot", "one-hot", -1.0, nullptr},
                                   {"equality.null-draft", "token", -1.0, "null"}};

engine::DecodeOptions options_of(const Context& context, const EqualityCase& equality) {
  engine::DecodeOptions options = decode_options(context, "one-hot");
  if (equality.temperature >= 0.0)
    options.sampling.temperature = equality.temperature;
  else if (options.sampling.is_greedy())
    options.sampling.temperature = 1.0;
  options.verifier = &engine::find_verifier(equality.verifier, options.sampling);
  return options;
}

results::Check check_case(const Context& context, const EqualityCase& equality,
                          std::span<const engine::Request> requests, int length,
                          const engine::Steps& steps, results::Record& record) {
  Cancellable observer(*context.stop);
  engine::DecodeOptions options = options_of(context, equality);
  const auto alone = open_backend(context, 1, length, 0);
  const auto baseline = engine::decode_autoregressive(*alone, requests, options, observer);

  options.steps = steps;
  options.steps.accept = nullptr;  // a planted rule replaces the token rule, not these
  const auto batched = open_backend(context, kBatch, length, options.draft_tokens);
  const auto drafter =
      engine::make_drafter(equality.drafter != nullptr ? equality.drafter : context.options.drafter,
                           context.options.draft_layers, context.model.config);
  const auto speculative =
      engine::decode_speculative(*batched, *drafter, requests, options, observer);
  if (*context.stop) return {equality.id, results::CheckStatus::kSkipped, "Interrupted."};

  std::int64_t n_tokens = 0;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    n_tokens += static_cast<std::int64_t>(baseline[i].tokens.size());
    if (baseline[i].tokens != speculative[i].tokens)
      return {equality.id, results::CheckStatus::kFailed,
              first_difference(baseline[i], speculative[i])};
  }
  record.counters.emplace_back(std::string(equality.id) + ".tokens", n_tokens);
  return {equality.id, results::CheckStatus::kPassed,
          std::to_string(n_tokens) + " tokens of " + std::to_string(baseline.size()) +
              " prompts are equal, one by one."};
}

}  // namespace

void check_equality(const Context& context, int n_prompts, int max_tokens,
                    const engine::Steps& steps, results::Record& record) {
  std::vector<engine::Request> requests;
  for (const Prompt& prompt : context.prompts) {
    if (static_cast<int>(requests.size()) == n_prompts) break;
    requests.push_back({static_cast<std::uint32_t>(requests.size()), prompt.ids, max_tokens});
  }
  const int length = longest_sequence(context, max_tokens);
  for (const EqualityCase& equality : kCases) {
    if (*context.stop) return;
    context.progress->show(std::string("lossless: ") + equality.id, 0, 0);
    record.checks.push_back(check_case(context, equality, requests, length, steps, record));
  }
}

}  // namespace specbench::suites
