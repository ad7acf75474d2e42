#include "suites/battery.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/error.h"
#include "suites/budget.h"
#include "suites/confirm.h"
#include "suites/edges.h"
#include "suites/enumeration.h"
#include "suites/lossless_end_to_end.h"
#include "suites/lossless_equality.h"
#include "suites/lossless_narrow.h"
#include "suites/lossless_wide.h"
#include "suites/replay_check.h"
#include "suites/side_by_side.h"

namespace specbench::suites {

namespace {

constexpr std::int64_t kMostCoupledDraws = 100'000;  // of wide laws

// Numbers of the groups, which share no coins (confirm.h).
constexpr std::uint32_t kRealGroup = 1, kSettingGroup = 100, kWideGroup = 200, kNarrowGroup = 1000;

class Battery {
 public:
  Battery(const Context& context, std::string_view verifier, const Faults& faults,
          const Scale& scale, std::uint64_t seed)
      : context_(context),
        faults_(faults),
        scale_(scale),
        seed_(seed),
        verifier_(engine::find_verifier(verifier, context.options.sampling)) {}

  BatteryResult run() {
    check_exactly();
    generate();
    draw_narrow();
    draw_wide();
    return std::move(result_);
  }

 private:
  bool is_stopped() const { return *context_.stop; }

  /// Runs a part; an invariant that breaks in it becomes a failed check of its name.
  template <typename Part>
  void guarded(const char* name, const Part& part) {
    if (is_stopped()) return;
    try {
      part();
    } catch (const engine::StateViolation& broken) {
      result_.findings.checks.push_back(violated(name, broken.what()));
    }
  }

  void check_exactly() {
    context_.progress->show("lossless: exact checks", 0, 0);
    guarded("enumeration", [&] {
      result_.findings.add(check_enumeration(
          verifier_.name, faults_.steps, context_.options.threads, scale_.has_whole_enumeration));
    });
    guarded("edges", [&] { result_.findings.add(check_edges(verifier_.name, faults_.steps)); });
    result_.findings.checks.push_back(check_oracle(faults_.oracle));
    if (scale_.n_equality_prompts == 0) return;
    guarded("equality", [&] {
      result_.findings.add(check_equality(context_, scale_.n_equality_prompts,
                                          scale_.n_equality_tokens, faults_, result_.counters));
    });
  }

  /// Hits are made again only while the verdict is open: one failure decides it.
  Second second(bool has_failed = false) const {
    if (is_stopped()) return Second::kImpossible;
    const bool is_open = scale_.confirms && !has_failed && !result_.findings.has_failure();
    return is_open ? Second::kMake : Second::kNotNeeded;
  }

  /// Both stages of a generation's tests; its checks are those of the first, and what failed of the
  /// second.
  Generated confirmed(const Context& context, Generation generation, std::uint32_t n_group) {
    std::optional<Generated> first;
    std::vector<results::Check> failed_again;
    const TestGroup group = [&](std::uint64_t seed, int) {
      generation.seed = seed;
      Generated generated = test_generation(context, generation, faults_);
      std::vector<stats::TestResult> tests = std::move(generated.findings.tests);
      if (first)
        for (results::Check& check : generated.findings.checks)
          if (check.status == results::CheckStatus::kFailed)
            failed_again.push_back(std::move(check));
      if (!first) first = std::move(generated);
      return tests;
    };
    auto tests = run_confirmed(group, seed_, n_group, 1,
                               [&] { return second(first->findings.has_failure()); });
    first->findings.tests = std::move(tests);
    first->findings.add(std::move(failed_again));
    return std::move(*first);
  }

