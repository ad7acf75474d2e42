// Percentile intervals for ratios of sums by resampling whole blocks and prompts. Deterministic:
// same seed, same interval on every machine (own generator). Must not resample what is not
// independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/interval.h"

namespace specbench::stats {

// All functions require n_resamples >= 1 (1e4 for an interval at .99) and level in (0, 1), and
// throw std::invalid_argument otherwise, or if the data are empty, not finite or cannot form the
// ratio.

// What one independent unit (a prompt, a process) adds to both sums.
struct RatioCluster {
  double numerator = 0.0;
  double denominator = 0.0;  // > 0
};

// sum numerator / sum denominator, clusters resampled with replacement.
Interval ratio_bootstrap(std::span<const RatioCluster> clusters, int n_resamples,
                         std::uint64_t seed, double level);

// exp(mean of per-block log ratios), blocks resampled. Every block holds both arms, so drift common
// to them cancels.
Interval log_ratio_block_bootstrap(std::span<const double> block_log_ratios, int n_resamples,
                                   std::uint64_t seed, double level);

// exp(median of per-block log ratios), blocks resampled: one slow block does not move it.
Interval median_log_ratio_block_bootstrap(std::span<const double> block_log_ratios, int n_resamples,
                                          std::uint64_t seed, double level);

// One prompt in one block, timed in both arms. Times in one unit (ns), > 0; tokens > 0.
struct PairedSample {
  double baseline_time = 0.0;
  double baseline_tokens = 0.0;
  double candidate_time = 0.0;
  double candidate_tokens = 0.0;
};

// (sum candidate_tokens / sum candidate_time) / (sum baseline_tokens / sum baseline_time).
double speedup_of(std::span<const PairedSample> samples);

// samples[block * n_prompts + prompt]. Prompts are resampled as clusters and, within each drawn
// prompt, blocks; both arms of a sample stay together. With one prompt only blocks vary: the
// interval then speaks of this prompt alone. Throws std::invalid_argument unless samples.size() is
// a positive multiple of n_prompts.
Interval speedup_bootstrap(std::span<const PairedSample> samples, std::size_t n_prompts,
                           int n_resamples, std::uint64_t seed, double level);

}  // namespace specbench::stats
