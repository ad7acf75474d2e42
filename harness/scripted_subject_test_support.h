// For tests: an arm whose times are typed in, on a fake clock, so that a whole measurement runs in
// microseconds and its estimates are known beforehand. Knows no model; never waits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/clock.h"
#include "harness/measure.h"

namespace specbench::harness {

struct Script {
  std::vector<std::vector<std::int64_t>> phase_ns{};  // [n_cases, n_phases]
  std::int64_t n_tokens = 8;                          // delivered at the end of each run; 0: none
  std::uint64_t fingerprint = 100;                    // of case 0; that of case c is c more
  // The phase after which the first token is there; -1: with the delivery.
  int first_token_phase = -1;
  // The machine slows down: at time t every duration is (1 + drift_per_second * t) times as long,
  // for all arms on the clock alike.
  double drift_per_second = 0;
  // Factors of single runs of this arm, counted from 0 over warm-ups and all cases.
  std::map<int, double> outliers{};
};

class ScriptedSubject final : public Subject {
 public:
  ScriptedSubject(std::string name, FakeClock& clock, Script script)
      : name_(std::move(name)), clock_(clock), script_(std::move(script)) {}

  const std::string& name() const override { return name_; }
  void prepare(int) override {}
  Outcome run(int case_index, PhaseTimer& timer) override {
    const auto& phases = script_.phase_ns.at(static_cast<std::size_t>(case_index));
    const double seconds = static_cast<double>(clock_.time_ns()) * 1e-9;
    const auto outlier = script_.outliers.find(n_runs_++);
    const double factor = (1 + script_.drift_per_second * seconds) *
                          (outlier == script_.outliers.end() ? 1 : outlier->second);
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
      if (phase > 0) timer.enter(static_cast<int>(phase));
      clock_.advance(std::llround(static_cast<double>(phases[phase]) * factor));
      if (static_cast<int>(phase) == script_.first_token_phase) timer.first_token();
    }
    if (script_.n_tokens > 0) timer.delivered(static_cast<int>(script_.n_tokens));
    return {script_.n_tokens, script_.fingerprint + static_cast<std::uint64_t>(case_index)};
  }
  int n_runs() const { return n_runs_; }

 private:
  std::string name_;
  FakeClock& clock_;
  Script script_;
  int n_runs_ = 0;
};

}  // namespace specbench::harness
