#include "suites/latency_speed.h"

#include <algorithm>
#include <cmath>

#include "stats/bootstrap.h"
#include "stats/summary.h"

namespace specbench::suites {

namespace {

constexpr int kResamples = 10'000;
constexpr double kLevel = 0.95;

bool counts(const harness::Series& series, const harness::Sample& sample) {
  return !sample.is_warmup && sample.block < series.blocks_done;
}

std::int64_t sequences_of(const Measured& measured, const harness::Sample& sample) {
  return measured.n_sequences[static_cast<std::size_t>(sample.case_index)];
}

double time_of(const harness::Sample& sample, Timed timed) {
  return static_cast<double>(timed == Timed::kEndToEnd ? sample.wall_ns
                                                       : sample.decode_ns.value_or(0));
}

double tokens_of(const Measured& measured, const harness::Sample& sample, Timed timed) {
  return static_cast<double>(sample.n_tokens -
                             (timed == Timed::kEndToEnd ? 0 : sequences_of(measured, sample)));
}

/// Samples of two arms side by side, [block][case].
std::vector<stats::PairedSample> pair_samples(const Measured& measured, int baseline, int candidate,
                                              Timed timed) {
  const std::size_t n_cases = measured.n_sequences.size();
  std::vector<stats::PairedSample> pairs(static_cast<std::size_t>(measured.series.blocks_done) *
                                         n_cases);
  for (const harness::Sample& sample : measured.series.samples) {
    if (!counts(measured.series, sample)) continue;
    stats::PairedSample& pair = pairs[static_cast<std::size_t>(sample.block) * n_cases +
                                      static_cast<std::size_t>(sample.case_index)];
    if (sample.arm == baseline) pair.baseline_time = time_of(sample, timed);
    if (sample.arm == baseline) pair.baseline_tokens = tokens_of(measured, sample, timed);
    if (sample.arm == candidate) pair.candidate_time = time_of(sample, timed);
    if (sample.arm == candidate) pair.candidate_tokens = tokens_of(measured, sample, timed);
  }
  return pairs;
}

/// Only cases in which both arms did something in every block: an EOS as first token leaves nothing
/// to decode.
std::vector<stats::PairedSample> without_empty_cases(const std::vector<stats::PairedSample>& pairs,
                                                     std::size_t n_cases) {
  std::vector<stats::PairedSample> kept;
  const auto is_full = [&](std::size_t i) {
    bool is_good = true;
    for (std::size_t at = i % n_cases; at < pairs.size(); at += n_cases)
      is_good = is_good && pairs[at].baseline_time > 0 && pairs[at].baseline_tokens > 0 &&
                pairs[at].candidate_time > 0 && pairs[at].candidate_tokens > 0;
    return is_good;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (is_full(i)) kept.push_back(pairs[i]);
  return kept;
}

std::optional<double> median_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(stats::median(values));
}

/// Interval of an arm's rate over prompts; needs two.
std::optional<stats::Interval> rate_interval(const Measured& measured, int arm, Timed timed) {
  std::vector<stats::RatioCluster> clusters(measured.n_sequences.size());
  for (const harness::Sample& sample : measured.series.samples) {
    if (!counts(measured.series, sample) || sample.arm != arm) continue;
    stats::RatioCluster& cluster = clusters[static_cast<std::size_t>(sample.case_index)];
    cluster.numerator += tokens_of(measured, sample, timed);
    cluster.denominator += time_of(sample, timed) * 1e-9;
  }
  std::erase_if(clusters, [](const auto& c) { return !(c.numerator > 0 && c.denominator > 0); });
  if (clusters.size() < 2) return std::nullopt;
  return stats::ratio_bootstrap(clusters, kResamples, measured.seed, kLevel);
}

/// ms of each run of an arm by a rule that may find nothing to say of it.
template <typename Rule>
std::vector<double> over_runs(const Measured& measured, int arm, Rule rule) {
  std::vector<double> values;
  for (const harness::Sample& sample : measured.series.samples)
    if (counts(measured.series, sample) && sample.arm == arm) rule(sample, values);
  return values;
}

}  // namespace

ArmTimes sum_times(const Measured& measured, int arm) {
  const harness::Series& series = measured.series;
  ArmTimes times;
  times.phase_ns.resize(series.phase_names.size());
  times.block_wall_ns.resize(static_cast<std::size_t>(series.blocks_done));
  for (const harness::Sample& sample : series.samples) {
    if (!counts(series, sample) || sample.arm != arm) continue;
    times.wall_ns += time_of(sample, Timed::kEndToEnd);
    times.decode_ns += time_of(sample, Timed::kDecode);
    times.block_wall_ns[static_cast<std::size_t>(sample.block)] +=
        time_of(sample, Timed::kEndToEnd);
    for (std::size_t p = 0; p < sample.phase_ns.size(); ++p)
      times.phase_ns[p] += static_cast<double>(sample.phase_ns[p]);
    times.n_tokens += sample.n_tokens;
    times.n_decode_tokens += sample.n_tokens - sequences_of(measured, sample);
  }
  return times;
}

std::optional<double> tpot_ms(const Measured& measured, const harness::Sample& sample) {
  const std::int64_t n = sequences_of(measured, sample);
  if (!sample.first_token_ns || sample.n_tokens <= n) return std::nullopt;
  const std::int64_t end_ns =
      sample.chunk_end_ns.empty() ? sample.wall_ns : sample.chunk_end_ns.back();
  return static_cast<double>(end_ns - *sample.first_token_ns) * 1e-6 * static_cast<double>(n) /
         static_cast<double>(sample.n_tokens - n);
}

std::vector<double> itl_ms(const harness::Sample& sample) {
  std::vector<double> values;
  for (std::size_t i = 1; i < sample.chunk_end_ns.size(); ++i)
    values.push_back(static_cast<double>(sample.chunk_end_ns[i] - sample.chunk_end_ns[i - 1]) *
                     1e-6);
  return values;
}

std::optional<double> tokens_per_s(const ArmTimes& times, Timed timed) {
  const double ns = timed == Timed::kEndToEnd ? times.wall_ns : times.decode_ns;
  const auto n = timed == Timed::kEndToEnd ? times.n_tokens : times.n_decode_tokens;
  return ns > 0 && n > 0 ? std::optional(static_cast<double>(n) / (ns * 1e-9)) : std::nullopt;
}

std::optional<stats::Interval> speedup(const Measured& measured, int baseline, int candidate,
                                       Timed timed) {
  const std::size_t n_cases = measured.n_sequences.size();
  const auto pairs =
      without_empty_cases(pair_samples(measured, baseline, candidate, timed), n_cases);
  if (pairs.empty()) return std::nullopt;
  const std::size_t n_prompts =
      pairs.size() / static_cast<std::size_t>(measured.series.blocks_done);
  return stats::speedup_bootstrap(pairs, n_prompts, kResamples, measured.seed, kLevel);
}

std::optional<stats::Interval> article_speedup(const Measured& measured, int baseline,
                                               int candidate) {
  const ArmTimes a = sum_times(measured, baseline), b = sum_times(measured, candidate);
  if (!(a.wall_ns > 0 && b.wall_ns > 0 && a.n_tokens > 0 && b.n_tokens > 0)) return std::nullopt;
  const double log_token_ratio =
      std::log(static_cast<double>(b.n_tokens) / static_cast<double>(a.n_tokens));
  std::vector<double> log_ratios;
  for (std::size_t block = 0; block < a.block_wall_ns.size(); ++block)
    log_ratios.push_back(log_token_ratio +
                         std::log(a.block_wall_ns[block] / b.block_wall_ns[block]));
  return stats::median_log_ratio_block_bootstrap(log_ratios, kResamples, measured.seed, kLevel);
}

void report_arm(const Measured& measured, int arm, bool is_article, results::Record& record) {
  const std::string suffix = "." + measured.series.arm_names[static_cast<std::size_t>(arm)];
  const ArmTimes times = sum_times(measured, arm);
  const auto rate = [&](const char* name, Timed timed, const char* note) {
    results::Metric metric{name + suffix, tokens_per_s(times, timed), "tokens/s", {}, {}, {}, note};
    if (const auto interval = rate_interval(measured, arm, timed)) {
      metric.lower = interval->lower;
      metric.upper = interval->upper;
      metric.level = interval->level;
    }
    if (!metric.value) metric.note = "no token behind the first";
    record.metrics.push_back(metric);
  };
  const auto times_ms = [&](const char* name, const std::vector<double>& values, const char* note) {
    record.metrics.push_back({name + suffix,
                              median_of(values),
                              "ms",
                              {},
                              {},
                              {},
                              values.empty() ? "not recorded" : note});
  };
  rate("tokens_per_s", Timed::kDecode, "decode only");
  rate("e2e_tokens_per_s", Timed::kEndToEnd, "prefill included");
  if (is_article)
    record.metrics.push_back(
        {"article_tokens_per_s" + suffix,
         static_cast<double>(times.n_tokens) / static_cast<double>(measured.series.blocks_done) /
             (stats::median(times.block_wall_ns) * 1e-9),
         "tokens/s",
         {},
         {},
         {},
         "article: end to end, median of the repetitions"});
  times_ms("ttft_ms",
           over_runs(measured, arm,
                     [](const auto& sample, auto& values) {
                       if (sample.first_token_ns)
                         values.push_back(static_cast<double>(*sample.first_token_ns) * 1e-6);
                     }),
           "median; batch: its last");
  times_ms("tpot_ms",
           over_runs(measured, arm,
                     [&](const auto& sample, auto& values) {
                       if (const auto ms = tpot_ms(measured, sample)) values.push_back(*ms);
                     }),
           "median over runs");
  times_ms("itl_ms",
           over_runs(measured, arm,
                     [](const auto& sample, auto& values) {
                       for (const double ms : itl_ms(sample)) values.push_back(ms);
                     }),
           "median over chunks");
}

results::Metric ratio_metric(const char* name, const std::optional<stats::Interval>& interval,
                             const char* note, const char* reason) {
  if (!interval) return {name, {}, "ratio", {}, {}, {}, reason};
  return {name, interval->estimate, "ratio", interval->lower, interval->upper, interval->level,
          note};
}

}  // namespace specbench::suites
