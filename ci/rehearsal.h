// How often is this policy right on this machine? Plays many gates with pairs of processes drawn,
// with replacement, from those that were measured (the bootstrap, Efron 1979). Measures nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ci/gate.h"
#include "ci/policy.h"
#include "results/record.h"

namespace specbench::ci {

// Records of suite latency, baseline and candidate of the i-th gate side by side, not owned.
struct RehearsalInput {
  std::vector<const results::Record*> baseline;   // [n_records]
  std::vector<const results::Record*> candidate;  // [n_records]
};

struct Rehearsal {
  std::int64_t n_pairs = 0;  // pairs of processes at hand
  std::int64_t n_gates = 0;
  // Gates that ended at that look with that outcome (index as in Outcome).
  std::vector<std::array<std::int64_t, 4>> ended;  // [looks]
  std::array<std::string, 4> first_sentence;       // of each outcome; empty where none ended so
  std::vector<double> differences;                 // [n_pairs] of the first figure, ln

  std::int64_t count(Outcome outcome) const;
};

// Requires n_gates >= 1. Same seed, same gates. Throws std::invalid_argument, with one sentence,
// where the sides do not pair up or a record is no latency record with process values.
Rehearsal rehearse(const RehearsalInput& input, const Policy& policy, std::int64_t n_gates,
                   std::uint64_t seed);

// Suite "rehearsal": metrics share.<outcome> with Clopper-Pearson intervals of the resampling (what
// the pairs at hand do not show, it cannot see), spread of the pairs, table `rehearsal` (look,
// outcome, gates). Always exit code 0: it describes, and judges no build.
results::Record rehearsal_record(const Rehearsal& rehearsal, const RehearsalInput& input,
                                 const Policy& policy);

}  // namespace specbench::ci
