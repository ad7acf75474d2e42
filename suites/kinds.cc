#include "suites/kinds.h"

#include <array>

namespace specbench::suites {

namespace {

/// Takes the part in front of the first dot off `id`.
std::string_view take(std::string_view& id) {
  const std::size_t dot = id.find('.');
  const std::string_view part = id.substr(0, dot);
  id = dot == std::string_view::npos ? std::string_view() : id.substr(dot + 1);
  return part;
}

std::string_view without_index(std::string_view part) { return part.substr(0, part.find('[')); }

// The name of the statistic says how it was looked at, not at what.
std::string_view without_statistic(std::string_view id) {
  constexpr std::array<std::string_view, 4> kStatistics = {".ks", ".chi2", ".bins", ".support"};
  for (const std::string_view suffix : kStatistics)
    if (id.size() > suffix.size() && id.substr(id.size() - suffix.size()) == suffix)
      return id.substr(0, id.size() - suffix.size());
  return id;
}

// A generation's own part: real text under the user's options, or a setting of the suite.
std::string generated_kind(std::string_view family, std::string_view rest) {
  if (rest.rfind("replay.", 0) == 0) return std::string(rest);
  if (rest.rfind("coins.", 0) == 0) return std::string(without_index(rest));
  if (rest.rfind("identity.", 0) == 0) return std::string(family) + ".counters";
  return std::string(family) + "." + std::string(without_index(without_statistic(rest)));
}

}  // namespace

std::string kind_of(std::string_view id) {
  std::string_view rest = id;
  const std::string_view family = take(rest);
  if (family == "enumeration") return "enumeration";
  if (family == "real") return generated_kind(family, rest);
  if (family == "setting") {
    (void)take(rest);  // the setting's name
    return generated_kind(family, rest);
  }
  if (family == "narrow") {
    (void)take(rest);  // the case
    return "narrow." + std::string(without_index(rest));
  }
  if (family == "validity") return "validity." + std::string(take(rest));
  if (family == "wide") {
    (void)take(rest);  // the size
    return "wide." + std::string(without_index(without_statistic(rest)));
  }
  return std::string(without_index(without_statistic(id)));
}

std::set<std::string> failed_kinds(const Findings& findings) {
  std::set<std::string> kinds;
  for (const stats::TestResult& test : findings.tests)
    if (test.verdict == stats::Verdict::kFail) kinds.insert(kind_of(test.id));
  for (const results::Check& check : findings.checks)
    if (check.status == results::CheckStatus::kFailed) kinds.insert(kind_of(check.id));
  return kinds;
}

std::set<std::string> seen_kinds(const Findings& findings) {
  std::set<std::string> kinds;
  for (const stats::TestResult& test : findings.tests) kinds.insert(kind_of(test.id));
  for (const results::Check& check : findings.checks) kinds.insert(kind_of(check.id));
  return kinds;
}

}  // namespace specbench::suites
