// What the gate asks for: its levels and thresholds, with the reasons in ci/gates/policy.json. Must
// not look at a record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"

namespace specbench::ci {

// What happens where an exact counter differs from the baseline's.
enum class CounterRule { kFail, kName };

struct Policy {
  std::vector<int> looks = {10, 20, 40};               // processes a side, rising
  std::vector<double> misses = {0.002, 0.003, 0.005};  // [looks] one-sided level of each bound
  double fail_above = 0.02;    // slowdown, share of the time a token: lower bound above it fails
  double pass_below = 0.05;    // slowdown: upper bound below it passes
  double speedup_floor = 0.0;  // ratio; 0: none asked for
  std::vector<std::string> figures = {"cost"};  // gated: cost, speedup, e2e_speedup
  double max_aa_width = 0.10;                   // of the A/A interval, as a ratio less 1
  double max_aa_bias = 0.01;                    // of the twin, certain, as a ratio less 1
  double max_marked_share = 0.20;               // of samples marked doubtful, each side
  CounterRule counters = CounterRule::kFail;
  double acceptance_miss = 1e-3;  // two-sided, of each side's binomial interval
  double max_certified_tv = 0.005;
  bool require_lossless = false;           // VOID where no record of suite lossless is given
  std::int64_t lossless_samples = 100000;  // token draws; 0: laws are not measured
  double power = 0.9;  // of the smallest slowdown that the report promises to have seen
};

// JSON with // and /* */ comments; keys that are absent keep their defaults. Throws
// std::invalid_argument with one sentence (no full stop) for text that is not JSON, a key that is
// unknown or given twice, and a value out of range.
Policy parse_policy(std::string_view text);
// The same from a file, named in every sentence; also throws where it cannot be read.
Policy read_policy(const std::filesystem::path& path);

// Every value, in the order of the file.
results::Entries policy_entries(const Policy& policy);

}  // namespace specbench::ci
