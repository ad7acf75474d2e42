// The cases of edges.h by what they look at, and what they share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/steps.h"

namespace specbench::suites {

inline constexpr double kLastCoin = 1.0 - 0x1p-53;

struct EdgeSubject {
  std::string_view verifier;
  engine::Steps steps;
  engine::AcceptRule accept = nullptr;  ///< the rule under test

  bool is_block() const { return verifier == "block"; }
  /// Draws a token anew where one was refused.
  bool has_residual() const { return verifier == "token" || is_block(); }
  bool draws_targets() const { return verifier == "one-hot"; }
  bool is_greedy() const { return verifier == "greedy"; }
  bool is_coupled() const { return verifier == "coupled"; }
};

struct EdgeCase {
  std::string name;
  std::string meaning;  ///< one sentence, true where the case passes
  /// What is wrong, in a sentence; empty: nothing.
  std::string (*fault)(const EdgeSubject&);
  bool (*applies)(const EdgeSubject&) = [](const EdgeSubject&) { return true; };
};

std::vector<EdgeCase> rule_edges();  ///< laws and coins with a known verdict
std::vector<EdgeCase> draw_edges();  ///< which id a coin gives
std::vector<EdgeCase> law_edges();   ///< rows of logits with a known law
std::vector<EdgeCase> coin_edges();  ///< coins and drafts

/// A law with its storage.
struct SmallLaw {
  explicit SmallLaw(std::span<const double> probs)
      : weights(static_cast<std::size_t>(engine::padded_size(static_cast<int>(probs.size())))),
        sums(static_cast<std::size_t>(engine::n_chunks(static_cast<int>(probs.size())))) {
    const int n = static_cast<int>(probs.size());
    std::copy(probs.begin(), probs.end(), weights.begin());
    const double total = engine::sum_chunks(weights.data(), n, sums.data());
    law = {weights.data(), sums.data(), total, n, -1};
  }
  explicit SmallLaw(std::initializer_list<double> probs)
      : SmallLaw(std::span(probs.begin(), probs.size())) {}
  SmallLaw(SmallLaw&&) = default;  // moved, never copied: the law points into the vectors

  std::vector<double> weights, sums;
  engine::Law law;
};

inline engine::Law point_law(int n_ids, engine::TokenId id) {
  return {nullptr, nullptr, 1.0, n_ids, id};
}

/// The rule's verdict.
inline engine::Acceptance judge(const EdgeSubject& subject,
                                const std::vector<engine::TokenId>& drafted,
                                const std::vector<engine::Law>& drafts,
                                const std::vector<engine::Law>& targets,
                                const engine::RoundCoins& coins) {
  engine::LawBuffer room(1, targets.front().n_ids);
  return subject.accept({drafted, drafts, targets}, coins, room.room(0));
}

/// Coins alike at every row.
inline engine::RoundCoins coins_of(double accept, double draw) {
  engine::RoundCoins coins;
  coins.accept.fill(accept);
  coins.residual.fill(draw);
  coins.target.fill(draw);
  coins.bonus = draw;
  return coins;
}

}  // namespace specbench::suites
