#include "suites/sequential.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/error.h"
#include "results/output.h"
#include "results/record_json.h"
#include "stats/e_process.h"
#include "suites/budget.h"
#include "suites/confirm.h"
#include "suites/diagnosis.h"
#include "suites/kinds.h"
#include "suites/lossless.h"
#include "suites/lossless_end_to_end.h"

namespace specbench::suites {

namespace {

constexpr const char* kStateSuite = "lossless-sequential-state";
constexpr std::uint32_t kNightGroup = 50;

/// What is carried from night to night.
struct State {
  stats::EProcess process;
  std::uint64_t seed = 0;
  std::int64_t n_nights = 0;
};

/// What must not change during the life of a state.
results::Entries configuration(const Context& context) {
  const Options& o = context.options;
  const engine::SamplingParams& s = o.sampling;
  std::vector<std::string> biases;
  for (const auto& [id, bias] : s.logit_bias) biases.push_back(fmt::format("{}={}", id, bias));
  return {{"model_hash", fmt::format("{:016x}", context.model.weights_hash)},
          {"drafter", o.drafter},
          {"draft_layers", std::int64_t{o.draft_layers}},
          {"draft_tokens", std::int64_t{o.draft_tokens}},
          {"verifier", o.verifier},
          {"temperature", s.temperature},
          {"top_k", std::int64_t{s.top_k}},
          {"top_p", s.top_p},
          {"min_p", s.min_p},
          {"repetition_penalty", s.repetition_penalty},
          {"presence_penalty", s.presence_penalty},
          {"frequency_penalty", s.frequency_penalty},
          {"min_tokens", std::int64_t{s.min_tokens}},
          {"logit_bias", fmt::format("{}", fmt::join(biases, " "))},
          {"ban", fmt::format("{}", fmt::join(s.banned, " "))},
          {"stop", fmt::format("{}", fmt::join(o.stop_texts, "\n"))},
          {"max_tokens", std::int64_t{o.max_tokens}},
          {"mutant", o.mutant},
          {"prompts", o.prompts.empty() ? std::string("embedded") : o.prompts},
          {"alpha", o.alpha}};
}

std::string shown(const results::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:g}", *number);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  return "nothing";
}

// A double that is a whole number is read back as an integer.
bool is_same(const results::Value& a, const results::Value& b) {
  const auto number = [](const results::Value& v) -> std::optional<double> {
    if (const auto* d = std::get_if<double>(&v)) return *d;
    if (const auto* i = std::get_if<std::int64_t>(&v)) return static_cast<double>(*i);
    return std::nullopt;
  };
  return a == b || (number(a) && number(a) == number(b));
}

void require_same_configuration(const results::Entries& saved, const results::Entries& now) {
  for (const auto& [key, value] : now) {
    const auto at = std::find_if(saved.begin(), saved.end(),
                                 [&](const auto& entry) { return entry.first == key; });
    const results::Value& before = at == saved.end() ? results::Value() : at->second;
    if (!is_same(before, value))
      throw engine::InputError(
          fmt::format("The state was made with {} {}, this run has {}; go on with the same, or "
                      "name a new file.",
                      key, shown(before), shown(value)));
  }
}

std::uint64_t parse_seed(const results::Record& record) {
  for (const auto& [key, value] : record.build)
    if (key == "seed")
      if (const auto* text = std::get_if<std::string>(&value)) return std::stoull(*text);
  throw std::invalid_argument("it names no seed");
}

double metric_of(const results::Record& record, const char* name) {
  const results::Metric* metric = results::find_metric(record, name);
  if (metric == nullptr || !metric->value)
    throw std::invalid_argument(fmt::format("it has no {}", name));
  return *metric->value;
}

State state_of(const results::Record& record, const Context& context) {
  if (record.suite != kStateSuite)
    throw std::invalid_argument("it is a record of '" + record.suite + "', not a sequential state");
  require_same_configuration(record.options, configuration(context));
  const results::NamedTable* bins = results::find_table(record, "bins");
  const std::int64_t* nights = results::find_counter(record, "nights");
  const std::int64_t* n = results::find_counter(record, "draws");
  if (bins == nullptr || nights == nullptr || n == nullptr)
    throw std::invalid_argument("its bins or counters are missing");
  stats::EProcessState saved;
  saved.prior_per_bin = metric_of(record, "prior_per_bin");
  for (const auto& row : bins->rows) {
    const auto* count = row.empty() ? nullptr : std::get_if<std::int64_t>(&row.front());
    if (count == nullptr) throw std::invalid_argument("a bin holds no count");
    saved.counts.push_back(*count);
  }
  saved.n = *n;
  saved.log_e = metric_of(record, "log_e");
  saved.max_log_e = metric_of(record, "max_log_e");
  return {stats::EProcess(std::move(saved)), parse_seed(record), *nights};
}

State load_state(const Context& context) {
  const std::string& path = context.options.state;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {stats::EProcess(), context.options.seed, 0};
  try {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument("it cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    return state_of(results::from_json(text.str()), context);
  } catch (const engine::InputError&) {
    throw;
  } catch (const std::exception& wrong) {
    throw engine::InputError("--state " + path + " cannot be taken up: " + wrong.what() + ".");
  }
}

std::string saved_text(const State& state, const Context& context) {
  const stats::EProcessState& s = state.process.state();
  results::Record record;
  record.suite = kStateSuite;
  record.command_line = context.options.command_line;
  record.verdict =
      fmt::format("log E = {:.4g} after {} draws in {} nights", s.log_e, s.n, state.n_nights);
  record.options = configuration(context);
  record.build = {{"seed", std::to_string(state.seed)}};
  record.metrics = {{"prior_per_bin", s.prior_per_bin, "1", {}, {}, {}, ""},
                    {"log_e", s.log_e, "nats", {}, {}, {}, ""},
                    {"max_log_e", s.max_log_e, "nats", {}, {}, {}, ""}};
  record.counters = {{"draws", s.n}, {"nights", state.n_nights}};
  results::NamedTable bins{"bins", {"count"}, {}};
  for (const std::int64_t count : s.counts) bins.rows.push_back({count});
  record.tables.push_back(std::move(bins));
  return results::to_json(record);
}

void decide(const Context& context, const State& state, const stats::TestResult& test,
            const Findings& exact, results::Record& record) {
  const std::string sentence =
      fmt::format("log E = {:.3g} (alarm at {:.3g}) after {} draws in {} nights", test.statistic,
                  -std::log(context.options.alpha), state.process.n(), state.n_nights);
  if (exact.has_failure() || test.verdict == stats::Verdict::kFail) {
    const std::string looks_like =
        diagnose(failed_kinds(exact), seen_kinds(exact), load_kill_matrix());
    record.exit_code = kFailed;
    record.verdict =
        fmt::format("NOT LOSSLESS ({}{}. Replay: {}{})", sentence,
                    exact.has_failure() ? "; an exact check failed" : "",
                    context.options.command_line, looks_like.empty() ? "" : ". It " + looks_like);
    return;
  }
  const bool is_powered = test.verdict == stats::Verdict::kPass;
  record.exit_code = is_powered ? kPassed : kInconclusive;
  record.verdict = is_powered
                       ? fmt::format(
                             "LOSSLESS so far ({}; a drift of {:.2g} all this time would have "
                             "been caught with probability {})",
                             sentence, test.min_detectable, 1 - kBeta)
                       : fmt::format("INCONCLUSIVE so far ({}; needs {} draws for a drift of {})",
                                     sentence, test.required_n, kBinsTau);
}

}  // namespace

void run_sequential(const Context& context, results::Record& record, const Faults& faults) {
  const Faults all_faults = planted_faults(context, faults, record);
  State state = load_state(context);
  std::optional<results::OutputFile> file;
  try {
    file.emplace(context.options.state);
  } catch (const std::invalid_argument& error) {
    throw engine::InputError(std::string("--state: ") + error.what() + ".");
  }
  // Every night has coins that no other night has.
  Generation generation =
      main_generation(context, static_cast<std::int64_t>(context.options.samples),
                      stage_seed(state.seed, kNightGroup, static_cast<int>(state.n_nights)));
  generation.evidence = &state.process;
  Generated night = test_generation(context, generation, all_faults);
  ++state.n_nights;
  file->commit(saved_text(state, context));

  const stats::Contract terms("sequential.p/q", "every token has the target's law, at any time",
                              context.options.alpha, kBinsTau, kBeta);
  const stats::TestResult test = stats::e_process_test(terms, state.process);
  night.findings.tests.clear();  // tests of one night's data have no part in a lifetime's alpha
  add_test(record, test);
  record.options.emplace_back("state", context.options.state);
  record.options.emplace_back("alpha", context.options.alpha);
  record.counters.emplace_back("sequential.nights", state.n_nights);
  record.counters.emplace_back("sequential.draws", state.process.n());
  for (const results::Check& check : night.findings.checks) record.checks.push_back(check);
  report_acceptance(night.tally, record);
  decide(context, state, test, night.findings, record);
}

}  // namespace specbench::suites
