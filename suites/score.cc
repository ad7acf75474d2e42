#include "suites/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace specbench::suites {

namespace {

// Rows of one step: enough to read the weights seldom, few enough that the logits of a large
// vocabulary stay small.
constexpr std::size_t kRowsPerStep = 32;

double difference(double a, double b) {
  if (a == b) return 0.0;  // both -inf, too
  const double d = std::fabs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

}  // namespace

void log_softmax(std::span<const float> logits, std::span<double> log_probs) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  const double log_total = largest + std::log(sum);
  for (std::size_t id = 0; id < logits.size(); ++id)
    log_probs[id] = static_cast<double>(logits[id]) - log_total;
}

std::vector<RankedToken> likeliest(std::span<const double> log_probs, std::size_t n) {
  std::vector<engine::TokenId> ids(log_probs.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto prob = [&](engine::TokenId id) { return log_probs[static_cast<std::size_t>(id)]; };
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(n, ids.size()));
  std::partial_sort(ids.begin(), end, ids.end(), [&](engine::TokenId a, engine::TokenId b) {
    return prob(a) > prob(b) || (prob(a) == prob(b) && a < b);
  });
  std::vector<RankedToken> top;
  for (auto id = ids.begin(); id != end; ++id) top.push_back({*id, prob(*id)});
  return top;
}

void for_each_law(engine::Backend& backend, std::span<const engine::TokenId> tokens,
                  const std::function<void(int pos, std::span<const double> log_probs)>& visit,
                  const std::function<bool()>& is_stopped) {
  if (tokens.size() < 2) return;
  const auto n_ids = static_cast<std::size_t>(backend.config().vocab_size);
  const std::size_t n_laws = tokens.size() - 1;
  const std::size_t n_rows =
      std::min({kRowsPerStep, static_cast<std::size_t>(backend.options().n_slots), n_laws});
  std::vector<float> logits(n_rows * n_ids);
  std::vector<double> log_probs(n_ids);
  backend.reset(0, 0);
  for (std::size_t first = 0; first < n_laws && !is_stopped(); first += n_rows) {
    std::vector<engine::Row> rows;
    for (std::size_t at = first; at < std::min(first + n_rows, n_laws); ++at)
      rows.push_back({0, static_cast<int>(at), tokens[at], static_cast<int>(at - first)});
    backend.forward(rows, 0, backend.config().n_layers);
    backend.logits(rows, logits.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      log_softmax(std::span(logits).subspan(i * n_ids, n_ids), log_probs);
      visit(rows[i].pos, log_probs);
    }
  }
}

std::vector<TokenScore> score_text(engine::Backend& backend,
                                   std::span<const engine::TokenId> tokens,
                                   const std::function<bool()>& is_stopped) {
  std::vector<TokenScore> scores;
  if (tokens.empty()) return scores;
  scores.push_back({tokens[0], {}, {}});
  for_each_law(
      backend, tokens,
      [&](int pos, std::span<const double> log_probs) {
        const engine::TokenId token = tokens[static_cast<std::size_t>(pos) + 1];
        scores.push_back(
            {token, log_probs[static_cast<std::size_t>(token)], likeliest(log_probs, kTop)});
      },
      is_stopped);
  return scores;
}

Difference compare_backends(engine::Backend& one, engine::Backend& other,
                            std::span<const engine::TokenId> tokens,
                            const std::function<bool()>& is_stopped) {
  std::vector<std::vector<double>> laws;
  for_each_law(
      one, tokens,
      [&](int, std::span<const double> law) { laws.emplace_back(law.begin(), law.end()); },
      is_stopped);
  Difference found;
  for_each_law(
      other, tokens,
      [&](int pos, std::span<const double> law) {
        if (static_cast<std::size_t>(pos) >= laws.size()) return;
        ++found.n_laws;
        for (std::size_t id = 0; id < law.size(); ++id) {
          const double d = difference(laws[static_cast<std::size_t>(pos)][id], law[id]);
          if (d <= found.largest) continue;
          found.largest = d;
          found.pos = pos;
          found.id = static_cast<engine::TokenId>(id);
        }
      },
      is_stopped);
  return found;
}

}  // namespace specbench::suites
