#include "suites/narrow_cases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace specbench::suites {

Probs normalised(Probs weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= total;
  return weights;
}

namespace {

// exp(tilt x) over x spread on [-1, 1] in an order that is neither ascending nor symmetric.
Probs tilted(int n, double tilt, int shift = 0) {
  Probs weights(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const int rank = (i * 7 + shift) % n;  // 7 is coprime to 2, 3, 8, 16 and 64
    weights[static_cast<std::size_t>(i)] = std::exp(tilt * (2.0 * rank / std::max(1, n - 1) - 1.0));
  }
  return normalised(std::move(weights));
}

Probs one_hot(int n, int id) {
  Probs probs(static_cast<std::size_t>(n));
  probs[static_cast<std::size_t>(id)] = 1.0;
  return probs;
}

struct Pair {
  const char* name;
  Probs target, draft;
};

// Mass 1 - 1e-4 of the target where the draft has .1, and the other way round.
Pair tiny_ratio(int n) {
  Pair pair{"tiny-ratio", Probs(static_cast<std::size_t>(n)), Probs(static_cast<std::size_t>(n))};
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    pair.target[at] = i == 0 ? kTinyProb : (1.0 - kTinyProb) / (n - 1);
    pair.draft[at] = i == 0 ? 0.9 : 0.1 / (n - 1);
  }
  return pair;
}

// Ratios between .9 and 1.1.
Pair near_equal(int n) {
  Pair pair{"near-equal", tilted(n, 1.0), {}};
  pair.draft = pair.target;
  for (int i = 0; i < n; ++i) pair.draft[static_cast<std::size_t>(i)] *= i % 2 == 0 ? 1.05 : 0.95;
  pair.draft = normalised(std::move(pair.draft));
  return pair;
}

Pair disjoint(int n) {
  Pair pair{"disjoint", tilted(n, 1.0), tilted(n, 1.0)};
  for (int i = 0; i < n; ++i)
    (i < n / 2 ? pair.draft : pair.target)[static_cast<std::size_t>(i)] = 0.0;
  return {pair.name, normalised(std::move(pair.target)), normalised(std::move(pair.draft))};
}

Pair top_k_draft(int n) {
  Pair pair{"top-k-draft", tilted(n, 1.5), tilted(n, 1.2, 1)};
  Probs sorted = pair.draft;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double edge = sorted[static_cast<std::size_t>((n - 1) / 2)];
  for (double& q : pair.draft) q = q >= edge ? q : 0.0;
  return {pair.name, pair.target, normalised(std::move(pair.draft))};
}

std::vector<Pair> pairs_of(int n) {
  return {{"opposed", tilted(n, 2.0), tilted(n, -2.0)},
          {"mild", tilted(n, 1.0), tilted(n, 0.4)},
          tiny_ratio(n),
          near_equal(n),
          {"equal", tilted(n, 1.5), tilted(n, 1.5)},
          disjoint(n),
          {"one-hot-target", one_hot(n, n - 1), tilted(n, 1.0)},
          {"one-hot-draft", tilted(n, 1.0), one_hot(n, 0)},
          top_k_draft(n)};
}

NarrowCase case_of(const Pair& pair, int n, int g) {
  return {std::string(pair.name) + "/V" + std::to_string(n) + "/g" + std::to_string(g),
          std::vector<Probs>(static_cast<std::size_t>(g + 1), pair.target),
          std::vector<Probs>(static_cast<std::size_t>(g), pair.draft)};
}

NarrowCase position_distinct(int n, int g) {
  NarrowCase narrow{"position-distinct/V" + std::to_string(n) + "/g" + std::to_string(g), {}, {}};
  for (int i = 0; i <= g; ++i) narrow.targets.push_back(tilted(n, 1.0 + 0.4 * i, i));
  for (int i = 0; i < g; ++i) narrow.drafts.push_back(tilted(n, 0.4 - 0.4 * i, i));
  return narrow;
}

}  // namespace

std::vector<NarrowCase> narrow_cases() {
  std::vector<NarrowCase> cases;
  for (const int n : {2, 3, 8, 16, 64}) {
    for (const Pair& pair : pairs_of(n)) cases.push_back(case_of(pair, n, 3));
    cases.push_back(position_distinct(n, 3));
  }
  for (const int g : {1, 5}) {
    for (const Pair& pair : pairs_of(16)) cases.push_back(case_of(pair, 16, g));
    cases.push_back(position_distinct(16, g));
  }
  return cases;
}

}  // namespace specbench::suites
