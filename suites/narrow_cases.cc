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

std::string name_of(const char* kind, int n, int g) {
  return std::string(kind) + "/V" + std::to_string(n) + "/g" + std::to_string(g);
}

NarrowRow row_of(const Probs& target, const Probs& draft, int g) {
  const auto n_positions = static_cast<std::size_t>(g + 1);
  return {std::vector<Probs>(n_positions, target), std::vector<Probs>(n_positions, draft)};
}

NarrowCase position_distinct(int n, int g) {
  NarrowRow row;
  for (int i = 0; i <= g; ++i) {
    row.targets.push_back(tilted(n, 1.0 + 0.4 * i, i));
    row.drafts.push_back(tilted(n, 0.4 - 0.4 * i, i));
  }
  return {name_of("position-distinct", n, g), {row}, true};
}

// Neighbouring rows lean to opposite sides, so that a row that is given another's laws shows.
NarrowCase row_distinct(int n, int g) {
  NarrowCase narrow{name_of("row-distinct", n, g), {}, false};
  for (int r = 0; r < static_cast<int>(kRows); ++r) {
    const double side = r % 2 == 0 ? 1.0 : -1.0;
    narrow.rows.push_back(
        row_of(tilted(n, side * (1.4 - 0.2 * r), r), tilted(n, side * (0.5 - 0.1 * r), r), g));
  }
  return narrow;
}

void add_cases(std::vector<NarrowCase>& cases, int n, int g) {
  for (const Pair& pair : pairs_of(n))
    cases.push_back({name_of(pair.name, n, g), {row_of(pair.target, pair.draft, g)}, false});
  cases.push_back(position_distinct(n, g));
  cases.push_back(row_distinct(n, g));
}

}  // namespace

std::vector<NarrowCase> narrow_cases() {
  std::vector<NarrowCase> cases;
  for (const int n : {2, 3, 8, 16, 64}) add_cases(cases, n, 3);
  for (const int g : {1, 5}) add_cases(cases, 16, g);
  return cases;
}

std::vector<NarrowCase> narrow_probe_cases() {
  std::vector<NarrowCase> probes;
  for (NarrowCase& narrow : narrow_cases())
    for (const char* name :
         {"opposed/V16/g3", "mild/V16/g3", "tiny-ratio/V16/g3", "position-distinct/V16/g3",
          "row-distinct/V16/g3", "opposed/V3/g3", "top-k-draft/V8/g3"})
      if (narrow.name == name) probes.push_back(std::move(narrow));
  return probes;
}

PairLaws::PairLaws(const Probs& target, const Probs& draft) {
  Probs common(target.size()), rest(target.size());
  for (std::size_t y = 0; y < target.size(); ++y) {
    common[y] = std::min(target[y], draft[y]);
    rest[y] = std::max(0.0, target[y] - draft[y]);
  }
  acceptance = std::accumulate(common.begin(), common.end(), 0.0);
  if (acceptance > 0.0) accepted = normalised(std::move(common));
  if (acceptance < 1.0 - 1e-12) rejected = normalised(std::move(rest));
}

double coupled_acceptance(const Probs& target, const Probs& draft, std::size_t id) {
  if (!(target[id] > 0.0)) return 0.0;
  double sum = 0.0;
  for (std::size_t y = 0; y < target.size(); ++y)
    sum += std::max(target[y] * draft[id] / target[id], draft[y]);
  return std::min(1.0, 1.0 / sum);
}

std::size_t likeliest(const Probs& probs, std::size_t k) {
  std::vector<std::size_t> ids(probs.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  std::stable_sort(ids.begin(), ids.end(),
                   [&](std::size_t a, std::size_t b) { return probs[a] > probs[b]; });
  return ids[k];
}

}  // namespace specbench::suites
