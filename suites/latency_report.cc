#include "suites/latency_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/speculative.h"
#include "suites/latency_model.h"
#include "suites/process_values.h"

namespace specbench::suites {

namespace {

/// verify, accept and trim of an arm, ns over all blocks.
double target_ns(const ArmTimes& times) {
  return times.phase_ns[kPhaseVerify] + times.phase_ns[kPhaseAccept] + times.phase_ns[kPhaseTrim];
}

/// 1 + a_1 + a_1 a_2 + .. for each round's draft length, averaged over rounds.
double expected_tokens(const Tally& tally, const StepCounts& steps) {
  const std::vector<double> acceptance = tally.conditional_acceptance();
  double sum = 0;
  for (std::size_t n = 0; n < steps.rounds_by_drafted.size(); ++n) {
    if (steps.rounds_by_drafted[n] == 0) continue;
    const std::span<const double> first(acceptance.data(), std::min(n, acceptance.size()));
    sum +=
        static_cast<double>(steps.rounds_by_drafted[n]) * stats::expected_tokens_per_round(first);
  }
  return sum / static_cast<double>(steps.n_rounds());
}

void report_costs(const std::optional<Costs>& costs, results::Record& record) {
  const char* none = costs ? "nothing was drafted" : "no step was timed";
  const auto metric = [&](const char* name, std::optional<double> value, const char* unit,
                          const char* note) {
    record.metrics.push_back({name, value, unit, {}, {}, {}, value ? note : none});
  };
  const auto of = [&](auto member) {
    return costs ? std::optional<double>((*costs).*member) : std::nullopt;
  };
  metric("autoregressive_step_ms", of(&Costs::step_ms), "ms", "verify, accept, trim");
  metric("draft_cost", costs ? costs->c : std::nullopt, "1", "c, in autoregressive steps");
  metric("verify_cost", of(&Costs::v), "1", "v, in autoregressive steps");
  metric("drafted_per_round", of(&Costs::drafted_steps), "1", "draft steps, mean");
}

/// Where a round goes; what is not draft, verify or accept is other.
void report_split(const LatencyInput& input, const ArmTimes& times, results::Record& record) {
  const auto n_steps = static_cast<double>(input.speculative.n_steps * input.series.blocks_done);
  const double other_ns = times.decode_ns - times.phase_ns[kPhaseDraft] -
                          times.phase_ns[kPhaseVerify] - times.phase_ns[kPhaseAccept];
  const auto metric = [&](const char* name, double ns, const char* note) {
    const auto value = n_steps > 0 ? std::optional(ns * 1e-6 / n_steps) : std::nullopt;
    record.metrics.push_back({name, value, "ms", {}, {}, {}, value ? note : "no round"});
  };
  metric("draft_ms", times.phase_ns[kPhaseDraft], "mean of a round");
  metric("verify_ms", times.phase_ns[kPhaseVerify], "mean of a round");
  metric("accept_ms", times.phase_ns[kPhaseAccept], "mean of a round");
  metric("other_ms", other_ns, "mean of a round: the rest");
}

void report_bandwidth(const LatencyInput& input, const ArmTimes& autoregressive,
                      results::Record& record) {
  const auto add = [&](const char* name, std::optional<double> value, const char* unit,
                       const std::string& note) {
    record.metrics.push_back({name, value, unit, {}, {}, {}, note});
  };
  const int blocks = input.series.blocks_done;
  const double plain_bytes = bytes_read(input.autoregressive, {}, input.n_layers, input.sizes);
  const double drafted_bytes =
      bytes_read(input.speculative, input.shape, input.n_layers, input.sizes);
  const auto per_token = [&](const char* name, int arm, double bytes_a_pass) {
    const ArmTimes times = sum_times({input.series, input.n_sequences, input.seed}, arm);
    std::optional<double> bytes;
    if (times.n_decode_tokens > 0)
      bytes = bytes_a_pass * blocks / static_cast<double>(times.n_decode_tokens);
    add(name, bytes, "bytes", bytes ? "weights and KV as they run" : "no token behind the first");
  };
  per_token("bytes_per_token.autoregressive", kAutoregressive, plain_bytes);
  per_token("bytes_per_token.speculative", kSpeculative, drafted_bytes);
  const std::int64_t working_set =
      working_set_bytes(input.autoregressive, input.n_layers, input.sizes);
  const std::string mode = !input.l3_bytes                 ? "cache size unknown"
                           : working_set > *input.l3_bytes ? "steady"
                                                           : "cached";
  add("working_set_bytes", static_cast<double>(working_set), "bytes", mode);
  add("read_bandwidth",
      input.read_bandwidth ? std::optional(*input.read_bandwidth * 1e-9) : std::nullopt, "GB/s",
      input.read_bandwidth ? "at the working set" : "not measured");
  std::optional<double> share;
  if (input.autoregressive.n_steps > 0 && input.read_bandwidth && autoregressive.decode_ns > 0)
    share = plain_bytes * blocks / (autoregressive.decode_ns * 1e-9) / *input.read_bandwidth;
  add("bandwidth_share", share, "1", share ? "autoregressive, " + mode : "not measured");
}

/// The speed-ups of both kinds, the A/A ratio; returns the headline and the decode-only one.
struct Speedups {
  std::optional<stats::Interval> headline, decode;
};
Speedups report_speedups(const LatencyInput& input, results::Record& record) {
  const Measured measured{input.series, input.n_sequences, input.seed};
  constexpr const char* kNone = "no token behind the first in both arms";
  const auto decode = speedup(measured, kAutoregressive, kSpeculative, Timed::kDecode);
  const auto whole = speedup(measured, kAutoregressive, kSpeculative, Timed::kEndToEnd);
  if (input.is_article) {
    const auto article = article_speedup(measured, kAutoregressive, kSpeculative);
    record.metrics.push_back(
        ratio_metric("speedup", article, "within-process, article, e2e", kNone));
    record.metrics.push_back(
        ratio_metric("decode_speedup", decode, "within-process, decode only", kNone));
    record.metrics.push_back(ratio_metric("aa_ratio",
                                          article_speedup(measured, kSpeculative, kTwin),
                                          "within-process, twin, e2e", kNone));
    return {article, decode};
  }
  record.metrics.push_back(ratio_metric("speedup", decode, "within-process, decode only", kNone));
  record.metrics.push_back(ratio_metric("end_to_end_speedup", whole, "within-process, e2e", kNone));
  const auto twin = speedup(measured, kSpeculative, kTwin, Timed::kDecode);
  record.metrics.push_back(ratio_metric("aa_ratio", twin, "within-process, twin", kNone));
  if (twin && (twin->lower > 1.0 || twin->upper < 1.0))
    record.notes.push_back(fmt::format(
        "The A/A interval {:.4f}..{:.4f} does not cover 1: the machine was too restless for the "
        "interval of the speed-up to be believed.",
        twin->lower, twin->upper));
  return {decode, decode};
}

}  // namespace

double Costs::predicted() const {
  return tokens_per_round * lanes / (drafted_steps * c.value_or(0.0) + v);
}

std::optional<Costs> measure_costs(const LatencyInput& input) {
  const StepCounts& plain = input.autoregressive;
  const StepCounts& drafted = input.speculative;
  const Measured measured{input.series, input.n_sequences, input.seed};
  const ArmTimes baseline = sum_times(measured, kAutoregressive),
                 candidate = sum_times(measured, kSpeculative);
  const double step_ns =
      target_ns(baseline) / static_cast<double>(std::max<std::int64_t>(1, plain.n_steps));
  if (plain.n_steps == 0 || drafted.n_steps == 0 || !(step_ns > 0)) return std::nullopt;
  Costs costs;
  const int blocks = input.series.blocks_done;
  costs.step_ms = step_ns * 1e-6 / blocks;
  costs.v = target_ns(candidate) / static_cast<double>(drafted.n_steps) / step_ns;
  if (drafted.n_draft_steps > 0)
    costs.c =
        candidate.phase_ns[kPhaseDraft] / static_cast<double>(drafted.n_draft_steps) / step_ns;
  costs.drafted_steps = ratio(drafted.n_draft_steps, drafted.n_steps);
  costs.tokens_per_round = expected_tokens(input.tally, drafted);
  costs.lanes = ratio(drafted.n_rounds(), drafted.n_steps) / ratio(plain.n_rounds(), plain.n_steps);
  return costs;
}

double bytes_read(const StepCounts& steps, const DraftShape& shape, int n_layers,
                  const ModelSizes& sizes) {
  const auto draft_weights =
      std::int64_t{shape.layers} * sizes.layer_bytes + (shape.has_head ? sizes.head_bytes : 0);
  const auto weights = steps.n_steps * sizes.step_bytes + steps.n_draft_steps * draft_weights;
  const auto entries = steps.n_verify_entries * n_layers + steps.n_draft_entries * shape.layers;
  return static_cast<double>(weights) + static_cast<double>(entries * sizes.kv_entry_bytes);
}

std::int64_t working_set_bytes(const StepCounts& steps, int n_layers, const ModelSizes& sizes) {
  const std::int64_t entries = steps.n_steps > 0 ? steps.n_verify_entries / steps.n_steps : 0;
  return sizes.step_bytes + entries * n_layers * sizes.kv_entry_bytes;
}

void report_latency(const LatencyInput& input, results::Record& record) {
  const Measured measured{input.series, input.n_sequences, input.seed};
  const Speedups speedups = report_speedups(input, record);
  const ProcessValues values = process_values(measured, input.process, input.series.marked_share());
  record.tables.push_back(process_table({&values, 1}));
  const auto costs = measure_costs(input);
  const auto predicted = costs ? std::optional(costs->predicted()) : std::nullopt;
  record.metrics.push_back({"predicted_speedup",
                            predicted,
                            "ratio",
                            {},
                            {},
                            {},
                            predicted ? "E/(gc+v), decode only" : "no step was timed"});
  const auto gap = predicted && speedups.decode
                       ? std::optional(speedups.decode->estimate / *predicted)
                       : std::nullopt;
  record.metrics.push_back(
      {"model_gap", gap, "ratio", {}, {}, {}, gap ? "measured / predicted" : "not measured"});
  report_acceptance(input.tally, record);
  report_costs(costs, record);
  report_split(input, sum_times(measured, kSpeculative), record);
  report_arm(measured, kAutoregressive, input.is_article, record);
  report_arm(measured, kSpeculative, input.is_article, record);
  report_bandwidth(input, sum_times(measured, kAutoregressive), record);
  report_formulas(input, costs,
                  speedups.decode ? std::optional(speedups.decode->estimate) : std::nullopt,
                  record);
  if (auto table = category_table(measured, input.categories, input.rounds))
    record.tables.push_back(std::move(*table));
  if (!speedups.headline) return;
  const stats::Interval& s = *speedups.headline;
  record.verdict = fmt::format(
      "speculative is {:.3f} x autoregressive (95 % {:.3f}..{:.3f}, within-process{}); predicted "
      "{}; "
      "acceptance_length {:.3f}",
      s.estimate, s.lower, s.upper,
      input.is_article ? ", end to end by the article's protocol" : "",
      predicted ? fmt::format("{:.3f}{}", *predicted, input.is_article ? " for decoding alone" : "")
                : "-",
      input.tally.acceptance_length());
}

}  // namespace specbench::suites
