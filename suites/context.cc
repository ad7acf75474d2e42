#include "suites/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "engine/cpu/kernels.h"
#include "engine/error.h"
#include "engine/model/convert.h"
#include "harness/environment.h"
#include "harness/free_memory.h"
#include "harness/nvml.h"
#include "suites/info.h"

namespace specbench::suites {

namespace fs = std::filesystem;

fs::path data_directory() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  // Beside bin/, where it is installed; or beside the program itself, as for a test in the build.
  for (const fs::path& candidate :
       {folder.parent_path() / "share" / "specbench", folder / "share" / "specbench"})
    if (!error && fs::is_directory(candidate)) return candidate;
  throw engine::InputError(
      "The data folder " + (folder.parent_path() / "share" / "specbench").string() +
      " is missing; keep bin/ and share/ together, or give --model and --prompts.");
}

namespace {

/// What can be taken at this moment. 0: not known.
std::size_t memory_limit() {
  return static_cast<std::size_t>(harness::free_memory_bytes().value_or(0));
}

/// As --dtype spells it; absent: as stored.
std::optional<engine::WeightType> weight_type_of(const std::string& dtype) {
  if (dtype == "f32") return engine::WeightType::kF32;
  if (dtype == "f16") return engine::WeightType::kF16;
  if (dtype == "bf16") return engine::WeightType::kBF16;
  if (dtype == "q8_0") return engine::WeightType::kQ8_0;
  return std::nullopt;
}

engine::Model open_model(const Options& options) {
  engine::Model model = engine::load_model(
      options.model.empty() ? (data_directory() / "models" / "austen-10m").string() : options.model,
      memory_limit());
  if (const auto type = weight_type_of(options.dtype))
    engine::convert(model, *type, memory_limit());
  return model;
}

}  // namespace

Context open_context(const Options& options, const std::atomic<bool>& stop, Progress& progress) {
  progress.show("reading the model", 0, 0);
  Context context{options, std::make_shared<engine::Model>(open_model(options))};
  context.stop = &stop;
  context.progress = &progress;
  const harness::Environment machine = harness::capture_environment();
  if (context.options.threads == 0) context.options.threads = machine.n_cores_usable();
  if (context.options.draft_layers == 0)
    context.options.draft_layers = std::max(1, context.model.config.n_layers / 4);
  if (options.command == Command::kSuite) {
    const char* const embedded = options.suite == "model" ? "passages.jsonl" : "austen.jsonl";
    context.prompts = read_prompts(options.prompts.empty() ? data_directory() / "prompts" / embedded
                                                           : fs::path(options.prompts));
    for (Prompt& prompt : context.prompts) {
      try {
        prompt.ids = context.model.encode_prompt(prompt.text);
      } catch (const engine::InputError& error) {
        throw engine::InputError("Prompt " + prompt.id + ": " + error.what());
      }
    }
  }
  progress.clear();
  if (options.vary_seed)  // said once the inputs are known to be good, whatever comes of the run
    std::fprintf(stderr, "specbench: --vary-seed drew the seed; repeat with --seed %llu\n",
                 static_cast<unsigned long long>(options.seed));
  return context;
}

int longest_sequence(const Context& context, int max_tokens) {
  std::size_t longest = 0;
  for (const Prompt& prompt : context.prompts) longest = std::max(longest, prompt.ids.size());
  return static_cast<int>(longest) + max_tokens;
}

void set_kv_and_memory(const Context& context, engine::BackendOptions& options) {
  options.kv_type = context.options.kv_dtype == "f16" ? engine::KvType::kF16 : engine::KvType::kF32;
  options.memory_limit_bytes = memory_limit();
  options.pool = context.pool;
}

std::unique_ptr<engine::Backend> open_backend(const Context& context, int batch, int max_length,
                                              int draft_tokens, bool poison,
                                              int (*n_visible)(int pos, int n_held)) {
  engine::BackendOptions options;
  options.n_lanes = batch;
  options.max_length = max_length;
  options.n_slots = std::max(256, batch * (draft_tokens + 1));
  options.n_threads = context.options.threads;
  options.poison = poison;
  options.n_visible = n_visible;
  set_kv_and_memory(context, options);
  auto backend = engine::make_backend(context.options.backend, context.model, options);
  if (backend->name() != context.options.backend)
    throw engine::StateViolation("The backend " + context.options.backend + " was asked for and " +
                                 std::string(backend->name()) + " came.");
  return backend;
}

