// Faults planted by the tests, through the seam that the engine is given (engine::Steps). Never
// part of the product.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "engine/decode.h"
#include "suites/context.h"

namespace specbench::suites::testing {

// R1: the token at a rejection is drawn from the target itself, nothing subtracted.
inline engine::Acceptance accept_r1(const engine::Proposal& proposal,
                                    const engine::RoundCoins& coins, const engine::LawRoom&) {
  const std::size_t n = proposal.drafted.size();
  for (std::size_t i = 0; i < n; ++i) {
    const engine::TokenId id = proposal.drafted[i];
    if (coins.accept[i] * proposal.draft_laws[i].prob(id) < proposal.target_laws[i].prob(id))
      continue;
    return {static_cast<int>(i), engine::draw(proposal.target_laws[i], coins.residual[i]),
            engine::Source::kResidual, false};
  }
  return {static_cast<int>(n), engine::draw(proposal.target_laws[n], coins.bonus),
          engine::Source::kBonus, false};
}

// A1: every drafted token is accepted.
inline engine::Acceptance accept_a1(const engine::Proposal& proposal,
                                    const engine::RoundCoins& coins, const engine::LawRoom&) {
  const std::size_t n = proposal.drafted.size();
  return {static_cast<int>(n), engine::draw(proposal.target_laws[n], coins.bonus),
          engine::Source::kBonus, false};
}

// N1: the coin that refused a token is used again to draw its replacement.
inline engine::RoundCoins coins_n1(const engine::RoundKey& key) {
  engine::RoundCoins coins = engine::coins_of_round(key);
  coins.residual = coins.accept;
  return coins;
}

// K1: the cache keeps one entry too many.
inline int kept_k1(const engine::RoundEnd& end) { return end.n_committed; }

inline engine::Steps steps_r1() {
  engine::Steps steps;
  steps.accept = accept_r1;
  return steps;
}
inline engine::Steps steps_a1() {
  engine::Steps steps;
  steps.accept = accept_a1;
  return steps;
}
inline engine::Steps steps_n1() {
  engine::Steps steps;
  steps.coins = coins_n1;
  return steps;
}
inline engine::Steps steps_k1() {
  engine::Steps steps;
  steps.kept_entries = kept_k1;
  return steps;
}

/// The embedded model and prompts of the source tree.
inline Options embedded_options(const std::string& suite) {
  Options options;
  options.suite = suite;
  options.model = std::string(SPECBENCH_SOURCE_DIR) + "/engine/models/austen-10m";
  options.prompts = std::string(SPECBENCH_SOURCE_DIR) + "/suites/prompts/austen.jsonl";
  options.quiet = true;
  options.threads = 2;
  options.command_line = "test";
  return options;
}

/// A context with its stop flag and silent progress.
struct Bench {
  explicit Bench(const Options& options) : context(open_context(options, stop, progress)) {}
  std::atomic<bool> stop{false};
  Progress progress{true};
  Context context;
};

}  // namespace specbench::suites::testing
