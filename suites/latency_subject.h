// The arms of the latency suite: a slice of the prompts decoded either way, as something the
// harness can time, and the untimed pass over them that checks tokens and counts steps first. Reads
// no clock. A timed run holds all that a caller pays for: the engine builds its buffers before the
// first token, inside end-to-end time and outside decode time; what the rounds add (lists of tokens
// and laws that grow) and the hash of the ids behind the last token are inside both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.h"
#include "engine/decode.h"
#include "engine/drafter.h"
#include "harness/measure.h"
#include "suites/context.h"
#include "suites/latency_categories.h"
#include "suites/tally.h"

namespace specbench::suites {

/// The phases of a timed run, in the order of phase_names().
enum PhaseIndex { kPhaseOther, kPhasePrefill, kPhaseDraft, kPhaseVerify, kPhaseAccept, kPhaseTrim };
std::vector<std::string> phase_names();

/// What one draft step runs through, by the drafter's definition.
struct DraftShape {
  int layers = 0;  ///< 0: the model is not run
  bool has_head = false;
  bool is_reused = false;  ///< the verification goes on from these layers
};
DraftShape draft_shape(std::string_view drafter, int draft_layers, int n_layers);

/// Steps of the engine, counted from its events. A step serves all lanes.
struct StepCounts {
  std::int64_t n_sequences = 0;
  std::int64_t n_prompt_tokens = 0;
  std::int64_t n_steps = 0;        ///< verifications
  std::int64_t n_draft_steps = 0;  ///< the longest draft of each step, summed
  std::int64_t n_draft_entries =
      0;  ///< cache entries a layer reads in the draft, summed over drafted tokens
  std::int64_t n_verify_entries = 0;            ///< and in the verification, summed over rounds
  std::vector<std::int64_t> rounds_by_drafted;  ///< [n]: rounds that drafted n
  std::int64_t n_rounds() const;
};

class StepCounter final : public engine::Observer {
 public:
  void phase(engine::Phase phase) override;
  void prefill(const engine::Prefill& prefill) override;
  void round(const engine::Round& round) override;
  StepCounts counts;

 private:
  int longest_draft_ = 0;  ///< of the step under way
};

using Case = std::vector<engine::Request>;

/// Decodes case after case. Speculative where it has a drafter, else autoregressive. After each
/// round it waits for `injected` times what the round took: work that is known to be there, as a
/// share of what was.
class Arm final : public harness::Subject {
 public:
  Arm(std::string name, engine::Backend& backend, engine::Drafter* drafter,
      engine::DecodeOptions options, std::span<const Case> cases, double injected = 0);

  const std::string& name() const override { return name_; }
  void prepare(int case_index) override;
  harness::Outcome run(int case_index, harness::PhaseTimer& timer) override;

  std::vector<engine::Completion> decode(int case_index, engine::Observer& observer);
  std::span<const Case> cases() const { return cases_; }
  engine::Backend& backend() const { return backend_; }

 private:
  std::string name_;
  engine::Backend& backend_;
  engine::Drafter* drafter_;
  engine::DecodeOptions options_;
  std::span<const Case> cases_;
  double injected_;
};

/// Tokens emitted, and a hash of their ids and of where each request ends.
harness::Outcome outcome_of(std::span<const engine::Completion> completions);

/// One untimed pass of an arm over every case.
struct CheckedPass {
  Tally tally;
  StepCounts steps;
  engine::Work work;  ///< as the backend counted it
  std::vector<engine::Completion> completions;
  std::vector<harness::Outcome> outcomes;  ///< [case]
  std::vector<CaseRounds> rounds;          ///< [case]
};
CheckedPass run_checked(Arm& arm, const Context& context);

}  // namespace specbench::suites
