// Whether a timed run measured what its figures say: every arm warm, the decode time without the
// prefill, all arms on one path. Pure functions of samples and descriptions; measures nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend.h"
#include "engine/decode.h"
#include "harness/measure.h"
#include "results/record.h"
#include "suites/timing_faults.h"

namespace specbench::suites {

/// Warm-up passes that each arm makes over each case before it is measured, at least.
inline constexpr int kLeastWarmups = 3;

/// What an arm runs on, all but its draft. Arms that are compared have equal ones.
struct ArmPath {
  std::string arm;  ///< its name; no part of the path
  std::string backend;
  std::string vector_target;
  std::string dtype;  ///< of the weights
  int threads = 0;
  std::uint64_t weights_hash = 0;
  std::string sampling;  ///< verifier, filters, penalties, seed
  std::string token_counting;
  int max_tokens = 0;  ///< of a request
  std::string stop_rule;
};

/// The path of an arm from what it really runs with: its backend, and the options that it decodes
/// with. max_tokens: of each of its requests.
ArmPath path_of(std::string arm, const engine::Backend& backend, const engine::Model& model,
                const engine::DecodeOptions& options, int max_tokens);

/// FNV-1a of every field but the arm's name.
std::uint64_t hash_of(const ArmPath& path);

/// "validity.warmup.<arm>": on every case that was measured the arm had at least kLeastWarmups
/// passes before, marked as warm-up, that emitted the same tokens. Skipped where nothing was
/// measured.
std::vector<results::Check> check_warmups(const harness::Series& series);

/// "validity.decode-region.<arm>": in every sample, warm-ups too, the phases sum to the wall time,
/// and so do the time to the first token and the decode time; and the first token comes no earlier
/// than the prefill takes. The last may break in one sample of ten: between a delivery and the
/// phase that follows it a thread can lose its core, and the prefill is charged for that. Skipped
/// for an arm that emits no tokens; failed where no phase is called "prefill".
std::vector<results::Check> check_decode_regions(const harness::Series& series);

/// "validity.same-path": the arms' paths are equal. Its detail gives the hash, or the first field
/// that differs. Skipped for fewer than two arms.
results::Check check_same_path(std::span<const ArmPath> paths);

/// All of the above.
std::vector<results::Check> check_validity(const harness::Series& series,
                                           std::span<const ArmPath> paths);

/// Plants no_warmup and prefill_in_decode in what was measured: cold passes become the first
/// blocks, decode time begins with the run. To be called before anything reads the series.
void apply(const TimingFaults& faults, harness::Series& series);

}  // namespace specbench::suites
