// The cost model of speculative decoding as pure formulas (RULES, section 5). Measures nothing:
// every input is measured elsewhere or stated by the caller, and every formula says which
// accounting it follows.
#pragma once

#include <cstdint>
#include <span>

namespace specbench::stats {

// Symbols. a: acceptance per drafted token, censored at the first rejection, in [0, 1]. g: drafted
// tokens a round, >= 0. c: cost of one draft step over one full step, head included, measured, >=
// 0. Costs in full steps of the target. Everything here throws std::invalid_argument outside those
// ranges.

// 1 + a + .. + a^g = (1 - a^(g+1)) / (1 - a), and g + 1 at a = 1: accepted drafts plus residual or
// bonus.
double expected_tokens_per_round(double a, int g);
// 1 + sum_i prod_{j<=i} acceptance[j]: acceptance by draft position, given that the earlier ones
// were accepted.
double expected_tokens_per_round(std::span<const double> acceptance_by_position);
// Without a bonus token: 1 + a + .. + a^(g-1) = (1 - a^g) / (1 - a). g >= 1.
double expected_tokens_no_bonus(double a, int g);

// E / (1 + g c): g draft steps and one full step. Also the weight-bound cost with reuse AND bonus,
// because the last draft must still cross layers 1..k (KV5).
double speedup_no_reuse(double a, int g, double c);
// E / (1 - c + g c): the article's formula for reuse of the first k layers; one shallow pass short,
// kept for comparison.
double speedup_article_reuse(double a, int g, double c);
// E_no_bonus / (1 - s + g c): reuse without a bonus; s in [0, 1] is the share of layers 1..k,
// without the head. g >= 1.
double speedup_no_bonus(double a, int g, double c, double s);
// E / (g c + v): v > 0 is the measured cost of one verification over one full step.
double speedup_measured(double tokens_per_round, int g, double c, double v);

struct DraftOptimum {
  int g = 0;  // 0: do not draft
  double speedup = 1.0;
};
// The g in [0, max_g] that maximises E / (1 + g c); the smallest one at a tie. c > 0 unless a < 1
// bounds the gain.
DraftOptimum best_draft_length(double a, double c, int max_g = 256);

// Acceptance from counts: accepted / drafted, and censored accepted / (accepted + rejections).
// Requires 0 <= accepted <= drafted, rejections >= 0 and a positive denominator.
double acceptance_of_drafted(std::int64_t n_accepted, std::int64_t n_drafted);
double acceptance_censored(std::int64_t n_accepted, std::int64_t n_rejections);

// Exact work of one round: token-layers and head rows. k = exit_layer in [1, L], L = n_layers, g
// >= 1.
struct RoundWork {
  std::int64_t shallow_token_layers = 0;  // layers 1..k (without reuse: the draft's own passes)
  std::int64_t deep_token_layers = 0;     // the rest of the verification
  std::int64_t head_rows = 0;             // g draft rows and g + 1 verification rows
  std::int64_t token_layers() const { return shallow_token_layers + deep_token_layers; }
};
RoundWork round_work_reuse(int g, int exit_layer, int n_layers);  // (g+1) k + (g+1)(L-k) = (g+1) L
RoundWork round_work_no_reuse(int g, int exit_layer, int n_layers);  // g k + (g+1) L

}  // namespace specbench::stats
