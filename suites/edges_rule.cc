// Verdicts known beforehand: laws at the corners, coins on a threshold.
#include <fmt/format.h>

#include "suites/edge_cases.h"
#include "suites/keyed_numbers.h"
#include "suites/law_oracle.h"

namespace specbench::suites {

using engine::Acceptance;
using engine::Law;
using engine::RoundCoins;
using engine::TokenId;

namespace {

bool has_residual(const EdgeSubject& subject) { return subject.has_residual(); }

// What differs from the verdict that is due; empty: nothing.
std::string unlike(const Acceptance& a, int n_due, TokenId final_due, const std::string& where) {
  if (a.n_accepted == n_due && a.final_token == final_due) return "";
  return fmt::format("{}: {} accepted and token {} emitted; {} and {} are due.", where,
                     a.n_accepted, a.final_token, n_due, final_due);
}

// The first fault of several; empty: none.
std::string first_of(std::initializer_list<std::string> faults) {
  for (const std::string& fault : faults)
    if (!fault.empty()) return fault;
  return "";
}

std::string equal_laws(const EdgeSubject& subject) {
  KeyedNumbers numbers(101);
  std::vector<double> probs(300);
  for (double& p : probs) p = 0.01 + numbers.uniform();
  const SmallLaw law(probs);
  for (const double u : {0.0, 0.5, kLastCoin}) {
    const Acceptance a = judge(subject, {7, 0, 299}, {law.law, law.law, law.law},
                               {law.law, law.law, law.law, law.law}, coins_of(u, 0.37));
    const std::string fault =
        unlike(a, 3, oracle_draw(probs, 0.37), fmt::format("equal laws, accept coins {}", u));
    if (!fault.empty()) return fault;
  }
  return "";
}

// Target rows that are sure of 4, 2 and 7; the draft is right before row `wrong` and wrong there.
std::string certain_target(const EdgeSubject& subject) {
  constexpr int kIds = 9;
  const SmallLaw level{1, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<TokenId> due{4, 2, 7};
  const std::vector<Law> targets{point_law(kIds, 4), point_law(kIds, 2), point_law(kIds, 7)};
  for (int wrong = 0; wrong <= 2; ++wrong) {
    std::vector<TokenId> drafted{due[0], due[1]};
    if (wrong < 2) drafted[static_cast<std::size_t>(wrong)] = 8;
    std::vector<Law> drafts;
    for (const TokenId id : drafted)
      drafts.push_back(subject.has_residual() ? level.law : point_law(kIds, id));
    // The right tokens with the coin hardest to pass, the wrong one with the easiest.
    RoundCoins coins = coins_of(0.0, 0.5);
    for (int i = 0; i < wrong; ++i) coins.accept[static_cast<std::size_t>(i)] = kLastCoin;
    const std::string fault =
        unlike(judge(subject, drafted, drafts, targets, coins), wrong,
               due[static_cast<std::size_t>(wrong)],
               fmt::format("one-hot target, first wrong draft at row {} of 2", wrong));
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string certain_draft(const EdgeSubject& subject) {
  const SmallLaw target{0.25, 0.5, 0.25};
  const Law draft = point_law(3, 1);
  const auto verdict = [&](double accept, double draw) {
    return judge(subject, {1}, {draft}, {target.law, target.law}, coins_of(accept, draw));
  };
  return first_of({unlike(verdict(0.49, 0.9), 1, 2, "one-hot draft, p = .5, coin .49"),
                   unlike(verdict(0.51, 0.49), 0, 0, "one-hot draft, p = .5, coin .51"),
                   unlike(verdict(kLastCoin, 0.51), 0, 2, "one-hot draft, p = .5, last coin")});
}

std::string disjoint(const EdgeSubject& subject) {
  const std::vector<double> probs{0.125, 0.375, 0.5, 0, 0, 0};
  const SmallLaw target(probs);
  const SmallLaw draft{0, 0, 0, 0.5, 0.25, 0.25};
  for (const double accept : {0.0, kLastCoin})
    for (const double u : {0.0, 0.124, 0.126, 0.49, 0.51, kLastCoin}) {
      const Acceptance a = judge(subject, {3, 5}, {draft.law, draft.law},
                                 {target.law, target.law, target.law}, coins_of(accept, u));
      const std::string fault = unlike(a, 0, oracle_draw(probs, u),
                                       fmt::format("disjoint laws, accept coins {}", accept));
      if (!fault.empty()) return fault;
    }
  return "";
}

// A2: <= lets p = 0 stand at u = 0.
std::string impossible_at_zero(const EdgeSubject& subject) {
  const SmallLaw target{0.0, 0.75, 0.25};
  const SmallLaw draft{0.5, 0.25, 0.25};
  const auto verdict = [&](std::vector<TokenId> drafted) {
    std::vector<Law> drafts(drafted.size(), draft.law);
    std::vector<Law> targets(drafted.size() + 1, target.law);
    return judge(subject, drafted, drafts, targets, coins_of(0.0, 0.0));
  };
  return first_of({unlike(verdict({0}), 0, 1, "p = 0 at coin 0"),
                   unlike(verdict({1, 0}), 1, 1, "p = 0 at coin 0, second row")});
}

// u q = p exactly: refused. The coin before: kept.
std::string strict_threshold(const EdgeSubject& subject) {
  const SmallLaw target{0.25, 0.75};
  const SmallLaw draft{0.5, 0.5};
  const auto one = [&](double u) {
    return judge(subject, {0}, {draft.law}, {target.law, target.law}, coins_of(u, 0.9));
  };
  std::string fault = first_of({unlike(one(0.5), 0, 1, "u q = p, u = .5"),
                                unlike(one(0.5 - 0x1p-53), 1, 1, "u just below p/q = .5")});
  if (!fault.empty() || !subject.is_block()) return fault;
  // P_1 = .5, then E_1 = .5: one token stands iff u < .5 / (.5 + .5).
  const SmallLaw sure{1.0, 0.0};
  const SmallLaw other{0.0, 1.0};
  const auto two = [&](double u) {
    RoundCoins coins = coins_of(0.0, 0.0);
    coins.accept[0] = u;
    return judge(subject, {0, 1}, {draft.law, other.law}, {target.law, sure.law, sure.law}, coins);
  };
  return first_of({unlike(two(0.5), 0, 1, "block rule, u = h = .5"),
                   unlike(two(0.5 - 0x1p-53), 1, 0, "block rule, u just below h = .5")});
}

// A token that its draft cannot give: nothing may be divided by its probability.
std::string zero_draft_prob(const EdgeSubject& subject) {
  const SmallLaw target{0.5, 0.5, 0.0};
  const SmallLaw draft{0.0, 1.0, 0.0};
  const auto verdict = [&](TokenId id, double u) {
    return judge(subject, {id}, {draft.law}, {target.law, target.law}, coins_of(u, 0.9));
  };
  return first_of({unlike(verdict(0, kLastCoin), 1, 1, "q = 0 < p"),
                   unlike(verdict(2, 0.0), 0, 0, "q = 0 = p at coin 0"),
                   unlike(verdict(2, kLastCoin), 0, 0, "q = 0 = p at the last coin")});
}

// R6. Two sums of one law that differ in their last bit: u q rounds to p, and no id has p > q.
std::string empty_residual(const EdgeSubject& subject) {
  const SmallLaw target{0.25, 0.75};
  SmallLaw draft{0.25, 0.75};
  draft.law.total = 1.0 - 0x1p-53;
  for (const auto& [u, due] : {std::pair(0.1, 0), std::pair(0.9, 1)}) {
    const Acceptance a =
        judge(subject, {1}, {draft.law}, {target.law, target.law}, coins_of(kLastCoin, u));
    const std::string fault = unlike(a, 0, due, "a residual that rounding left empty");
    if (!fault.empty()) return fault;
    if (!a.residual_was_empty) return "A residual without mass was not reported.";
  }
  return "";
}

}  // namespace

std::vector<EdgeCase> rule_edges() {
  return {
      {"equal-laws", "Three of three tokens stand where the laws are equal, at the last coin too.",
       equal_laws, has_residual},
      {"certain-target",
       "A one-hot target keeps its own token at the last coin, refuses any other at coin 0, at "
       "each "
       "row and behind all.",
       certain_target},
      {"certain-draft", "A token of a one-hot draft stands with the target's probability .5.",
       certain_draft, has_residual},
      {"disjoint", "Of disjoint laws nothing stands, and the target is drawn from.", disjoint,
       has_residual},
      {"impossible-at-zero", "A token with p = 0 does not stand at u = 0.", impossible_at_zero,
       has_residual},
      {"strict-threshold", "A coin exactly on its threshold refuses; the one below it keeps.",
       strict_threshold, has_residual},
      {"zero-draft-prob", "A drafted token with q = 0 is judged without a division.",
       zero_draft_prob, has_residual},
      {"empty-residual",
       "Where rounding leaves no residual, the target is drawn from, and said so.", empty_residual,
       has_residual},
  };
}

}  // namespace specbench::suites
