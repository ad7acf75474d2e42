// What is judged of times: the floor of the speed-up, and no figure slower than the baseline's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/gate_checks.h"
#include "stats/summary.h"

namespace specbench::ci {
namespace {

constexpr const char* kVoid = "Not judged: the times are void; see validity.";
constexpr const char* kTimeless =
    "Not applicable: the baseline holds no times; give records or programs of one job.";

// ln of the candidate's cost over the baseline's in each process.
std::vector<double> differences_of(const ProcessPairs& pairs, const std::string& figure) {
  const FigureSource source = source_of(figure);
  const std::vector<double>& baseline = pairs.baseline.at(source.column);
  std::vector<double> differences = pairs.candidate.at(source.column);
  for (std::size_t i = 0; i < differences.size(); ++i)
    differences[i] = source.sign * (differences[i] - baseline[i]);
  return differences;
}

// Percent slower with the bounds and how they were had; without bounds, why.
struct Bounds {
  double miss;
  double estimate;
  std::optional<stats::Interval> interval;
};

Bounds bounds_of(const std::vector<double>& differences, double miss) {
  return {miss, stats::median(differences), stats::median_interval(differences, 1.0 - 2.0 * miss)};
}

Outcome outcome_of(const Bounds& bounds, const Policy& policy) {
  if (!bounds.interval) return Outcome::kInconclusive;
  if (share_of(bounds.interval->lower) > policy.fail_above) return Outcome::kFail;
  if (share_of(bounds.interval->upper) < policy.pass_below) return Outcome::kPass;
  return Outcome::kInconclusive;
}

std::string advice(Outcome outcome, const Judgement& j) {
  if (outcome == Outcome::kPass) return fmt::format("less than {}.", percent(j.policy.pass_below));
  if (outcome == Outcome::kFail)
    return fmt::format(
        "more than {} with certainty. Profile both, or raise fail_above if it is "
        "meant.",
        percent(j.policy.fail_above));
  return fmt::format("neither above {} nor below {} with certainty; {}",
                     percent(j.policy.fail_above), percent(j.policy.pass_below),
                     j.input.is_last_look ? "quiet the machine or measure more processes."
                                          : "the next look measures more processes.");
}

void report(Judgement& j, const std::string& figure, const Bounds& bounds, Outcome outcome) {
  const double share = share_of(bounds.estimate);
  const std::string range = bounds.interval
                                ? fmt::format("{}..{}", percent(share_of(bounds.interval->lower)),
                                              percent(share_of(bounds.interval->upper)))
                                : "no bounds from so few";
  GateCheck& check = j.add(
      "slowdown." + figure, outcome,
      fmt::format(
          "The candidate is {} {} in {} (slowdown {}; {} processes, each bound missing with at "
          "most {:.2g}): {}",
          percent(std::fabs(share)), share < 0.0 ? "faster" : "slower", figure, range, j.pairs.n(),
          bounds.miss, advice(outcome, j)));
  check.value = share;
  if (bounds.interval) {
    check.lower = share_of(bounds.interval->lower);
    check.upper = share_of(bounds.interval->upper);
  }
  check.threshold = outcome == Outcome::kFail ? j.policy.fail_above : j.policy.pass_below;
}

// Holm (1979): every figure at alpha / m; those that fail leave, and the rest share alpha anew.
// Passing needs every figure's own bound, so no share is owed there; the wider one is safe.
void judge_figures(Judgement& j, double alpha) {
  std::vector<std::string> open = j.policy.figures;
  std::map<std::string, std::pair<Bounds, Outcome>> judged;
  for (bool has_left = true; has_left && !open.empty();) {
    const double miss = alpha / static_cast<double>(open.size());
    std::vector<std::string> staying;
    for (const std::string& figure : open) {
      const Bounds bounds = bounds_of(differences_of(j.pairs, figure), miss);
      const Outcome outcome = outcome_of(bounds, j.policy);
      judged.insert_or_assign(figure, std::pair{bounds, outcome});
      if (outcome != Outcome::kFail) staying.push_back(figure);
    }
    has_left = staying.size() < open.size();
    open = std::move(staying);
  }
  for (const std::string& figure : j.policy.figures) {
    const auto& [bounds, outcome] = judged.at(figure);
    report(j, figure, bounds, outcome);
    j.figures.push_back({figure, bounds.miss, j.pairs.process, differences_of(j.pairs, figure)});
  }
}

}  // namespace

void check_floor(Judgement& j) {
  if (j.policy.speedup_floor <= 0.0 || j.input.candidate == nullptr) return;
  const double floor = j.policy.speedup_floor;
  if (!j.is_timed || j.pairs.candidate.empty()) {
    j.add("floor.speedup", Outcome::kVoid, kVoid).threshold = floor;
    return;
  }
  const double miss = j.policy.misses[look_of(j.policy, j.pairs.n())];
  const Bounds bounds = bounds_of(j.pairs.candidate.at("log_speedup"), miss);
  if (!bounds.interval) {
    j.add("floor.speedup", Outcome::kInconclusive,
          fmt::format("{} processes give no bound at level {:.2g}; measure more.", j.pairs.n(),
                      miss));
    return;
  }
  const double upper = std::exp(bounds.interval->upper);
  const bool is_below = upper < floor;
  GateCheck& check = j.add(
      "floor.speedup", is_below ? Outcome::kFail : Outcome::kPass,
      fmt::format("The candidate's speed-up is {:.3f} ({:.3f}..{:.3f}), the floor {:.3f}: {}",
                  std::exp(bounds.estimate), std::exp(bounds.interval->lower), upper, floor,
                  is_below ? "below it with certainty; another exit layer or draft length may "
                             "help, or the floor is too high."
                           : "not below it with certainty."));
  check.value = std::exp(bounds.estimate);
  check.lower = std::exp(bounds.interval->lower);
  check.upper = upper;
  check.threshold = floor;
}

void check_slowdowns(Judgement& j) {
  if (j.input.candidate == nullptr) return;
  if (j.has_times() && j.is_timed)
    return judge_figures(j, j.policy.misses[look_of(j.policy, j.pairs.n())]);
  for (const std::string& figure : j.policy.figures)
    j.add("slowdown." + figure, j.is_timeless() ? Outcome::kPass : Outcome::kVoid,
          j.is_timeless() ? kTimeless : kVoid);
}

}  // namespace specbench::ci
