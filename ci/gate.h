// Judges a candidate's records against a baseline's: PASS, FAIL, INCONCLUSIVE or VOID, each with
// value, threshold and what to do. Must not measure, and never lets absence pass for success.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ci/policy.h"
#include "results/record.h"

namespace specbench::ci {

// Exit codes of `specbench gate`.
enum class Outcome { kPass = 0, kFail = 1, kInconclusive = 2, kVoid = 3 };

// "PASS", "FAIL", "INCONCLUSIVE", "VOID".
const char* outcome_name(Outcome outcome);

// The records of both sides, not owned; null where one was not given. `baseline` is of suite
// latency or baseline, `candidate` of suite latency, the others of suite lossless.
struct GateInput {
  const results::Record* baseline = nullptr;
  const results::Record* candidate = nullptr;
  const results::Record* baseline_lossless = nullptr;
  const results::Record* candidate_lossless = nullptr;
  bool is_last_look = false;  // doubt becomes INCONCLUSIVE instead of a wish for more processes
};

struct GateCheck {
  std::string id;  // "validity.machine", "slowdown.speedup"
  Outcome outcome = Outcome::kVoid;
  std::string detail;           // one sentence: value, threshold, what to do
  std::optional<double> value;  // in the unit of `threshold`; shares and ratios, never percent
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<double> threshold;
};

// A gated figure over processes: ln of the candidate's cost over the baseline's, > 0 is slower.
struct GateFigure {
  std::string name;                   // as in Policy::figures
  double miss = 0.0;                  // one-sided level of its bounds, Holm's share
  std::vector<std::int64_t> process;  // [n_pairs]
  std::vector<double> differences;    // [n_pairs] ln
};

struct GateVerdict {
  Outcome outcome = Outcome::kVoid;
  std::string sentence;
  std::vector<GateCheck> checks;
  int n_wanted = 0;  // > 0: processes a side for the next look
  bool was_interrupted = false;
  std::vector<GateFigure> figures;  // empty where time was not judged
};

// In the order: validity, properties, counters, floor, slowdown, drift, identities. The worst
// outcome counts: a broken property (FAIL) stands even where timing is void, as it does not depend
// on time; time is not judged where validity is broken. Throws std::invalid_argument, with one
// sentence, where there is no record of the candidate or one is of a suite this gate does not know;
// a missing baseline is VOID, since the candidate may be broken by itself.
GateVerdict judge(const GateInput& input, const Policy& policy);

// Suite "gate": checks (VOID counts as inconclusive there), table `gate` (check, outcome, value,
// lower, upper, threshold), table `gate_pairs` (process and ln slowdown of each figure),
// metrics slowdown.<figure> and min_detectable_slowdown[.<figure>], verdict and exit code. Options
// are the policy; environment, build and model the candidate's. command_line, started_utc and
// wall_s are the caller's to fill.
results::Record gate_record(const GateVerdict& verdict, const GateInput& input,
                            const Policy& policy);

}  // namespace specbench::ci
