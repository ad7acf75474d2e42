#include "suites/law_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace specbench::suites {

using engine::RowPast;
using engine::SamplingParams;
using engine::TokenId;

namespace {

using Wide = std::vector<long double>;

int count_in(std::span<const TokenId> ids, TokenId id) {
  return static_cast<int>(std::count(ids.begin(), ids.end(), id));
}

// A logit after bias, bans and penalties. Stored as float after the biases and after the penalties,
// evaluated in double: a processed logit is a float like a raw one.
float processed(float logit, TokenId id, const SamplingParams& params, const RowPast& past) {
  for (const auto& [at, bias] : params.logit_bias)
    if (at == id) logit = static_cast<float>(static_cast<double>(logit) + bias);
  const bool is_too_early =
      static_cast<int>(past.emitted.size() + past.drafted.size()) < params.min_tokens;
  if (count_in(params.banned, id) > 0 || (is_too_early && count_in(past.eos, id) > 0))
    return -std::numeric_limits<float>::infinity();
  const int n_out = count_in(past.emitted, id) + count_in(past.drafted, id);
  if (n_out + count_in(past.prompt, id) == 0) return logit;
  double x = static_cast<double>(logit);
  x = x > 0.0 ? x / params.repetition_penalty : x * params.repetition_penalty;
  if (n_out > 0) x = x - params.presence_penalty - n_out * params.frequency_penalty;
  return static_cast<float>(x);
}

void renormalise(Wide& probs) {
  const long double total = std::accumulate(probs.begin(), probs.end(), 0.0L);
  for (long double& p : probs) p /= total;
}

// Ids from the largest logit down, the smallest id first among equals.
std::vector<std::size_t> ranking(const std::vector<float>& logits) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  return order;
}

void filter(Wide& probs, const std::vector<std::size_t>& order, const SamplingParams& params) {
  if (params.top_k > 0) {
    for (std::size_t rank = static_cast<std::size_t>(params.top_k); rank < order.size(); ++rank)
      probs[order[rank]] = 0.0L;
    renormalise(probs);
  }
  if (params.top_p < 1.0) {
    long double mass = 0.0L;
    for (const std::size_t id : order) {
      const long double p = probs[id];
      if (mass >= static_cast<long double>(params.top_p)) probs[id] = 0.0L;
      mass += p;
    }
    renormalise(probs);
  }
  const long double largest = *std::max_element(probs.begin(), probs.end());
  for (long double& p : probs)
    if (p < static_cast<long double>(params.min_p) * largest) p = 0.0L;
  renormalise(probs);
}

}  // namespace

std::vector<double> oracle_law(std::span<const float> logits, const SamplingParams& params,
                               const RowPast& past) {
  std::vector<float> row(logits.size());
  for (std::size_t id = 0; id < row.size(); ++id)
    row[id] = processed(logits[id], static_cast<TokenId>(id), params, past);
  const std::vector<std::size_t> order = ranking(row);
  std::vector<double> out(row.size());
  if (params.temperature == 0.0) {
    out[order.front()] = 1.0;
    return out;
  }
  Wide probs(row.size());
  for (std::size_t id = 0; id < row.size(); ++id)
    probs[id] = std::exp((static_cast<long double>(row[id]) - row[order.front()]) /
                         static_cast<long double>(params.temperature));
  renormalise(probs);
  filter(probs, order, params);
  std::transform(probs.begin(), probs.end(), out.begin(),
                 [](long double p) { return static_cast<double>(p); });
  return out;
}

TokenId oracle_draw(std::span<const double> probs, double u) {
  const long double total = std::accumulate(probs.begin(), probs.end(), 0.0L);
  long double sum = 0.0L;
  TokenId last = -1;
  for (std::size_t id = 0; id < probs.size(); ++id) {
    if (!(probs[id] > 0.0)) continue;
    last = static_cast<TokenId>(id);
    sum += static_cast<long double>(probs[id]);
    if (static_cast<long double>(u) * total < sum) return last;
  }
  return last;
}

}  // namespace specbench::suites
