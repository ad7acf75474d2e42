// What a part of the lossless battery found.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "results/record.h"
#include "stats/contract.h"

namespace specbench::suites {

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
