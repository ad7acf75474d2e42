#include "suites/pit.h"

#include <algorithm>
#include <limits>

namespace specbench::suites {

namespace {

constexpr std::size_t kLanes = 8;  // sums side by side, so that the compiler may use vectors

double sum_lanes(const double (&lanes)[kLanes]) {
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

void normalise(const engine::Law& law, std::vector<double>& probs) {
  if (law.is_point()) {
    std::fill(probs.begin(), probs.end(), 0.0);
    probs[static_cast<std::size_t>(law.point)] = 1.0;
    return;
  }
  for (std::size_t id = 0; id < static_cast<std::size_t>(law.n_ids); ++id)
    probs[id] = law.weights[id] / law.total;
}

}  // namespace

RowProbs::RowProbs(int n_ids)
    : n_ids_(n_ids),
      target_((static_cast<std::size_t>(n_ids) + kLanes - 1) / kLanes * kLanes),
      draft_(target_.size()) {}

void RowProbs::load(const engine::Law& target, const engine::Law* draft) {
  normalise(target, target_);
  has_draft_ = draft != nullptr;
  overlap_ = 0.0;
  if (!has_draft_) return;
  normalise(*draft, draft_);
  double lanes[kLanes] = {};
  for (std::size_t id = 0; id < target_.size(); id += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += std::min(target_[id + l], draft_[id + l]);
  overlap_ = std::min(1.0, sum_lanes(lanes));
}

// Mass of all ids, and of the ids in front of the token in each order. By id the line is cut at the
// token; by p and p/q an id stands in front if its key is smaller, or equal and its id smaller. p/q
// is compared by cross products, so q = 0 needs no care.
template <typename Weight>
std::array<double, kOrders> RowProbs::pit_of(engine::TokenId token, double coin,
                                             const Weight& weight) const {
  const auto at = static_cast<std::size_t>(token);
  const double own = weight(target_[at], draft_[at]);
  if (!(own > 0.0)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan};
  }
  const double p_token = target_[at];
  const double q_token = draft_[at];
  double total[kLanes] = {}, by_id[kLanes] = {}, by_target[kLanes] = {}, by_ratio[kLanes] = {};
  const auto add_group = [&](std::size_t id, bool is_before) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double p = target_[id + l];
      const double q = draft_[id + l];
      const double w = weight(p, q);
      const double left = p * q_token;
      const double right = p_token * q;
      total[l] += w;
      by_id[l] += is_before ? w : 0.0;
      by_target[l] += (is_before ? p <= p_token : p < p_token) ? w : 0.0;
      by_ratio[l] += (is_before ? left <= right : left < right) ? w : 0.0;
    }
  };
  // Whole groups before the token, the token's own group id by id, whole groups behind it.
  const std::size_t own_group = at / kLanes * kLanes;
  for (std::size_t id = 0; id < own_group; id += kLanes) add_group(id, true);
  for (std::size_t id = own_group; id < own_group + kLanes; ++id) {
    const double w = weight(target_[id], draft_[id]);
    const double left = target_[id] * q_token;
    const double right = p_token * draft_[id];
    total[0] += w;
    if (id == at) continue;
    const bool is_before = id < at;
    by_id[0] += is_before ? w : 0.0;
    by_target[0] += (is_before ? target_[id] <= p_token : target_[id] < p_token) ? w : 0.0;
    by_ratio[0] += (is_before ? left <= right : left < right) ? w : 0.0;
  }
  for (std::size_t id = own_group + kLanes; id < target_.size(); id += kLanes) add_group(id, false);
  const double all = sum_lanes(total);
  const auto transform = [&](const double(&lanes)[kLanes]) {
    return std::clamp((sum_lanes(lanes) + coin * own) / all, 0.0, 1.0);
  };
  return {transform(by_id), transform(by_target), transform(by_ratio)};
}

std::array<double, kOrders> RowProbs::pit(engine::TokenId token, OutcomeLaw law,
                                          double coin) const {
  switch (law) {
    case OutcomeLaw::kAccepted:
      return pit_of(token, coin, [](double p, double q) { return p < q ? p : q; });
    case OutcomeLaw::kResidual:
      return pit_of(token, coin, [](double p, double q) { return p > q ? p - q : 0.0; });
    case OutcomeLaw::kTarget:
      break;
  }
  return pit_of(token, coin, [](double p, double) { return p; });
}

std::array<double, kOrders> RowProbs::pit_of_block(engine::TokenId token, double share,
                                                   double coin) const {
  return pit_of(token, coin,
                [share](double p, double q) { return share * p > q ? share * p - q : 0.0; });
}

results::NamedTable empty_pit_table() {
  return {"pit", {"order", "class", "bin", "count", "expected"}, {}};
}

void add_pit_bins(const char* order, const char* outcome_class, const stats::PitAccumulator& pits,
                  results::NamedTable& table) {
  constexpr auto kBins = static_cast<std::int64_t>(stats::PitAccumulator::kBins);
  if (pits.n() < kBins) return;
  const double expected = static_cast<double>(pits.n()) / static_cast<double>(kBins);
  const std::vector<std::int64_t> counts = pits.bin_counts();
  for (std::int64_t bin = 0; bin < kBins; ++bin)
    table.rows.push_back({std::string(order), std::string(outcome_class), bin,
                          counts[static_cast<std::size_t>(bin)], expected});
}

}  // namespace specbench::suites
