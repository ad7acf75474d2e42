#include "suites/enumeration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/error.h"
#include "engine/parallel.h"
#include "suites/coupled_texts.h"
#include "suites/two_rounds.h"

namespace specbench::suites {

namespace {

const char* tables_name(Tables tables) {
  switch (tables) {
    case Tables::kRandom:
      return "random";
    case Tables::kMixed:
      return "mixed";
    case Tables::kTied:
      break;
  }
  return "tied";
}

// Everything that looks at the past: with these a law depends on the whole text. The last id is
// EOS.
engine::SamplingParams processors(int n_ids, double temperature) {
  engine::SamplingParams params;
  params.temperature = temperature;
  params.repetition_penalty = 1.3;
  params.presence_penalty = 0.4;
  params.frequency_penalty = 0.3;
  params.logit_bias = {{1, 0.5}};
  params.min_tokens = 2;
  if (n_ids > 3) {  // with three ids, EOS among them, a ban would leave nothing to choose
    params.banned = {1};
    params.min_p = 0.02;
  }
  return params;
}

struct Battery {
  std::string_view verifier;
  std::vector<EnumerationCase> cases;

  void add(int n_ids, int g, const StopRule& stop, bool has_processors) {
    EnumerationCase one;
    one.n_ids = n_ids;
    one.g = g;
    one.stop = &stop;
    const double temperature = verifier == "greedy" ? 0.0 : has_processors ? 0.8 : 1.0;
    one.params.temperature = temperature;
    if (has_processors) one.params = processors(n_ids, temperature);
    using Choice = std::pair<Tables, std::uint64_t>;
    std::vector<Choice> choices{{Tables::kRandom, 1}, {Tables::kRandom, 2}, {Tables::kMixed, 3}};
    if (verifier == "greedy") choices.emplace_back(Tables::kTied, 4);
    if (has_processors) choices.resize(1);  // others may leave no token
    for (const auto& [tables, seed] : choices) {
      one.tables = tables;
      one.seed = seed;
      cases.push_back(one);
    }
  }
};

}  // namespace

std::string EnumerationCase::name() const {
  return fmt::format("V = {}, g = {}, {} laws {}", n_ids, g, tables_name(tables), seed);
}

std::vector<EnumerationCase> enumeration_cases(std::string_view verifier) {
  Battery battery{verifier, {}};
  for (const StopRule& stop : legal_stop_rules()) {
    const bool is_base = &stop == &legal_stop_rules().front();
    for (int n_ids = 2; n_ids <= 6; ++n_ids)
      for (int g = 1; g <= 4; ++g)
        if (is_base || n_ids == 3 || (n_ids == 4 && g == 3)) battery.add(n_ids, g, stop, false);
    for (int g = 1; g <= 3; ++g) battery.add(3, g, stop, true);
    battery.add(4, 2, stop, true);
  }
  return battery.cases;
}

EnumerationResult enumerate(const EnumerationCase& one, const RuleUnderTest& rule) {
  return rule.verifier == "coupled" ? compare_coupled_texts(one, rule)
                                    : compare_two_rounds(one, rule);
}

namespace {

// The engine's accept coins leave the round out of their key: a later round meets them again.
bool accept_coins_are_shared(const engine::Steps& steps) {
  int n_equal = 0;
  for (std::uint32_t request = 0; request < 4; ++request)
    n_equal += steps.coins({1, request, 10, 3, 0}).accept[2] ==
               steps.coins({1, request, 12, 1, 0}).accept[0];
  return n_equal == 4;
}

struct CaseOutcome {
  double l1 = 0.0;
  std::string worst;
  std::string violation;  // why there is no law
  bool has_passed() const { return violation.empty() && l1 <= kMaxEnumerationL1; }
};

CaseOutcome run_case(const EnumerationCase& one, const RuleUnderTest& rule) {
  try {
    const EnumerationResult result = enumerate(one, rule);
    return {result.l1, result.worst, ""};
  } catch (const std::logic_error& error) {  // StateViolation and InputError
    return {2.0, "", error.what()};
  }
}

std::string check_id(std::string_view verifier, const EnumerationCase& one) {
  return fmt::format("enumeration.{}.{}{}", verifier, one.stop->name,
                     one.params.has_processors() ? ".processors" : "");
}

/// The cases of one check.
struct Group {
  std::string id;
  std::vector<std::size_t> cases;
};

results::Check summarise(const Group& group, const std::vector<EnumerationCase>& cases,
                         const std::vector<CaseOutcome>& outcomes, std::string_view verifier) {
  const std::size_t worst = *std::max_element(
      group.cases.begin(), group.cases.end(),
      [&](std::size_t a, std::size_t b) { return outcomes[a].l1 < outcomes[b].l1; });
  const auto n_off = std::count_if(group.cases.begin(), group.cases.end(),
                                   [&](std::size_t i) { return !outcomes[i].has_passed(); });
  const std::string where = cases[worst].name();
  results::Check check{group.id, results::CheckStatus::kPassed, ""};
  const char* const what = verifier == "coupled" ? "share of texts that differ" : "L1";
  if (n_off == 0) {
    check.detail = fmt::format("{} laws of two rounds, largest {} {:.1e} ({}).", group.cases.size(),
                               what, outcomes[worst].l1, where);
    return check;
  }
  check.status = results::CheckStatus::kFailed;
  check.detail =
      outcomes[worst].violation.empty()
          ? fmt::format("{} of {} laws of two rounds are off; {} {:.3g} at {}: {}.", n_off,
                        group.cases.size(), what, outcomes[worst].l1, where, outcomes[worst].worst)
          : fmt::format("{} of {} laws of two rounds are off; {}: {}", n_off, group.cases.size(),
                        where, outcomes[worst].violation);
  return check;
}

// Dealt out one by one: neighbours cost alike, and the widest a thousand times the narrowest.
std::vector<CaseOutcome> run_cases(const std::vector<EnumerationCase>& cases,
                                   const RuleUnderTest& rule, int n_threads) {
  std::vector<CaseOutcome> outcomes(cases.size());
  const int n_hands = std::max(1, n_threads);
  engine::parallel_for(n_hands, n_hands, [&](int hand) {
    for (std::size_t i = static_cast<std::size_t>(hand); i < cases.size();
         i += static_cast<std::size_t>(n_hands))
      outcomes[i] = run_case(cases[i], rule);
  });
  return outcomes;
}

bool is_wide(const EnumerationCase& one) { return one.n_ids > 4 && one.g > 3; }

std::vector<Group> groups_of(const std::vector<EnumerationCase>& cases, std::string_view verifier) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string id = check_id(verifier, cases[i]);
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [&](const Group& group) { return group.id == id; });
    if (at == groups.end())
      groups.push_back({id, {i}});
    else
      at->cases.push_back(i);
  }
  return groups;
}

}  // namespace

