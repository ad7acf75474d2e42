#include "engine/processors.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/error.h"

namespace specbench::engine {

namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

void ban(float* logits, std::span<const TokenId> ids) {
  for (const TokenId id : ids) logits[id] = kImpossible;
}

void penalise(float* logits, int n_ids, const SamplingParams& params, const RowPast& past) {
  std::vector<int> n_output(static_cast<std::size_t>(n_ids));
  std::vector<char> is_seen(static_cast<std::size_t>(n_ids));
  std::vector<TokenId> seen;
  const auto note = [&](std::span<const TokenId> ids, int n) {
    for (const TokenId id : ids) {
      const auto at = static_cast<std::size_t>(id);
      n_output[at] += n;
      if (is_seen[at]) continue;
      is_seen[at] = 1;
      seen.push_back(id);
    }
  };
  note(past.prompt, 0);
  note(past.emitted, 1);
  note(past.drafted, 1);
  for (const TokenId id : seen) {
    const int n = n_output[static_cast<std::size_t>(id)];
    double logit = static_cast<double>(logits[id]);
    logit = logit > 0.0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    if (n > 0) logit = logit - params.presence_penalty - n * params.frequency_penalty;
    logits[id] = static_cast<float>(logit);
  }
}

}  // namespace

void process_logits(float* logits, int n_ids, const SamplingParams& params, const RowPast& past) {
  for (const auto& [id, bias] : params.logit_bias)
    logits[id] = static_cast<float>(static_cast<double>(logits[id]) + bias);
  ban(logits, params.banned);
  if (past.n_emitted() < params.min_tokens) ban(logits, past.eos);
  if (params.has_penalties()) penalise(logits, n_ids, params, past);
}

void validate_ids(const SamplingParams& params, int n_ids, std::span<const TokenId> eos) {
  const auto check = [&](const char* option, TokenId id) {
    if (id < 0 || id >= n_ids)
      throw InputError(std::string("--") + option + " names token " + std::to_string(id) +
                       "; the vocabulary has ids 0 to " + std::to_string(n_ids - 1) + ".");
  };
  for (const auto& [id, bias] : params.logit_bias) check("logit-bias", id);
  for (const TokenId id : params.banned) check("ban", id);
  std::vector<TokenId> gone(params.banned);
  if (params.min_tokens > 0) gone.insert(gone.end(), eos.begin(), eos.end());
  std::sort(gone.begin(), gone.end());
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  if (static_cast<int>(gone.size()) >= n_ids)
    throw InputError("--ban leaves no token of the vocabulary of " + std::to_string(n_ids) +
                     (params.min_tokens > 0 ? " while --min-tokens forbids EOS" : "") +
                     "; ban fewer.");
}

}  // namespace specbench::engine
