// The whole lossless battery over one decoder, at the size asked for: the same code gives the
// verdict of a run and kills the mutants of the selftest.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "suites/context.h"
#include "suites/faults.h"
#include "suites/findings.h"
#include "suites/generation.h"
#include "suites/narrow_cases.h"
#include "suites/tally.h"

namespace specbench::suites {

/// How much data each part takes. 0 or empty: the part is left out.
struct Scale {
  std::int64_t n_real = 0;     ///< verified draws of real generations
  std::int64_t n_setting = 0;  ///< of each other setting
  int batch = 0;               ///< sequences decoded together; 0: the options'
  int n_equality_prompts = 0;
  int n_equality_tokens = 0;
  std::vector<NarrowCase> narrow_cases;
  std::int64_t narrow_rounds = 0;
  std::vector<int> wide_sizes;  ///< vocabularies
  std::int64_t n_wide = 0;      ///< verified draws of each
  bool has_whole_enumeration = false;
  bool confirms = true;  ///< second stage for hits (confirm.h)
};

/// What a verdict needs: everything, with n_samples draws of real text.
Scale full_scale(const Context& context, std::int64_t n_samples);

/// What a planted fault needs to show: some seconds.
Scale probe_scale();

struct BatteryResult {
  Findings findings;
  std::optional<double> certified_tv;
  Tally real;                      ///< of the real generations
  results::NamedTable mismatches;  ///< of their replay
  results::NamedTable pit;         ///< of their tokens (pit.h)
  std::vector<std::pair<std::string, std::int64_t>> counters;
};

/// Runs every part until Ctrl-C. `verifier` as for engine::find_verifier.
BatteryResult run_battery(const Context& context, std::string_view verifier, const Faults& faults,
                          const Scale& scale, std::uint64_t seed);

}  // namespace specbench::suites
