#include "suites/round_outcomes.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/error.h"

namespace specbench::suites {

using engine::Law;
using engine::TokenId;

namespace {

constexpr double kHintSlack = 2e-15;     // a predicted threshold is right to a few roundings
constexpr double kResolution = 0x1p-53;  // coins are multiples of it

double below(double end) { return std::nextafter(end, 0.0); }

// Mass of max(0, share x target - draft), and each id's part where `parts` is given.
double residual_mass(const Law& target, const Law& draft, double share,
                     std::vector<double>* parts = nullptr) {
  double mass = 0.0;
  for (TokenId id = 0; id < target.n_ids; ++id) {
    const double part = std::max(0.0, share * target.prob(id) - draft.prob(id));
    mass += part;
    if (parts != nullptr) parts->push_back(part);
  }
  return mass;
}

}  // namespace

void RoundMeasure::list_coins() {
  const std::size_t n = proposal_->drafted.size();
  order_.clear();
  for (std::size_t i = 0; i < n; ++i)
    order_.push_back({Kind::kAccept, use_.is_descending ? n - 1 - i : i});
  if (use_.has_targets)
    for (std::size_t i = 0; i <= n; ++i) order_.push_back({Kind::kTarget, i});
  order_.push_back({Kind::kFinal, 0});
  if (marks_.size() < order_.size()) marks_.resize(order_.size());
}

void RoundMeasure::list_thresholds() {
  const auto& [drafted, drafts, targets, residuals] = *proposal_;
  const std::size_t n = drafted.size();
  share_[0] = 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double ratio = targets[i].prob(drafted[i]) / drafts[i].prob(drafted[i]);
    threshold_[i] = ratio;
    share_[i + 1] = use_.is_block ? std::min(1.0, share_[i] * ratio) : 1.0;
  }
  if (!use_.is_block) return;
  for (std::size_t i = 1; i <= n; ++i) {  // coin i - 1 decides whether i tokens stand
    threshold_[i - 1] = share_[i];
    if (i == n) continue;
    const double mass = residual_mass(targets[i], drafts[i], share_[i]);
    threshold_[i - 1] = mass / (mass + (1.0 - share_[i]));
  }
}

void RoundMeasure::set(const Coin& coin, double value) {
  switch (coin.kind) {
    case Kind::kAccept:
      coins_.accept[coin.row] = value;
      break;
    case Kind::kTarget:
      coins_.target[coin.row] = value;
      break;
    case Kind::kFinal:  // a round draws one final token: which of these coins it takes is its
                        // affair
      coins_.residual.fill(value);
      coins_.bonus = value;
      break;
  }
}

RoundMeasure::Mark RoundMeasure::evaluate(const Coin& coin, double value) {
  set(coin, value);
  const engine::Acceptance a = rule_(*proposal_, coins_, room_);
  const auto& [drafted, drafts, targets, residuals] = *proposal_;
  const int n = static_cast<int>(drafted.size());
  if (a.n_accepted < 0 || a.n_accepted > n)
    throw engine::StateViolation("The rule accepted " + std::to_string(a.n_accepted) + " of " +
                                 std::to_string(n) + " drafted tokens.");
  const auto check = [&](int row, TokenId id) {
    const Law& target = targets[static_cast<std::size_t>(row)];
    if (id < 0 || id >= target.n_ids || !(target.prob(id) > 0.0))
      throw engine::StateViolation("The rule emitted token " + std::to_string(id) + " of " +
                                   std::to_string(target.n_ids) + " at row " + std::to_string(row) +
                                   ", impossible under the target.");
  };
  for (int i = 0; i < a.n_accepted; ++i) check(i, drafted[static_cast<std::size_t>(i)]);
  check(a.n_accepted, a.final_token);
  return {value, a.n_accepted, a.final_token};
}

void RoundMeasure::predict(const Coin& coin, const Mark& here, std::vector<double>& hints) const {
  hints.clear();
  const auto& [drafted, drafts, targets, residuals] = *proposal_;
  if (coin.kind == Kind::kAccept) {
    hints.push_back(threshold_[coin.row]);
    return;
  }
  const std::size_t row =
      coin.kind == Kind::kTarget ? coin.row : static_cast<std::size_t>(here.n_accepted);
  double mass = 1.0;
  if (coin.kind == Kind::kTarget || row == drafted.size())
    for (TokenId id = 0; id < targets[row].n_ids; ++id) hints.push_back(targets[row].prob(id));
  else
    mass = residual_mass(targets[row], drafts[row], share_[row], &hints);
  double sum = 0.0;
  for (double& hint : hints) {
    sum += hint;
    hint = sum / mass;
  }
}

void RoundMeasure::bisect(const Coin& coin, const Mark& low, const Mark& high,
                          std::vector<Mark>& marks) {
  if (low.is_as(high)) return;
  const double middle = low.begin + (high.begin - low.begin) / 2;
  if (high.begin - low.begin <= kResolution || middle <= low.begin || middle >= high.begin) {
    marks.push_back(high);
    return;
  }
  const Mark mark = evaluate(coin, middle);
  bisect(coin, low, mark, marks);
  bisect(coin, mark, high, marks);
}

void RoundMeasure::find_marks(const Coin& coin, const Interval& range, const Mark& at_top,
                              std::vector<Mark>& marks) {
  const double top = below(range.end);
  Mark here = evaluate(coin, range.begin);
  marks.assign(1, here);
  if (here.is_as(at_top)) return;
  predict(coin, at_top, hints_);
  for (const double hint : hints_) {
    if (!(hint - kHintSlack > here.begin) || !(hint < range.end)) continue;
    const Mark before = evaluate(coin, hint - kHintSlack);
    bisect(coin, here, before, marks);
    here = evaluate(coin, std::min(top, hint + kHintSlack));
    if (!here.is_as(before)) marks.push_back({hint, here.n_accepted, here.final_token});
    if (here.is_as(at_top)) return;
  }
  bisect(coin, here, {top, at_top.n_accepted, at_top.final_token}, marks);
}

void RoundMeasure::split(std::size_t at, double prob, const Mark& here) {
  if (at == order_.size()) {
    outcomes_.push_back({here.n_accepted, here.final_token, prob, accept_});
    return;
  }
  const Coin coin = order_[at];
  const bool is_accept = coin.kind == Kind::kAccept;
  const Interval range = is_accept ? accept_[coin.row] : Interval{};
  std::vector<Mark>& marks = marks_[at];
  find_marks(coin, range, here, marks);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const double end = i + 1 < marks.size() ? marks[i + 1].begin : range.end;
    const double width = end - marks[i].begin;
    if (!(width > 0.0)) continue;
    if (is_accept) accept_[coin.row] = {marks[i].begin, end};
    set(coin, std::min(marks[i].begin + width / 2, below(end)));
    split(at + 1, prob * (width / (range.end - range.begin)), marks[i]);
  }
  set(coin, below(range.end));  // undecided again
  if (is_accept) accept_[coin.row] = range;
}

const std::vector<Outcome>& RoundMeasure::measure(const engine::Proposal& proposal,
                                                  const AcceptCoins& accept) {
  proposal_ = &proposal;
  accept_ = accept;
  outcomes_.clear();
  list_coins();
  list_thresholds();
  for (const Coin& coin : order_)
    set(coin, coin.kind == Kind::kAccept ? below(accept[coin.row].end) : below(1.0));
  const Coin last = order_.back();
  split(0, 1.0, evaluate(last, below(1.0)));
  return outcomes_;
}

}  // namespace specbench::suites
