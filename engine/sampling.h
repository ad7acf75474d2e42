// From logits to the law that is sampled, in one order for every row of every path (baseline,
// draft, verification, bonus): bias, bans, min_tokens, penalties (processors.h); then, here,
// temperature, top-k, top-p, min-p, renormalised between.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/law.h"
#include "engine/types.h"

namespace specbench::engine {

struct SamplingParams {
  double temperature = 1.0;  ///< 0: greedy, every law is a point mass at the argmax
  int top_k = 0;             ///< keep the k likeliest; 0: all
  double top_p = 1.0;        ///< keep the smallest set of likeliest ids with this mass
  double min_p = 0.0;  ///< keep ids with at least this share of the likeliest one's probability

  std::vector<std::pair<TokenId, double>> logit_bias{};  ///< added to the logit of the id
  std::vector<TokenId> banned{};                         ///< never emitted
  int min_tokens = 0;               ///< EOS is forbidden, and stop strings ignored, before so many
  double repetition_penalty = 1.0;  ///< above 1: what prompt or output holds becomes less likely
  double presence_penalty = 0.0;    ///< taken off the logit of an id the output holds
  double frequency_penalty = 0.0;   ///< the same, for each time it does

  bool is_greedy() const { return temperature == 0.0; }
  bool has_penalties() const {
    return repetition_penalty != 1.0 || presence_penalty != 0.0 || frequency_penalty != 0.0;
  }
  bool has_processors() const {
    return !logit_bias.empty() || !banned.empty() || min_tokens > 0 || has_penalties();
  }
};

/// Throws InputError naming the option and its range.
void validate(const SamplingParams& params);

/// Storage of many laws over one vocabulary, allocated once.
class LawBuffer {
 public:
  LawBuffer(int n_laws, int n_ids);
  double* weights(int law) {
    return weights_.data() + static_cast<std::ptrdiff_t>(law) * padded_size(n_ids_);
  }
  LawRoom room(int law) { return {weights(law), chunk_sums(law)}; }
  double* chunk_sums(int law) {
    return chunk_sums_.data() + static_cast<std::ptrdiff_t>(law) * n_chunks(n_ids_);
  }

 private:
  int n_ids_;
  std::vector<double> weights_;
  std::vector<double> chunk_sums_;
};

/// The law of one row of logits (n_ids floats) after all processors, written to `weights`
/// (padded_size(n_ids)) and `chunk_sums`. Ties at an edge go to the smallest id. A logit of -inf
/// has probability zero. Throws StateViolation where a logit is NaN or +inf, or all are -inf.
Law make_law(const float* logits, int n_ids, const SamplingParams& params, double* weights,
             double* chunk_sums);

}  // namespace specbench::engine