  void generate() {
    if (scale_.n_real > 0 && !is_stopped()) {
      Generation real = main_generation(context_, scale_.n_real, seed_);
      real.verifier = &verifier_;
      if (scale_.batch > 0) real.batch = scale_.batch;
      Generated generated = confirmed(context_, real, kRealGroup);
      result_.certified_tv = generated.certified_tv;
      result_.real = std::move(generated.tally);
      result_.mismatches = std::move(generated.mismatches);
      result_.pit = std::move(generated.pit);
      result_.findings.add(std::move(generated.findings));
    }
    if (scale_.n_setting == 0 || !draws()) return;
    std::vector<Generation> settings = setting_generations(context_, scale_.n_setting, seed_);
    std::vector<Findings> found(settings.size());
    run_side_by_side(context_, static_cast<int>(settings.size()), [&](int i, const Context& one) {
      Generation& setting = settings[static_cast<std::size_t>(i)];
      setting.verifier = &verifier_;
      if (scale_.batch > 0) setting.batch = scale_.batch;
      found[static_cast<std::size_t>(i)] =
          confirmed(one, setting, kSettingGroup + static_cast<std::uint32_t>(i)).findings;
    });
    for (Findings& findings : found) result_.findings.add(std::move(findings));
  }

  // Greedy decoding draws nothing.
  bool draws() const { return verifier_.name != "greedy" && !is_stopped(); }

  void draw_narrow() {
    std::uint32_t n_group = kNarrowGroup;
    for (std::size_t i = 0; i < scale_.narrow_cases.size() && draws(); ++i) {
      context_.progress->show("lossless: narrow laws", static_cast<double>(i),
                              static_cast<double>(scale_.narrow_cases.size()));
      const TestGroup group = [&](std::uint64_t seed, int factor) {
        return test_narrow_case(scale_.narrow_cases[i], verifier_.name,
                                scale_.narrow_rounds * factor, seed, faults_.steps,
                                context_.options.threads);
      };
      result_.findings.add(
          run_confirmed(group, seed_, n_group++, kConfirmFactor, [&] { return second(); }));
    }
  }

  void draw_wide() {
    std::uint32_t n_group = kWideGroup;
    for (const int n_ids : scale_.wide_sizes) {
      // Coupled noise costs a logarithm an id: one vocabulary says what there is to see.
      const bool is_coupled = verifier_.name == "coupled";
      if (!draws() || (is_coupled && n_ids != scale_.wide_sizes.front())) return;
      context_.progress->show("lossless: wide laws", 0, 0);
      const TestGroup group = [&](std::uint64_t seed, int factor) {
        return test_wide_case(
            n_ids, verifier_.name,
            (is_coupled ? std::min(scale_.n_wide, kMostCoupledDraws) : scale_.n_wide) * factor,
            seed, faults_.steps, context_.options.threads);
      };
      result_.findings.add(
          run_confirmed(group, seed_, n_group++, kConfirmFactor, [&] { return second(); }));
    }
  }

  const Context& context_;
  const Faults& faults_;
  const Scale& scale_;
  std::uint64_t seed_;
  const engine::Verifier& verifier_;
  BatteryResult result_;
};

}  // namespace

Scale full_scale(const Context& context, std::int64_t n_samples) {
  const bool is_greedy = context.options.sampling.is_greedy();
  Scale scale;
  scale.n_real = n_samples;
  scale.n_setting = std::clamp<std::int64_t>(n_samples / 25, 4000, 40'000);
  // Greedy output is an equality test: all prompts, longer texts.
  scale.n_equality_prompts = is_greedy ? static_cast<int>(context.prompts.size()) : 20;
  scale.n_equality_tokens = is_greedy ? 128 : 64;
  scale.narrow_cases = narrow_cases();
  scale.narrow_rounds = narrow_rounds();
  scale.wide_sizes = {4096, 50'257, 151'936};
  scale.n_wide = n_samples;
  scale.has_whole_enumeration = true;
  return scale;
}

Scale probe_scale() {
  Scale scale;
  scale.n_real = 1500;
  scale.n_setting = 500;
  scale.batch = 16;
  scale.n_equality_prompts = 5;
  scale.n_equality_tokens = 24;
  scale.narrow_cases = narrow_probe_cases();
  scale.narrow_rounds = 20'000;
  scale.wide_sizes = {4096};
  scale.n_wide = 20'000;
  scale.confirms = false;
  return scale;
}

BatteryResult run_battery(const Context& context, std::string_view verifier, const Faults& faults,
                          const Scale& scale, std::uint64_t seed) {
  return Battery(context, verifier, faults, scale, seed).run();
}

}  // namespace specbench::suites
