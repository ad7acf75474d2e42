#include "suites/latency_validity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "engine/cpu/kernels.h"

namespace specbench::suites {

using results::Check;
using results::CheckStatus;

namespace {

constexpr std::int64_t kOneInSo = 10;  // samples that may charge the prefill for a lost core
// Of the decode time: what lies between the mark and the end of the phase, seen on a model whose
// prefill takes seconds, was a twentieth of this.
constexpr double kMostPrefillShare = 0.01;

using Fields = std::vector<std::pair<const char*, std::string>>;
Fields fields_of(const ArmPath& path) {
  return {{"backend", path.backend},
          {"vector_target", path.vector_target},
          {"dtype", path.dtype},
          {"threads", std::to_string(path.threads)},
          {"weights_hash", fmt::format("{:016x}", path.weights_hash)},
          {"sampling", path.sampling},
          {"token_counting", path.token_counting},
          {"max_tokens", std::to_string(path.max_tokens)},
          {"stop_rule", path.stop_rule}};
}

std::string describe_sampling(const engine::DecodeOptions& options) {
  const engine::SamplingParams& s = options.sampling;
  std::string text = fmt::format(
      "verifier {}, temperature {}, top_k {}, top_p {}, min_p {}, min_tokens {}, penalties {} {} "
      "{}, banned [{}], seed {}",
      options.verifier != nullptr ? options.verifier->name : "none", s.temperature, s.top_k,
      s.top_p, s.min_p, s.min_tokens, s.repetition_penalty, s.presence_penalty, s.frequency_penalty,
      fmt::join(s.banned, " "), options.seed);
  for (const auto& [id, bias] : s.logit_bias) text += fmt::format(", bias {}={}", id, bias);
  return text;
}

std::string describe_stops(const engine::DecodeOptions& options) {
  std::string text = options.stop_at_eos ? "EOS, max_tokens" : "max_tokens";
  for (const std::string& stop : options.stop_texts) text += fmt::format(", \"{}\"", stop);
  return text;
}

bool have_equal_tokens(const harness::Sample& a, const harness::Sample& b) {
  return a.n_tokens == b.n_tokens && a.fingerprint == b.fingerprint;
}

/// Warm-ups of the same work among the samples in front of `at`.
std::int64_t warmups_before(std::span<const harness::Sample> samples, std::size_t at) {
  const harness::Sample& measured = samples[at];
  return std::count_if(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at),
                       [&](const harness::Sample& s) {
                         return s.is_warmup && s.arm == measured.arm &&
                                s.case_index == measured.case_index &&
                                have_equal_tokens(s, measured);
                       });
}

Check check_warmup(const harness::Series& series, int arm) {
  const std::string& name = series.arm_names[static_cast<std::size_t>(arm)];
  Check check{"validity.warmup." + name, CheckStatus::kSkipped, "Nothing was measured."};
  std::vector<int> seen;  // cases
  std::int64_t fewest = 0;
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const harness::Sample& sample = series.samples[i];
    const bool is_first = sample.arm == arm && !sample.is_warmup &&
                          std::find(seen.begin(), seen.end(), sample.case_index) == seen.end();
    if (!is_first) continue;
    const std::int64_t n = warmups_before(series.samples, i);
    fewest = seen.empty() ? n : std::min(fewest, n);
    seen.push_back(sample.case_index);
    if (n < kLeastWarmups)
      return {check.id, CheckStatus::kFailed,
              fmt::format("Case {} was measured after {} warm-ups of the same tokens; {} are due.",
                          sample.case_index, n, kLeastWarmups)};
  }
  if (!seen.empty())
    check = {check.id, CheckStatus::kPassed,
             fmt::format("Each of {} cases was measured after at least {} warm-ups of the same "
                         "tokens.",
                         seen.size(), fewest)};
  return check;
}

/// What is wrong with the sums of a sample; empty: nothing.
std::string sum_fault(const harness::Sample& sample) {
  const auto phases =
      std::accumulate(sample.phase_ns.begin(), sample.phase_ns.end(), std::int64_t{0});
  if (phases != sample.wall_ns)
    return fmt::format("the phases sum to {} ns, the run took {} ns", phases, sample.wall_ns);
  if (!sample.first_token_ns || !sample.decode_ns) return "no first token was marked";
  if (*sample.first_token_ns + *sample.decode_ns != sample.wall_ns)
    return fmt::format("first token at {} ns and {} ns of decoding are not the {} ns of the run",
                       *sample.first_token_ns, *sample.decode_ns, sample.wall_ns);
  return {};
}

std::string place_of(const harness::Sample& sample) {
  return fmt::format("case {}, {} {}", sample.case_index, sample.is_warmup ? "warm-up" : "block",
                     sample.block);
}

