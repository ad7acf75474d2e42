// The replay's own draws: one running sum in long double, the coupled rule by the library's
// logarithm. Private to replay.cc; must share no arithmetic with engine/law.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/coins.h"
#include "engine/law.h"

namespace specbench::suites {

/// A law's probabilities in long double. The division is taken out of the loops over the ids.
class PlainProbs {
 public:
  explicit PlainProbs(const engine::Law& law)
      : law_(law), scale_(law.is_point() ? 1.0L : 1.0L / static_cast<long double>(law.total)) {}
  long double operator()(int id) const {
    if (law_.is_point()) return id == law_.point ? 1.0L : 0.0L;
    return static_cast<long double>(law_.weights[id]) * scale_;
  }

 private:
  const engine::Law& law_;
  long double scale_;
};

inline long double plain_prob(const engine::Law& law, int id) { return PlainProbs(law)(id); }

/// The first id whose running sum exceeds u times the whole; -1 where nothing has weight.
template <typename Weight>
engine::TokenId draw_plainly(int n_ids, double u, const Weight& weight) {
  long double total = 0.0L;
  for (int id = 0; id < n_ids; ++id) total += weight(id);
  const long double t = static_cast<long double>(u) * total;
  long double sum = 0.0L;
  engine::TokenId last = -1;
  for (int id = 0; id < n_ids; ++id) {
    const long double w = weight(id);
    if (!(w > 0.0L)) continue;
    last = id;
    sum += w;
    if (t < sum) return id;
  }
  return last;
}

inline engine::TokenId draw_plainly(const engine::Law& law, double u) {
  if (law.is_point()) return law.point;
  return draw_plainly(law.n_ids, u,
                      [&](int id) { return static_cast<long double>(law.weights[id]); });
}

/// How far u lies from the stretch of [0, 1] that gives `token`; 1 where there is none.
template <typename Weight>
double distance_to(engine::TokenId token, int n_ids, double u, const Weight& weight) {
  if (token < 0 || token >= n_ids || !(weight(token) > 0.0L)) return 1.0;
  long double total = 0.0L, before = 0.0L;
  for (int id = 0; id < n_ids; ++id) {
    if (id == token) before = total;
    total += weight(id);
  }
  const auto at = static_cast<long double>(u);
  const long double low = before / total - at;
  const long double high = at - (before + weight(token)) / total;
  return static_cast<double>(std::max({0.0L, low, high}));
}

/// log p + Gumbel noise of one id as the rule is written. `key`: of the position.
inline double coupled_score(const engine::Law& law, engine::CoinKey key, engine::TokenId id) {
  const auto at = static_cast<std::uint32_t>(id);
  key.index = at / 2;
  const std::uint64_t word = engine::coin_words(key)[at % 2];
  const double u = (static_cast<double>(word >> 12) + 0.5) * 0x1p-52;
  return std::log(law.weights[id] / law.total) - std::log(-std::log(u));
}

inline engine::TokenId draw_coupled_plainly(const engine::Law& law, const engine::CoinKey& key) {
  if (law.is_point()) return law.point;
  engine::TokenId best = -1;
  double best_score = 0.0;
  for (int id = 0; id < law.n_ids; ++id) {
    if (!(law.weights[id] > 0.0)) continue;
    const double score = coupled_score(law, key, id);
    if (best >= 0 && !(score > best_score)) continue;
    best = id;
    best_score = score;
  }
  return best;
}

}  // namespace specbench::suites