std::vector<results::Check> check_enumeration(std::string_view verifier, const engine::Steps& steps,
                                              int n_threads, bool is_whole) {
  const RuleUnderTest rule{verifier, steps};
  std::vector<EnumerationCase> cases = enumeration_cases(verifier);
  if (!is_whole) std::erase_if(cases, [](const EnumerationCase& one) { return one.n_ids > 4; });
  // Only the block rule looks at coins behind its cut; the shared ones are not worth their cost
  // with every law.
  if (accept_coins_are_shared(steps))
    for (EnumerationCase& one : cases) one.shares_accept_coins = one.n_ids <= 3 && one.g <= 3;
  const auto wide = std::stable_partition(cases.begin(), cases.end(),
                                          [](const EnumerationCase& one) { return !is_wide(one); });
  const std::vector<EnumerationCase> wide_cases(wide, cases.end());
  cases.erase(wide, cases.end());
  std::vector<CaseOutcome> outcomes = run_cases(cases, rule, n_threads);
  // A rule known to be wrong is not worth the wide cases: its thresholds have to be bisected.
  if (std::all_of(outcomes.begin(), outcomes.end(),
                  [](const CaseOutcome& outcome) { return outcome.has_passed(); })) {
    for (CaseOutcome& outcome : run_cases(wide_cases, rule, n_threads))
      outcomes.push_back(std::move(outcome));
    cases.insert(cases.end(), wide_cases.begin(), wide_cases.end());
  }
  std::vector<results::Check> checks;
  for (const Group& group : groups_of(cases, verifier))
    checks.push_back(summarise(group, cases, outcomes, verifier));
  return checks;
}

}  // namespace specbench::suites
