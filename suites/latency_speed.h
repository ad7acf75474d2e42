// From timed samples to rates and their ratios. Only whole blocks count: an interrupted one would
// compare unlike sets of prompts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/measure.h"
#include "results/record.h"
#include "stats/interval.h"

namespace specbench::suites {

/// What of a run is timed.
enum class Timed { kDecode, kEndToEnd };

/// Sums of one arm over all cases and whole blocks. Times in ns.
struct ArmTimes {
  double wall_ns = 0;
  double decode_ns = 0;
  std::vector<double> phase_ns;       ///< [phase]
  std::vector<double> block_wall_ns;  ///< [block]
  std::int64_t n_tokens = 0;
  std::int64_t n_decode_tokens = 0;  ///< without each sequence's first, which the prefill emits
};

/// The measured part of a run, with the sequences of each case.
struct Measured {
  const harness::Series& series;
  std::span<const int> n_sequences;  ///< [case]
  std::uint64_t seed = 0;            ///< of the resampling
};

ArmTimes sum_times(const Measured& measured, int arm);

/// Time per token behind the first of each sequence, ms: up to the last delivery where deliveries
/// were recorded, else to the end of the run. Absent where there is no such token.
std::optional<double> tpot_ms(const Measured& measured, const harness::Sample& sample);

/// Times between deliveries, ms. [n_chunks - 1]
std::vector<double> itl_ms(const harness::Sample& sample);

/// Tokens a second, sum over sum; absent where no time was spent.
std::optional<double> tokens_per_s(const ArmTimes& times, Timed timed);

/// Ratio of tokens_per_s of two arms with its interval at .95, prompts and blocks resampled. Absent
/// where no case emitted tokens in both arms.
std::optional<stats::Interval> speedup(const Measured& measured, int baseline, int candidate,
                                       Timed timed);

/// The article's figure: median over blocks of the end-to-end ratio, blocks resampled.
std::optional<stats::Interval> article_speedup(const Measured& measured, int baseline,
                                               int candidate);

/// tokens_per_s, e2e_tokens_per_s, ttft_ms, tpot_ms and, where deliveries were recorded,
/// itl_ms of one arm.
void report_arm(const Measured& measured, int arm, bool is_article, results::Record& record);

/// A metric with its interval; absent with the reason where there is none.
results::Metric ratio_metric(const char* name, const std::optional<stats::Interval>& interval,
                             const char* note, const char* reason);

}  // namespace specbench::suites
