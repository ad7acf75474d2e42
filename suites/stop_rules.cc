#include "suites/stop_rules.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace specbench::suites {

using engine::Law;
using engine::TokenId;

namespace {

constexpr double kUnsure = 0.55;  ///< largest probability below it: nothing is drawn
constexpr double kWeak = 0.30;    ///< probability of a weak token is below it

bool is_weak(const DraftRow& row, TokenId id) { return row.law.prob(id) < kWeak; }
bool is_eos(const DraftRow& row, TokenId id) { return id == row.law.n_ids - 1; }
bool is_unsure(const DraftRow& row) {
  double largest = 0.0;
  for (TokenId id = 0; id < row.law.n_ids; ++id) largest = std::max(largest, row.law.prob(id));
  return largest < kUnsure;
}

/// Every id that can be drawn, kept; drafting ends behind those that `is_last` names.
template <typename IsLast>
void keep_all(const DraftRow& row, std::vector<Branch>& out, const IsLast& is_last) {
  for (TokenId id = 0; id < row.law.n_ids; ++id)
    if (const double prob = row.drawn_prob(id); prob > 0.0)
      out.push_back({prob, id, is_last(id), row.reported(id)});
}

void draft_plain(const DraftRow& row, std::vector<Branch>& out) {
  keep_all(row, out, [](TokenId) { return false; });
}
void draft_if_sure(const DraftRow& row, std::vector<Branch>& out) {
  if (is_unsure(row))
    out.push_back({1.0, -1, true, {}});
  else
    draft_plain(row, out);
}
void draft_to_weak(const DraftRow& row, std::vector<Branch>& out) {
  keep_all(row, out, [&](TokenId id) { return is_weak(row, id); });
}
void draft_to_eos(const DraftRow& row, std::vector<Branch>& out) {
  keep_all(row, out, [&](TokenId id) { return is_eos(row, id); });
}
void draft_with_all(const DraftRow& row, std::vector<Branch>& out) {
  if (is_unsure(row))
    out.push_back({1.0, -1, true, {}});
  else
    keep_all(row, out, [&](TokenId id) { return is_weak(row, id) || is_eos(row, id); });
}

/// Keeps the ids that `is_refused` does not name; returns the probability of the others.
template <typename IsRefused>
double keep_some(const DraftRow& row, std::vector<Branch>& out, const IsRefused& is_refused) {
  double refused = 0.0;
  for (TokenId id = 0; id < row.law.n_ids; ++id) {
    const double prob = row.drawn_prob(id);
    if (is_refused(id))
      refused += prob;
    else if (prob > 0.0)
      out.push_back({prob, id, false, row.reported(id)});
  }
  return refused;
}

void drop_weak(const DraftRow& row, std::vector<Branch>& out) {
  out.push_back({keep_some(row, out, [&](TokenId id) { return is_weak(row, id); }), -1, true, {}});
}
void drop_eos(const DraftRow& row, std::vector<Branch>& out) {
  out.push_back({keep_some(row, out, [&](TokenId id) { return is_eos(row, id); }), -1, true, {}});
}
void redraw(const DraftRow& row, const Law& from, std::vector<Branch>& out) {
  const double refused = keep_some(row, out, [&](TokenId id) { return is_weak(row, id); });
  for (TokenId id = 0; id < from.n_ids; ++id)
    if (const double prob = refused * from.prob(id); prob > 0.0)
      out.push_back({prob, id, false, from});
}
void redraw_weak(const DraftRow& row, std::vector<Branch>& out) { redraw(row, row.law, out); }
void redraw_deeper(const DraftRow& row, std::vector<Branch>& out) { redraw(row, row.deeper, out); }

int all_of(int g, int) { return g; }
/// As many as the round before accepted: none behind one that accepted nothing.
int as_accepted(int g, int n_before) { return n_before < 0 ? g : std::min(g, n_before); }

}  // namespace

const std::vector<StopRule>& legal_stop_rules() {
  static const std::vector<StopRule> rules{
      {"fixed", draft_plain, all_of},
      {"stop-before-drawing", draft_if_sure, all_of},
      {"stop-behind-weak", draft_to_weak, all_of},
      {"eos", draft_to_eos, all_of, true},
      {"as-accepted-before", draft_plain, as_accepted},
      {"max-tokens", draft_plain, all_of, false, true},
      {"all-together", draft_with_all, as_accepted, true, true},
  };
  return rules;
}

const std::vector<StopRule>& illegal_stop_rules() {
  static const std::vector<StopRule> rules{
      {"drop-weak", drop_weak, all_of},
      {"drop-eos", drop_eos, all_of, true},
      {"redraw-weak", redraw_weak, all_of},
      {"redraw-deeper", redraw_deeper, all_of},
  };
  return rules;
}

const StopRule& stop_rule(std::string_view name) {
  for (const auto* rules : {&legal_stop_rules(), &illegal_stop_rules()})
    for (const StopRule& rule : *rules)
      if (rule.name == name) return rule;
  throw std::logic_error("There is no stop rule " + std::string(name) + ".");
}

}  // namespace specbench::suites