std::unique_ptr<engine::Drafter> open_drafter(const Context& context) {
  return engine::make_drafter(context.options.drafter, context.options.draft_layers,
                              context.model.config);
}

engine::DecodeOptions decode_options(const Context& context, std::string_view verifier) {
  engine::DecodeOptions options;
  options.sampling = context.options.sampling;
  options.verifier = &engine::find_verifier(
      verifier.empty() ? std::string_view(context.options.verifier) : verifier, options.sampling);
  options.draft_tokens = context.options.draft_tokens;
  options.seed = context.options.seed;
  options.stop_texts = context.options.stop_texts;
  options.tokenizer = &context.model.tokenizer;
  return options;
}

namespace {

results::Entries describe_processors(const Options& o) {
  const engine::SamplingParams& s = o.sampling;
  results::Entries entries = {{"min_tokens", std::int64_t{s.min_tokens}},
                              {"repetition_penalty", s.repetition_penalty},
                              {"presence_penalty", s.presence_penalty},
                              {"frequency_penalty", s.frequency_penalty}};
  std::vector<std::string> biases, stops;
  for (const auto& [id, bias] : s.logit_bias) biases.push_back(fmt::format("{}={}", id, bias));
  for (const std::string& stop : o.stop_texts) stops.push_back('"' + stop + '"');
  const auto list = [&](const char* key, const auto& items) {
    if (!items.empty()) entries.emplace_back(key, fmt::format("{}", fmt::join(items, ", ")));
  };
  list("logit_bias", biases);
  list("ban", s.banned);
  list("stop", stops);
  if (o.vary_seed) entries.emplace_back("vary_seed", true);
  return entries;
}

}  // namespace

results::Record start_record(const Context& context) {
  const Options& o = context.options;
  const engine::ModelConfig& c = context.model.config;
  results::Record record;
  record.suite = o.command == Command::kSuite      ? o.suite
                 : o.command == Command::kGenerate ? "generate"
                                                   : "info";
  record.command_line = o.command_line;
  record.options = {{"backend", o.backend},
                    {"threads", std::int64_t{o.threads}},
                    {"dtype", o.dtype},
                    {"kv_dtype", o.kv_dtype}};
  if (o.command != Command::kInfo) {
    const results::Entries decoding = {{"drafter", o.drafter},
                                       {"draft_layers", std::int64_t{o.draft_layers}},
                                       {"draft_tokens", std::int64_t{o.draft_tokens}},
                                       {"verifier", o.verifier},
                                       {"temperature", o.sampling.temperature},
                                       {"top_k", std::int64_t{o.sampling.top_k}},
                                       {"top_p", o.sampling.top_p},
                                       {"min_p", o.sampling.min_p},
                                       {"seed", std::to_string(o.seed)}};
    record.options.insert(record.options.end(), decoding.begin(), decoding.end());
    const results::Entries processors = describe_processors(o);
    record.options.insert(record.options.end(), processors.begin(), processors.end());
  }
  const harness::Environment environment = harness::capture_environment();
  record.started_utc = environment.date_utc;
  for (const auto& [key, value] : harness::describe(environment))
    record.environment.emplace_back(key, value ? results::Value(*value) : results::Value());
  for (const auto& [key, value] : harness::describe(harness::read_gpus()))
    record.environment.emplace_back(key, value ? results::Value(*value) : results::Value());
  record.environment.emplace_back("vector_target", std::string(engine::vector_target()));
  record.model = {{"name", context.model.name},
                  {"hash", fmt::format("{:016x}", context.model.weights_hash)},
                  {"dtype", context.model.weights_dtype},
                  {"architecture", c.architecture},
                  {"weight_bytes", stored_bytes(context.model)},
                  {"layers", std::int64_t{c.n_layers}},
                  {"width", std::int64_t{c.width}},
                  {"heads", std::int64_t{c.n_heads}},
                  {"kv_heads", std::int64_t{c.n_kv_heads}},
                  {"head_dim", std::int64_t{c.head_dim}},
                  {"ffn_width", std::int64_t{c.ffn_width}},
                  {"vocabulary", std::int64_t{c.vocab_size}},
                  {"max_positions", std::int64_t{c.max_positions}}};
  return record;
}

}  // namespace specbench::suites