Check check_decode_region(const harness::Series& series, int arm, std::size_t prefill) {
  const std::string id =
      "validity.decode-region." + series.arm_names[static_cast<std::size_t>(arm)];
  std::int64_t n = 0, n_tokens = 0, n_early = 0;
  std::string first_early;
  for (const harness::Sample& sample : series.samples) {
    if (sample.arm != arm) continue;
    ++n;
    n_tokens += sample.n_tokens;
    if (sample.n_tokens == 0) continue;
    if (sample.phase_ns.size() <= prefill)
      return {id, CheckStatus::kFailed, "No phase is called prefill; name it in the plan."};
    if (const std::string fault = sum_fault(sample); !fault.empty())
      return {id, CheckStatus::kFailed, fmt::format("In {} {}.", place_of(sample), fault)};
    const auto held = static_cast<double>(sample.phase_ns[prefill] - *sample.first_token_ns);
    if (held <= kMostPrefillShare * static_cast<double>(*sample.decode_ns)) continue;
    if (++n_early == 1)
      first_early = fmt::format("in {} the first token is marked at {} ns, the prefill took {} ns",
                                place_of(sample), *sample.first_token_ns, sample.phase_ns[prefill]);
  }
  if (n_tokens == 0) return {id, CheckStatus::kSkipped, "The arm emits no tokens."};
  if (kOneInSo * n_early > n)
    return {
        id, CheckStatus::kFailed,
        fmt::format("Decode time holds prefill in {} of {} runs: {}.", n_early, n, first_early)};
  return {
      id, CheckStatus::kPassed,
      fmt::format("In {} of {} runs the decode time begins behind the prefill.", n - n_early, n)};
}

int n_arms(const harness::Series& series) { return static_cast<int>(series.arm_names.size()); }

}  // namespace

ArmPath path_of(std::string arm, const engine::Backend& backend, const engine::Model& model,
                const engine::DecodeOptions& options, int max_tokens) {
  return {std::move(arm),
          std::string(backend.name()),
          std::string(engine::vector_target()),
          model.weights_dtype,
          backend.options().n_threads,
          model.weights_hash,
          describe_sampling(options),
          "emitted ids, cut at the stop",
          max_tokens,
          describe_stops(options)};
}

std::uint64_t hash_of(const ArmPath& path) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const auto& [name, value] : fields_of(path)) {
    for (const char c : value) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash = (hash ^ 0xffULL) * 0x100000001b3ULL;  // no character of UTF-8: ends the field
  }
  return hash;
}

std::vector<Check> check_warmups(const harness::Series& series) {
  std::vector<Check> checks;
  for (int arm = 0; arm < n_arms(series); ++arm) checks.push_back(check_warmup(series, arm));
  return checks;
}

std::vector<Check> check_decode_regions(const harness::Series& series) {
  const auto at = std::find(series.phase_names.begin(), series.phase_names.end(), "prefill");
  const bool has_prefill = at != series.phase_names.end();
  const auto prefill = has_prefill ? static_cast<std::size_t>(at - series.phase_names.begin())
                                   : static_cast<std::size_t>(-1);
  std::vector<Check> checks;
  for (int arm = 0; arm < n_arms(series); ++arm)
    checks.push_back(check_decode_region(series, arm, prefill));
  return checks;
}

Check check_same_path(std::span<const ArmPath> paths) {
  constexpr const char* kId = "validity.same-path";
  if (paths.size() < 2) return {kId, CheckStatus::kSkipped, "There are no two arms to compare."};
  const Fields first = fields_of(paths.front());
  for (const ArmPath& path : paths.subspan(1)) {
    const Fields other = fields_of(path);
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i].second != other[i].second)
        return {kId, CheckStatus::kFailed,
                fmt::format("The arms differ in more than the draft: {} is {} in '{}' and {} in "
                            "'{}'.",
                            first[i].first, first[i].second, paths.front().arm, other[i].second,
                            path.arm)};
  }
  return {
      kId, CheckStatus::kPassed,
      fmt::format("All {} arms run on one path, {:016x}.", paths.size(), hash_of(paths.front()))};
}

std::vector<Check> check_validity(const harness::Series& series, std::span<const ArmPath> paths) {
  std::vector<Check> checks = check_warmups(series);
  for (Check& check : check_decode_regions(series)) checks.push_back(std::move(check));
  checks.push_back(check_same_path(paths));
  return checks;
}

void apply(const TimingFaults& faults, harness::Series& series) {
  if (faults.no_warmup) {
    for (harness::Sample& sample : series.samples) {
      if (!sample.is_warmup) sample.block += series.warmups_done;
      sample.is_warmup = false;
    }
    series.blocks_done += series.warmups_done;
    series.warmups_done = 0;
  }
  if (!faults.prefill_in_decode) return;
  for (harness::Sample& sample : series.samples) {
    if (!sample.first_token_ns) continue;
    sample.first_token_ns = 0;
    sample.decode_ns = sample.wall_ns;
  }
}

}  // namespace specbench::suites
