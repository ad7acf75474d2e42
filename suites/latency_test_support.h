// What the tests of the latency suite share: a measurement whose figures are typed in. For
// *_test.cc only; knows no GoogleTest.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "suites/latency_report.h"

namespace specbench::suites {

inline constexpr int kCases = 2, kWholeBlocks = 5, kRounds = 5;

/// Feeds one round of n drafted and n_accepted emitted-and-accepted tokens to an observer.
inline void feed_round(engine::Observer& observer, int n_drafted, int n_accepted, int first_pos = 1,
                       int lane = 0) {
  const std::vector<engine::TokenId> drafted(static_cast<std::size_t>(n_drafted), 7);
  const std::vector<engine::TokenId> emitted(static_cast<std::size_t>(n_accepted + 1), 7);
  engine::Round round;
  round.lane = lane;
  round.request = static_cast<std::uint32_t>(lane);
  round.first_pos = first_pos;
  round.proposal.drafted = drafted;
  round.n_verdict = round.n_accepted = n_accepted;
  round.emitted = emitted;
  observer.round(round);
}

/// One run: phases other, prefill, draft, verify, accept, trim in ns; the first token falls at the
/// end of the prefill.
inline harness::Sample sample_of(int arm, int case_index, int block,
                                 std::vector<std::int64_t> phases, std::int64_t n_tokens) {
  harness::Sample sample;
  sample.arm = arm;
  sample.case_index = case_index;
  sample.block = block;
  for (const std::int64_t ns : phases) sample.wall_ns += ns;
  sample.first_token_ns = phases[0] + phases[1];
  sample.decode_ns = sample.wall_ns - *sample.first_token_ns;
  sample.phase_ns = std::move(phases);
  sample.n_tokens = n_tokens;
  sample.fingerprint = 42;
  return sample;
}

/// Two prompts, 11 tokens each. Autoregressive: 10 steps of 1000 ns. Speculative: 5 rounds, each
/// with 2 draft steps of 250 ns (c = .25), 1100 ns for the rest (v = 1.1), one of two drafts
/// accepted: 2 tokens for 1600 ns. Hence a speed-up of 1.25 = 2 / (2 x .25 + 1.1), and a = .5.
inline LatencyInput typed_input() {
  LatencyInput input;
  input.series.arm_names = {"autoregressive", "speculative", "speculative-twin"};
  input.series.phase_names = phase_names();
  input.series.blocks_done = kWholeBlocks;
  input.n_sequences = {1, 1};
  for (int block = 0; block < kWholeBlocks; ++block) {
    for (int c = 0; c < kCases; ++c) {
      input.series.samples.push_back(
          sample_of(kAutoregressive, c, block, {0, 500, 0, 9000, 500, 500}, 11));
      for (const int arm : {kSpeculative, kTwin})
        input.series.samples.push_back(
            sample_of(arm, c, block, {0, 500, 2500, 5000, 300, 200}, 11));
    }
  }
  input.series.samples.push_back(
      sample_of(kSpeculative, 0, kWholeBlocks, {0, 1, 1, 1, 1, 1}, 11));  // of a cut-off block
  StepCounter plain, drafted;
  for (int c = 0; c < kCases; ++c) {
    for (engine::Observer* observer :
         {static_cast<engine::Observer*>(&plain), static_cast<engine::Observer*>(&drafted),
          static_cast<engine::Observer*>(&input.tally)})
      observer->prefill({0, 0, 4, 7, nullptr, engine::StopReason::kNone});
    for (int i = 0; i < 2 * kRounds; ++i) {
      plain.phase(engine::Phase::kVerify);
      feed_round(plain, 0, 0);
    }
    for (int i = 0; i < kRounds; ++i) {
      drafted.phase(engine::Phase::kVerify);
      feed_round(drafted, 2, 1);
      feed_round(input.tally, 2, 1);
    }
  }
  input.autoregressive = plain.counts;
  input.speculative = drafted.counts;
  input.shape = {3, true, true};
  input.draft_tokens = 2;
  input.n_layers = 12;
  input.sizes = {0, 100, 300, 0, 1500};
  input.read_bandwidth = 3e9;
  input.l3_bytes = 1000;
  return input;
}

inline double metric(const results::Record& record, const std::string& name) {
  const results::Metric* found = results::find_metric(record, name);
  return found != nullptr && found->value ? *found->value : std::nan("");
}

}  // namespace specbench::suites
