#include "suites/confirm.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/coins.h"
#include "suites/budget.h"

namespace specbench::suites {

namespace {

bool is_hit(const stats::TestResult& test) { return test.verdict == stats::Verdict::kFail; }
bool is_forbidden(const stats::TestResult& test) { return is_hit(test) && test.is_forbidden; }

// What the second stage says of a hit of the first.
stats::TestResult judged(const stats::TestResult& hit, const stats::TestResult& again) {
  stats::TestResult result = is_hit(again) ? hit : again;
  result.reason +=
      is_hit(again)
          ? fmt::format("; confirmed by fresh coins: p = {:.1e} over {}", again.p_value, again.n)
          : fmt::format(
                "; the first look had p = {:.1e} over {}, which fresh coins did not confirm",
                hit.p_value, hit.n);
  return result;
}

// A class that fresh coins never showed cannot clear itself; alone the first stage convicts it only
// at the level that both stages have together.
stats::TestResult unjudged(stats::TestResult hit) {
  if (hit.p_value < kFamilyAlpha / kMaxTests) return hit;
  hit.verdict = stats::Verdict::kInconclusive;
  hit.reason += "; no fresh coins to judge it by";
  return hit;
}

}  // namespace

std::uint64_t stage_seed(std::uint64_t seed, std::uint32_t group, int stage) {
  return engine::coin_words({seed, group, static_cast<std::uint32_t>(stage), 0,
                             engine::Purpose::kVerification, 0xffffff})[0];
}

std::vector<stats::TestResult> run_confirmed(const TestGroup& group, std::uint64_t seed,
                                             std::uint32_t n_group, int factor,
                                             const std::function<Second()>& second) {
  std::vector<stats::TestResult> tests = group(stage_seed(seed, n_group, 0), 1);
  const auto is_open = [](const stats::TestResult& t) { return is_hit(t) && !is_forbidden(t); };
  if (std::none_of(tests.begin(), tests.end(), is_open)) return tests;
  const Second way = second();
  std::vector<stats::TestResult> made_again;
  if (way == Second::kMake) made_again = group(stage_seed(seed, n_group, 1), factor);
  for (stats::TestResult& test : tests) {
    if (!is_open(test)) continue;
    const auto again = std::find_if(made_again.begin(), made_again.end(),
                                    [&](const auto& other) { return other.id == test.id; });
    if (way == Second::kNotNeeded)
      test.reason += "; not made again";
    else
      test = again != made_again.end() ? judged(test, *again) : unjudged(test);
  }
  return tests;
}

}  // namespace specbench::suites
