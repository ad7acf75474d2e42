#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/generator.h"
#include "stats/require.h"
#include "stats/summary.h"

namespace specbench::stats {
namespace {

void require_plan(int n_resamples, double level, const char* where) {
  require(n_resamples >= 1, where, "n_resamples must be at least 1", n_resamples);
  require(is_open_unit(level), where, "the level must lie inside (0, 1)", level);
}

// Percentile interval of resampled estimates; draw(generator) makes one.
template <typename Draw>
Interval percentile_interval(double estimate, int n_resamples, std::uint64_t seed, double level,
                             Draw draw) {
  Generator generator(seed);
  std::vector<double> estimates(static_cast<std::size_t>(n_resamples));
  for (double& resampled : estimates) resampled = draw(generator);
  const double miss = 0.5 * (1.0 - level);
  return {estimate, quantile(estimates, miss), quantile(estimates, 1.0 - miss), level};
}

double ratio_of(double numerator, double denominator) { return numerator / denominator; }

struct ArmSums {
  double baseline_time = 0.0;
  double baseline_tokens = 0.0;
  double candidate_time = 0.0;
  double candidate_tokens = 0.0;

  void add(const PairedSample& sample) {
    baseline_time += sample.baseline_time;
    baseline_tokens += sample.baseline_tokens;
    candidate_time += sample.candidate_time;
    candidate_tokens += sample.candidate_tokens;
  }
  double speedup() const {
    return (candidate_tokens / candidate_time) / (baseline_tokens / baseline_time);
  }
};

void require_samples(std::span<const PairedSample> samples, const char* where) {
  require(!samples.empty(), where, "there are no samples");
  for (const PairedSample& sample : samples) {
    for (double x : {sample.baseline_time, sample.baseline_tokens, sample.candidate_time,
                     sample.candidate_tokens}) {
      require(std::isfinite(x) && x > 0.0, where, "times and tokens must be positive and finite",
              x);
    }
  }
}

}  // namespace

Interval ratio_bootstrap(std::span<const RatioCluster> clusters, int n_resamples,
                         std::uint64_t seed, double level) {
  require_plan(n_resamples, level, "ratio_bootstrap");
  require(!clusters.empty(), "ratio_bootstrap", "there are no clusters");
  RatioCluster total;
  for (const RatioCluster& cluster : clusters) {
    require(std::isfinite(cluster.numerator), "ratio_bootstrap", "a numerator is not finite");
    require(std::isfinite(cluster.denominator) && cluster.denominator > 0.0, "ratio_bootstrap",
            "a denominator must be positive and finite", cluster.denominator);
    total.numerator += cluster.numerator;
    total.denominator += cluster.denominator;
  }
  return percentile_interval(ratio_of(total.numerator, total.denominator), n_resamples, seed, level,
                             [&](Generator& generator) {
                               RatioCluster sum;
                               for (std::size_t i = 0; i < clusters.size(); ++i) {
                                 const RatioCluster& drawn =
                                     clusters[generator.index(clusters.size())];
                                 sum.numerator += drawn.numerator;
                                 sum.denominator += drawn.denominator;
                               }
                               return ratio_of(sum.numerator, sum.denominator);
                             });
}

Interval log_ratio_block_bootstrap(std::span<const double> block_log_ratios, int n_resamples,
                                   std::uint64_t seed, double level) {
  require_plan(n_resamples, level, "log_ratio_block_bootstrap");
  require_finite_values(block_log_ratios, "log_ratio_block_bootstrap");
  return percentile_interval(std::exp(mean(block_log_ratios)), n_resamples, seed, level,
                             [&](Generator& generator) {
                               double sum = 0.0;
                               for (std::size_t i = 0; i < block_log_ratios.size(); ++i) {
                                 sum += block_log_ratios[generator.index(block_log_ratios.size())];
                               }
                               return std::exp(sum / static_cast<double>(block_log_ratios.size()));
                             });
}

Interval median_log_ratio_block_bootstrap(std::span<const double> block_log_ratios, int n_resamples,
                                          std::uint64_t seed, double level) {
  require_plan(n_resamples, level, "median_log_ratio_block_bootstrap");
  require_finite_values(block_log_ratios, "median_log_ratio_block_bootstrap");
  std::vector<double> drawn(block_log_ratios.size());
  return percentile_interval(std::exp(median(block_log_ratios)), n_resamples, seed, level,
                             [&](Generator& generator) {
                               for (double& x : drawn) {
                                 x = block_log_ratios[generator.index(block_log_ratios.size())];
                               }
                               return std::exp(median(drawn));
                             });
}

double speedup_of(std::span<const PairedSample> samples) {
  require_samples(samples, "speedup_of");
  ArmSums sums;
  for (const PairedSample& sample : samples) sums.add(sample);
  return sums.speedup();
}

Interval speedup_bootstrap(std::span<const PairedSample> samples, std::size_t n_prompts,
                           int n_resamples, std::uint64_t seed, double level) {
  require_plan(n_resamples, level, "speedup_bootstrap");
  require_samples(samples, "speedup_bootstrap");
  require(n_prompts >= 1 && samples.size() % n_prompts == 0, "speedup_bootstrap",
          "the samples must fill whole blocks of n_prompts", static_cast<double>(n_prompts));
  const std::size_t n_blocks = samples.size() / n_prompts;
  return percentile_interval(speedup_of(samples), n_resamples, seed, level,
                             [&](Generator& generator) {
                               ArmSums sums;
                               for (std::size_t i = 0; i < n_prompts; ++i) {
                                 const std::size_t prompt = generator.index(n_prompts);
                                 for (std::size_t j = 0; j < n_blocks; ++j) {
                                   const std::size_t block = generator.index(n_blocks);
                                   sums.add(samples[block * n_prompts + prompt]);
                                 }
                               }
                               return sums.speedup();
                             });
}

}  // namespace specbench::stats
