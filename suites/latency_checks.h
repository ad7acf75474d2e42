// What must hold before and after timing: equal tokens where the rule promises them, work as the
// formulas say, timed runs that did what the checked ones did. Pure functions of counts and ids.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "harness/measure.h"
#include "results/record.h"
#include "suites/latency_speed.h"
#include "suites/latency_subject.h"

namespace specbench::suites {

/// Whether the speculative ids must be the autoregressive ones: every rule but token and
/// block rejection above temperature 0, and every rule where nothing is drafted.
bool must_be_equal(const engine::DecodeOptions& options, std::string_view drafter);

/// "equal.tokens" names the first difference; skipped where the ids may differ. "equal.counts" only
/// for a fixed budget.
std::vector<results::Check> check_equality(std::span<const engine::Completion> autoregressive,
                                           std::span<const engine::Completion> speculative,
                                           bool must_equal, bool is_budget_fixed);

/// Token-layers and head rows of RULES.md section 5, over all rounds and prefills.
engine::Work expected_work(const StepCounts& steps, const DraftShape& shape, int n_layers);

/// "counters.token_layers" and "counters.head_rows" of one arm; `suffix` follows the id.
std::vector<results::Check> check_work(const engine::Work& counted, const engine::Work& expected,
                                       const std::string& suffix);

/// What the control drafters must read: nothing drafted by null, nothing refused where the draft is
/// the whole model and drawn as the target draws. Empty for the others.
std::vector<results::Check> check_controls(const Tally& tally, const DraftShape& shape,
                                           std::string_view drafter,
                                           const engine::DecodeOptions& options, int n_layers);

/// "equal.timed": every sample emitted what the checked pass of its arm did. checked[arm][case].
results::Check check_samples(const harness::Series& series,
                             std::span<const std::vector<harness::Outcome>> checked);

/// "identity.itl.<arm>": in every sample, warm-ups too, the deliveries hold the emitted tokens, the
/// first of them is the first token, and sum itl = (n - 1) tpot, as report_arm computes both.
/// Skipped where deliveries were not recorded.
std::vector<results::Check> check_itl(const Measured& measured, bool has_deliveries);

bool has_failure(std::span<const results::Check> checks);

}  // namespace specbench::suites
