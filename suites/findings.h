// What a part of the lossless battery found.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "results/record.h"
#include "stats/contract.h"

namespace specbench::suites {

/// What kind of invariant a StateViolation's sentence is about: "positions", "layer-order", "trim",
/// "cache-length", "emitted", "max-tokens", "eos", "support", "law-sum", "not-finite" or "other".
/// Tells faults of state apart.
std::string violation_kind(const std::string& sentence);

/// The failed check of a part of that name: "<part>.state.<kind>".
results::Check violated(const std::string& part, const std::string& sentence);

struct Findings {
  std::vector<stats::TestResult> tests;
  std::vector<results::Check> checks;

  void add(std::vector<stats::TestResult> more) {
    std::move(more.begin(), more.end(), std::back_inserter(tests));
  }
  void add(std::vector<results::Check> more) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  }
  void add(Findings more) {
    add(std::move(more.tests));
    add(std::move(more.checks));
  }
  bool has_failure() const {
    return std::any_of(tests.begin(), tests.end(),
                       [](const auto& t) { return t.verdict == stats::Verdict::kFail; }) ||
           std::any_of(checks.begin(), checks.end(),
                       [](const auto& c) { return c.status == results::CheckStatus::kFailed; });
  }
};

}  // namespace specbench::suites
