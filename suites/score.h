// What a model says of a given text: the probability of each token, and what it would have said
// itself. One pass of teacher forcing; draws nothing.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/types.h"

namespace specbench::suites {

inline constexpr std::size_t kTop = 5;

struct RankedToken {
  engine::TokenId id = -1;
  double log_prob = 0;  ///< nats
};

struct TokenScore {
  engine::TokenId token = -1;
  std::optional<double> log_prob;  ///< nats, given all tokens before; absent for the first
  std::vector<RankedToken> top;  ///< the likeliest at its place, kTop or fewer; none for the first
};

/// log p of every id, from one row of logits. Ids of logit -inf have -inf.
void log_softmax(std::span<const float> logits, std::span<double> log_probs);

/// The likeliest ids, the smaller id first at a tie.
std::vector<RankedToken> likeliest(std::span<const double> log_probs, std::size_t n);

/// Calls visit(pos, log_probs) for every position but the last, in order: the law of the token at
/// pos + 1. Lane 0 is emptied first. Ends early where is_stopped says so.
void for_each_law(
    engine::Backend& backend, std::span<const engine::TokenId> tokens,
    const std::function<void(int pos, std::span<const double> log_probs)>& visit,
    const std::function<bool()>& is_stopped = [] { return false; });

/// One score a token, fewer where it was stopped.
std::vector<TokenScore> score_text(
    engine::Backend& backend, std::span<const engine::TokenId> tokens,
    const std::function<bool()>& is_stopped = [] { return false; });

/// The largest |log p - log p'| of two backends over all ids and the laws of `tokens`; infinite
/// where one gives NaN, or -inf and the other does not.
struct Difference {
  double largest = 0;
  int pos = -1;  ///< where
  engine::TokenId id = -1;
  int n_laws = 0;
};
Difference compare_backends(
    engine::Backend& one, engine::Backend& other, std::span<const engine::TokenId> tokens,
    const std::function<bool()>& is_stopped = [] { return false; });

}  // namespace specbench::suites
