#include "suites/batch_equality.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "suites/cancellable.h"

namespace specbench::suites {

using results::Check;
using results::CheckStatus;

engine::SamplingParams all_processors(const Context& context, double temperature) {
  std::vector<std::pair<int, engine::TokenId>> counts(
      static_cast<std::size_t>(context.model.config.vocab_size));
  for (std::size_t id = 0; id < counts.size(); ++id)
    counts[id].second = static_cast<engine::TokenId>(id);
  for (const Prompt& prompt : context.prompts)
    for (const engine::TokenId id : prompt.ids) ++counts[static_cast<std::size_t>(id)].first;
  for (const engine::TokenId id : context.model.config.eos)
    counts[static_cast<std::size_t>(id)].first = -1;
  std::partial_sort(counts.begin(), counts.begin() + 2, counts.end(), std::greater<>());
  engine::SamplingParams params;
  params.temperature = temperature;
  params.top_k = 50;
  params.top_p = 0.9;
  params.min_p = 0.05;
  params.banned = {counts[0].second};
  params.logit_bias = {{counts[1].second, 1.5}};
  params.repetition_penalty = 1.1;
  params.presence_penalty = 0.3;
  params.frequency_penalty = 0.2;
  return params;
}

engine::DecodeOptions sampled_options(const Context& context) {
  engine::DecodeOptions options = decode_options(context, "one-hot");
  if (options.sampling.is_greedy()) options.sampling.temperature = 1.0;
  return options;
}

engine::Steps steps_beside_rule(const Faults& faults) {
  engine::Steps steps = faults.steps;
  steps.accept = nullptr;
  return steps;
}

Check passed_equality(const std::string& id, std::int64_t n_tokens, std::size_t n_requests,
                      Counters& counters) {
  counters.emplace_back(id + ".tokens", n_tokens);
  return {id, CheckStatus::kPassed,
          fmt::format("{} tokens of {} prompts are equal, one by one.", n_tokens, n_requests)};
}

namespace {

constexpr int kBatch = 16;

/// The token rule, whose output depends on the request's key alone: alone and in company.
class BatchEquality {
 public:
  BatchEquality(const Context& context, std::span<const engine::Request> requests, int length,
                const Faults& faults)
      : context_(context),
        faults_(faults),
        length_(length),
        options_(sampled_options(context)),
        requests_(requests.begin(), requests.end()) {
    options_.verifier = &engine::find_verifier("token", options_.sampling);
    options_.steps = steps_beside_rule(faults);
    for (std::size_t i = 0; i < requests_.size(); ++i) make_own(requests_[i], i);
  }

  Check check(Counters& counters) {
    const auto alone = decode_alone();
    const auto together = decode(requests_);
    const auto in_company = decode(shuffled_among_others());
    if (*context_.stop) return {kId, CheckStatus::kSkipped, "Interrupted."};
    std::int64_t n_tokens = 0;
    for (const engine::Completion& own : alone) {
      for (const auto* others : {&together, &in_company})
        if (const std::string difference = difference_of(own, *others); !difference.empty())
          return {kId, CheckStatus::kFailed,
                  difference + (others == &together ? "in a batch." : "in another batch.")};
      n_tokens += 2 * static_cast<std::int64_t>(own.tokens.size());
    }
    return passed_equality(kId, n_tokens, alone.size(), counters);
  }

 private:
  static constexpr const char* kId = "equality.batch";

  // By turns: as the run says; greedy; every processor and a seed of its own; only the seed.
  void make_own(engine::Request& request, std::size_t i) const {
    if (i % 4 == 1) request.sampling = engine::SamplingParams{.temperature = 0.0};
    if (i % 4 == 2) request.sampling = all_processors(context_, 0.7);
    if (i % 4 >= 2) request.seed = options_.seed + 1000 + i;
  }

  // Each by itself, its seed and sampling those of the run: what the request's own must mean. A
  // greedy one has a plainer baseline, free of faults.
  std::vector<engine::Completion> decode_alone() const {
    std::vector<engine::Completion> completions;
    const auto backend = open(1);
    const auto plain = open_backend(context_, 1, length_, 0);
    Cancellable observer(*context_.stop);
    for (engine::Request request : requests_) {
      engine::DecodeOptions options = options_;
      options.sampling = request.sampling.value_or(options.sampling);
      options.seed = request.seed.value_or(options.seed);
      options.verifier = &engine::find_verifier("token", options.sampling);
      request.sampling.reset();
      request.seed.reset();
      const bool is_greedy = options.sampling.is_greedy();
      if (is_greedy) options.steps = {};
      completions.push_back(
          is_greedy
              ? engine::decode_autoregressive(*plain, {&request, 1}, options, observer).front()
              : decode_with(*backend, {&request, 1}, options).front());
    }
    return completions;
  }

  std::vector<engine::Completion> decode(std::span<const engine::Request> requests) const {
    return decode_with(*open(kBatch), requests, options_);
  }

  // Back to front, each behind a stranger of another seed, temperature and length.
  std::vector<engine::Request> shuffled_among_others() const {
    std::vector<engine::Request> mixed;
    for (std::size_t i = requests_.size(); i-- > 0;) {
      engine::Request stranger{100'000 + static_cast<std::uint32_t>(i),
                               context_.prompts[(7 * i + 3) % context_.prompts.size()].ids,
                               1 + requests_[i].max_tokens / static_cast<int>(2 + i % 3)};
      stranger.seed = 77 + i;
      stranger.sampling = engine::SamplingParams{.temperature = 0.5 * static_cast<double>(i % 4)};
      mixed.push_back(std::move(stranger));
      mixed.push_back(requests_[i]);
    }
    return mixed;
  }

  std::unique_ptr<engine::Backend> open(int batch) const {
    return open_backend(context_, batch, length_, options_.draft_tokens, kPoisonByDefault,
                        faults_.n_visible);
  }

  std::vector<engine::Completion> decode_with(engine::Backend& backend,
                                              std::span<const engine::Request> requests,
                                              const engine::DecodeOptions& options) const {
    Cancellable observer(*context_.stop);
    return engine::decode_speculative(backend, *open_drafter(context_), requests, options,
                                      observer);
  }

  // Empty, or how the request's tokens among `others` differ; ends in front of where.
  static std::string difference_of(const engine::Completion& own,
                                   const std::vector<engine::Completion>& others) {
    const auto other = std::find_if(others.begin(), others.end(),
                                    [&](const auto& c) { return c.request == own.request; });
    const auto [left, right] = std::mismatch(own.tokens.begin(), own.tokens.end(),
                                             other->tokens.begin(), other->tokens.end());
    if (left == own.tokens.end() && right == other->tokens.end()) return "";
    const auto id = [](auto at, auto end) { return at == end ? "the end" : std::to_string(*at); };
    return fmt::format("Request {}: emitted token {} is {} alone and {} ", own.request,
                       left - own.tokens.begin(), id(left, own.tokens.end()),
                       id(right, other->tokens.end()));
  }

  const Context& context_;
  const Faults& faults_;
  int length_;
  engine::DecodeOptions options_;
  std::vector<engine::Request> requests_;
};

}  // namespace

Check check_batch(const Context& context, std::span<const engine::Request> requests, int length,
                  const Faults& faults, Counters& counters) {
  return BatchEquality(context, requests, length, faults).check(counters);
}

}  // namespace specbench::suites
