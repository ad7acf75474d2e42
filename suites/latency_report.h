// What the latency suite says: rates, speed-up, where a round goes, and the cost model beside the
// measurement. Every figure is computed from the plain numbers of LatencyInput, so that a test may
// type them in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure.h"
#include "results/record.h"
#include "suites/info.h"
#include "suites/latency_speed.h"
#include "suites/latency_subject.h"
#include "suites/tally.h"

namespace specbench::suites {

/// The arms, in the order of the harness; the last runs under the gate's protocol only.
enum ArmIndex { kAutoregressive, kSpeculative, kTwin, kInjected };
inline constexpr const char* kArmNames[] = {"autoregressive", "speculative", "speculative-twin",
                                            "speculative-injected"};

struct LatencyInput {
  harness::Series series;        ///< at least one whole block
  std::vector<int> n_sequences;  ///< [case]
  StepCounts autoregressive;     ///< of one pass over all cases
  StepCounts speculative;
  Tally tally;  ///< of the speculative pass
  DraftShape shape;
  int draft_tokens = 0;  ///< g
  int n_layers = 0;
  bool is_article = false;
  std::uint64_t seed = 0;
  int process = 0;  ///< of a run over several
  ModelSizes sizes;
  std::optional<double>
      read_bandwidth;  ///< bytes a second at the working set; absent: not measured
  std::optional<std::int64_t> l3_bytes;
  std::vector<std::string> categories{};  ///< [case]; empty where a case has several prompts
  std::vector<CaseRounds> rounds{};       ///< [case]
};

/// Costs in autoregressive steps, all from phases of the timed runs.
struct Costs {
  double step_ms = 0;        ///< one autoregressive step: verify, accept, trim
  std::optional<double> c;   ///< one draft step; absent: nothing was drafted
  double v = 0;              ///< verify, accept and trim of one speculative step
  double drafted_steps = 0;  ///< draft steps a verification, mean
  double tokens_per_round =
      0;  ///< expected from the acceptance by position and the draft lengths that occurred
  double lanes = 1;          ///< busy sequences a step, over those of the autoregressive arm
  double predicted() const;  ///< E lanes / (g c + v)
};
/// Absent where either arm made no step.
std::optional<Costs> measure_costs(const LatencyInput& input);

/// Weights and cache read by one pass over all cases, each weight once a step. Bytes.
double bytes_read(const StepCounts& steps, const DraftShape& shape, int n_layers,
                  const ModelSizes& sizes);

/// Weights and the mean cache of one step. Bytes.
std::int64_t working_set_bytes(const StepCounts& steps, int n_layers, const ModelSizes& sizes);

/// Metrics, tables and verdict.
void report_latency(const LatencyInput& input, results::Record& record);

}  // namespace specbench::suites
