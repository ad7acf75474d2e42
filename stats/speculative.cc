#include "stats/speculative.h"

#include <cmath>

#include "stats/require.h"

namespace specbench::stats {
namespace {

// 1 + a + .. + a^(n_terms - 1), added up: exact at a = 1 and without the cancellation of the closed
// form near it.
double geometric_sum(double a, int n_terms) {
  double sum = 0.0;
  for (int i = 0; i < n_terms; ++i) sum = sum * a + 1.0;
  return sum;
}

void require_draft(double a, int g, int min_g, const char* where) {
  require(is_probability(a), where, "the acceptance a must lie in [0, 1]", a);
  require(g >= min_g, where, "the draft length g is too small", g);
}

void require_draft_cost(double c, const char* where) {
  require(std::isfinite(c) && c >= 0.0, where, "the draft cost c must be finite and not negative",
          c);
}

// tokens / cost; a round that costs nothing has no speed-up.
double speedup(double tokens, double cost, const char* where) {
  require(cost > 0.0, where, "the cost of a round must be positive", cost);
  return tokens / cost;
}

void require_round(int g, int exit_layer, int n_layers, const char* where) {
  require(g >= 1, where, "the draft length g must be at least 1", g);
  require(exit_layer >= 1 && exit_layer <= n_layers, where,
          "the exit layer must lie in [1, n_layers]", exit_layer);
}

}  // namespace

double expected_tokens_per_round(double a, int g) {
  require_draft(a, g, 0, "expected_tokens_per_round");
  return geometric_sum(a, g + 1);
}

double expected_tokens_per_round(std::span<const double> acceptance_by_position) {
  double tokens = 1.0;
  double reached = 1.0;
  for (double a : acceptance_by_position) {
    require(is_probability(a), "expected_tokens_per_round", "an acceptance must lie in [0, 1]", a);
    reached *= a;
    tokens += reached;
  }
  return tokens;
}

double expected_tokens_no_bonus(double a, int g) {
  require_draft(a, g, 1, "expected_tokens_no_bonus");
  return geometric_sum(a, g);
}

double speedup_no_reuse(double a, int g, double c) {
  require_draft_cost(c, "speedup_no_reuse");
  return speedup(expected_tokens_per_round(a, g), 1.0 + g * c, "speedup_no_reuse");
}

double speedup_article_reuse(double a, int g, double c) {
  require_draft_cost(c, "speedup_article_reuse");
  return speedup(expected_tokens_per_round(a, g), 1.0 - c + g * c, "speedup_article_reuse");
}

double speedup_no_bonus(double a, int g, double c, double s) {
  require_draft_cost(c, "speedup_no_bonus");
  require(is_probability(s), "speedup_no_bonus", "the share s must lie in [0, 1]", s);
  return speedup(expected_tokens_no_bonus(a, g), 1.0 - s + g * c, "speedup_no_bonus");
}

double speedup_measured(double tokens_per_round, int g, double c, double v) {
  require(std::isfinite(tokens_per_round) && tokens_per_round >= 0.0, "speedup_measured",
          "tokens per round must be finite and not negative", tokens_per_round);
  require(g >= 0, "speedup_measured", "the draft length g must not be negative", g);
  require_draft_cost(c, "speedup_measured");
  require(std::isfinite(v) && v > 0.0, "speedup_measured", "the verify cost v must be positive", v);
  return tokens_per_round / (g * c + v);
}

DraftOptimum best_draft_length(double a, double c, int max_g) {
  require(max_g >= 0, "best_draft_length", "max_g must not be negative", max_g);
  DraftOptimum best;
  for (int g = 1; g <= max_g; ++g) {
    const double candidate = speedup_no_reuse(a, g, c);
    if (candidate > best.speedup) best = {g, candidate};
  }
  return best;
}

double acceptance_of_drafted(std::int64_t n_accepted, std::int64_t n_drafted) {
  require(n_accepted >= 0 && n_drafted >= 1 && n_accepted <= n_drafted, "acceptance_of_drafted",
          "needs 0 <= accepted <= drafted and drafted >= 1", static_cast<double>(n_accepted));
  return static_cast<double>(n_accepted) / static_cast<double>(n_drafted);
}

double acceptance_censored(std::int64_t n_accepted, std::int64_t n_rejections) {
  require(n_accepted >= 0 && n_rejections >= 0 && n_accepted + n_rejections >= 1,
          "acceptance_censored", "needs counts >= 0 and at least one decision",
          static_cast<double>(n_accepted));
  return static_cast<double>(n_accepted) / static_cast<double>(n_accepted + n_rejections);
}

RoundWork round_work_reuse(int g, int exit_layer, int n_layers) {
  require_round(g, exit_layer, n_layers, "round_work_reuse");
  const std::int64_t rows = g + 1;
  return {rows * exit_layer, rows * (n_layers - exit_layer), g + rows};
}

RoundWork round_work_no_reuse(int g, int exit_layer, int n_layers) {
  require_round(g, exit_layer, n_layers, "round_work_no_reuse");
  const std::int64_t rows = g + 1;
  return {static_cast<std::int64_t>(g) * exit_layer, rows * n_layers, g + rows};
}

}  // namespace specbench::stats
