#include "engine/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>

#include "engine/error.h"
#include "engine/weigh.h"

namespace specbench::engine {

void validate(const SamplingParams& params) {
  const auto refuse = [](const char* option, double value, const char* range) {
    char text[32];  // the shortest form: 1e-05 must not read as zero, nor -1 as -1.000000
    (void)std::snprintf(text, sizeof text, "%.10g", value);
    throw InputError(std::string("--") + option + " is " + text + "; it must be " + range + ".");
  };
  if (!(params.temperature >= 0.0) || params.temperature > 100.0)
    refuse("temperature", params.temperature, "0 (greedy) to 100");
  if (params.temperature > 0.0 && params.temperature < 0.001)
    refuse("temperature", params.temperature, "0 (greedy) or at least 0.001");
  if (params.top_k < 0) refuse("top-k", params.top_k, "0 (off) or more");
  if (!(params.top_p > 0.0) || params.top_p > 1.0)
    refuse("top-p", params.top_p, "above 0 and at most 1 (off)");
  if (!(params.min_p >= 0.0) || params.min_p > 1.0) refuse("min-p", params.min_p, "0 (off) to 1");
  if (params.min_tokens < 0) refuse("min-tokens", params.min_tokens, "0 (off) or more");
  if (!(params.repetition_penalty >= 0.01) || params.repetition_penalty > 100.0)
    refuse("repetition-penalty", params.repetition_penalty, "0.01 to 100 (1: off)");
  if (!(std::fabs(params.presence_penalty) <= 100.0))
    refuse("presence-penalty", params.presence_penalty, "-100 to 100 (0: off)");
  if (!(std::fabs(params.frequency_penalty) <= 100.0))
    refuse("frequency-penalty", params.frequency_penalty, "-100 to 100 (0: off)");
  for (const auto& [id, bias] : params.logit_bias)
    if (!(std::fabs(bias) <= 1000.0)) refuse("logit-bias", bias, "-1000 to 1000; --ban forbids");
}

LawBuffer::LawBuffer(int n_laws, int n_ids)
    : n_ids_(n_ids),
      weights_(static_cast<std::size_t>(n_laws) * static_cast<std::size_t>(padded_size(n_ids))),
      chunk_sums_(static_cast<std::size_t>(n_laws) * static_cast<std::size_t>(n_chunks(n_ids))) {}

namespace {

// Largest logit. A NaN or +inf makes the row unusable: every comparison below would go wrong
// silently.
float checked_max(const float* logits, int n_ids) {
  float largest = -std::numeric_limits<float>::infinity();
  bool has_nan = false;
  for (int id = 0; id < n_ids; ++id) {
    has_nan |= !(logits[id] == logits[id]);
    largest = logits[id] > largest ? logits[id] : largest;
  }
  if (!has_nan && std::isfinite(largest)) return largest;
  const int at =
      static_cast<int>(std::find_if(logits, logits + n_ids,
                                    [](float x) { return std::isnan(x) || x == HUGE_VALF; }) -
                       logits);
  if (at == n_ids)
    throw StateViolation("A row of logits is -inf everywhere: no token is possible.");
  throw StateViolation("A row of logits is not finite: id " + std::to_string(at) + " has " +
                       std::to_string(logits[at]) + ".");
}

// Likeliest first, ties by ascending id: one integer that sorts descending.
std::uint64_t rank_key(const float* logits, int id) {
  return (static_cast<std::uint64_t>(ordered_key(logits[id])) << 32) |
         (0xffffffffU - static_cast<std::uint32_t>(id));
}
int id_of_key(std::uint64_t key) {
  return static_cast<int>(0xffffffffU - static_cast<std::uint32_t>(key));
}

std::vector<std::uint64_t> keys_with_mass(const float* logits, const double* weights, int n_ids) {
  std::vector<std::uint64_t> keys;
  keys.reserve(static_cast<std::size_t>(n_ids));
  for (int id = 0; id < n_ids; ++id)
    if (weights[id] > 0.0) keys.push_back(rank_key(logits, id));
  return keys;
}

void zero_ids_of(std::span<const std::uint64_t> keys, double* weights) {
  for (const std::uint64_t key : keys) weights[id_of_key(key)] = 0.0;
}

void keep_top_k(const float* logits, int n_ids, int top_k, double* weights) {
  auto keys = keys_with_mass(logits, weights, n_ids);
  const auto k = static_cast<std::size_t>(top_k);
  if (keys.size() <= k) return;
  std::nth_element(keys.begin(), keys.begin() + top_k, keys.end(), std::greater<>());
  zero_ids_of(std::span(keys).subspan(k), weights);
}

// Mass in units of 2^-60 of the total: integers, so that the kept set does not depend on an order
// of addition.
std::uint64_t fixed_mass(double weight, double total) {
  return static_cast<std::uint64_t>(weight / total * 0x1p60);
}

void keep_top_p(const float* logits, int n_ids, double top_p, double* weights, double* chunk_sums) {
  const double total = sum_chunks(weights, n_ids, chunk_sums);
  auto keys = keys_with_mass(logits, weights, n_ids);
  std::uint64_t all = 0;
  for (const std::uint64_t key : keys) all += fixed_mass(weights[id_of_key(key)], total);
  // At least one unit, so that the likeliest id stays even where top_p rounds to nothing.
  const auto wanted =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(top_p * static_cast<double>(all)));
  // Sorted in growing pieces: the kept set is usually short.
  std::uint64_t kept = 0;
  std::size_t sorted = 0;
  std::size_t n_kept = 0;
  while (n_kept < keys.size() && kept < wanted) {
    if (n_kept == sorted) {
      const std::size_t next = std::min(keys.size(), std::max<std::size_t>(64, sorted * 4));
      const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(next);
      std::partial_sort(keys.begin() + static_cast<std::ptrdiff_t>(sorted), middle, keys.end(),
                        std::greater<>());
      sorted = next;
    }
    kept += fixed_mass(weights[id_of_key(keys[n_kept])], total);
    ++n_kept;
  }
  zero_ids_of(std::span(keys).subspan(std::max<std::size_t>(n_kept, 1)), weights);
}

}  // namespace

Law make_law(const float* logits, int n_ids, const SamplingParams& params, double* weights,
             double* chunk_sums) {
  const float largest = checked_max(logits, n_ids);
  if (params.is_greedy()) return {nullptr, nullptr, 1.0, n_ids, argmax(logits, n_ids)};
  weigh(logits, n_ids, largest, 1.0 / params.temperature, weights);
  if (params.top_k > 0) keep_top_k(logits, n_ids, params.top_k, weights);
  if (params.top_p < 1.0) keep_top_p(logits, n_ids, params.top_p, weights, chunk_sums);
  if (params.min_p > 0.0)  // the likeliest id has weight exactly 1
    for (int id = 0; id < n_ids; ++id)
      weights[id] = weights[id] >= params.min_p ? weights[id] : 0.0;
  return {weights, chunk_sums, sum_chunks(weights, n_ids, chunk_sums), n_ids, -1};
}

}  // namespace specbench::engine
