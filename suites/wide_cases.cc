#include "suites/wide_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/coins.h"

namespace specbench::suites {

namespace {

constexpr std::uint64_t kLogitSeed = 0x7769646521;  // of the laws, not of a run
constexpr double kZipf = 1.05;                      // exponent of the target
constexpr double kDraftSharpness = 0.85;            // one over the draft's temperature
constexpr double kDraftNoise = 0.5;

std::array<std::uint64_t, 2> words(int id, std::uint32_t index) {
  return engine::coin_words(
      {kLogitSeed, static_cast<std::uint32_t>(id), 0, 0, engine::Purpose::kVerification, index});
}

// A second period behind the first.
void repeat(std::vector<float>& row) {
  const std::vector<float> once = row;
  row.insert(row.end(), once.begin(), once.end());
}

void forbid(std::vector<float>& row, int begin, int n) {
  std::fill_n(row.begin() + begin, n, -std::numeric_limits<float>::infinity());
}

double mass_of(OutcomeLaw law, double p, double q) {
  switch (law) {
    case OutcomeLaw::kAccepted:
      return std::min(p, q);
    case OutcomeLaw::kResidual:
      return std::max(0.0, p - q);
    case OutcomeLaw::kTarget:
      break;
  }
  return p;
}

}  // namespace

WideLogits::WideLogits(int n_ids) : n_ids_(n_ids) {
  std::vector<int> ranked(static_cast<std::size_t>(n_ids));
  std::iota(ranked.begin(), ranked.end(), 0);
  std::vector<std::uint64_t> keys;
  for (int id = 0; id < n_ids; ++id) keys.push_back(words(id, 0)[0]);
  std::sort(ranked.begin(), ranked.end(), [&](int a, int b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  target_.resize(ranked.size());
  draft_.resize(ranked.size());
  for (int rank = 0; rank < n_ids; ++rank) {
    const int id = ranked[static_cast<std::size_t>(rank)];
    const double logit = -kZipf * std::log(rank + 2.0);
    const auto noise = words(id, 1);  // their difference has Laplace's law
    const double spread =
        engine::exponential_of_word(noise[0]) - engine::exponential_of_word(noise[1]);
    target_[static_cast<std::size_t>(id)] = static_cast<float>(logit);
    draft_[static_cast<std::size_t>(id)] =
        static_cast<float>(kDraftSharpness * logit + kDraftNoise * spread);
  }
  forbid(target_, n_ids / 3, n_ids / 16);
  forbid(draft_, n_ids / 3 * 2, n_ids / 16);
  repeat(target_);
  repeat(draft_);
}

WideLaws::WideLaws(int n_ids) : buffer_(3, n_ids) {
  const WideLogits logits(n_ids);
  target = engine::make_law(logits.target(), n_ids, {}, buffer_.weights(0), buffer_.chunk_sums(0));
  draft = engine::make_law(logits.draft(), n_ids, {}, buffer_.weights(1), buffer_.chunk_sums(1));
  residual = engine::residual_law(target, draft, buffer_.room(2));
  for (auto& standings : standings_) standings.resize(static_cast<std::size_t>(n_ids));
  Ranking ids(static_cast<std::size_t>(n_ids));
  std::iota(ids.begin(), ids.end(), 0);
  for (const engine::TokenId id : ids) acceptance += std::min(target.prob(id), draft.prob(id));
  rank(Order::kId, ids);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](auto a, auto b) { return target.weights[a] < target.weights[b]; });
  rank(Order::kTarget, ids);
  std::sort(ids.begin(), ids.end());
  // Impossible in both: mass zero in every law, anywhere.
  const auto ratio = [&](engine::TokenId id) {
    return target.weights[id] > 0.0 ? target.prob(id) / draft.prob(id) : 0.0;
  };
  std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) { return ratio(a) < ratio(b); });
  rank(Order::kRatio, ids);
}

void WideLaws::rank(Order order, const Ranking& ids) {
  for (const OutcomeLaw law : {OutcomeLaw::kTarget, OutcomeLaw::kAccepted, OutcomeLaw::kResidual}) {
    auto& standings = standings_[static_cast<std::size_t>(law)];
    double total = 0.0;
    for (const engine::TokenId id : ids) {
      Standing& at = standings[static_cast<std::size_t>(id)];
      at.mass = mass_of(law, target.prob(id), draft.prob(id));
      at.below[static_cast<std::size_t>(order)] = total;
      total += at.mass;
    }
    for (Standing& at : standings) {
      at.below[static_cast<std::size_t>(order)] /= total;
      at.mass /= total;
    }
  }
}

std::vector<double> WideLaws::target_probs() const {
  std::vector<double> probs;
  for (engine::TokenId id = 0; id < n_ids(); ++id) probs.push_back(target.prob(id));
  return probs;
}

std::vector<engine::TokenId> WideLaws::likeliest_drafts(std::size_t k) const {
  std::vector<engine::TokenId> ids(static_cast<std::size_t>(n_ids()));
  std::iota(ids.begin(), ids.end(), 0);
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids.end(),
                    [&](auto a, auto b) { return draft.weights[a] > draft.weights[b]; });
  ids.resize(k);
  return ids;
}

}  // namespace specbench::suites
