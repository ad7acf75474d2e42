#include "suites/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "engine/backend.h"
#include "engine/cpu/kernels.h"
#include "harness/ceiling.h"
#include "harness/environment.h"

namespace specbench::suites {

namespace fs = std::filesystem;

namespace {

constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));

struct Amount {
  std::int64_t n_tensors = 0, n_values = 0, n_bytes = 0;
};

std::int64_t values_of(const engine::Matrix& matrix) {
  return std::int64_t{matrix.n_rows} * matrix.n_cols;
}

/// Every tensor of the model by type; vectors are float32 however they were stored.
std::map<engine::WeightType, Amount> amounts_by_type(const engine::Model& model) {
  std::map<engine::WeightType, Amount> amounts;
  const auto add_matrix = [&](const engine::Matrix& matrix) {
    if (matrix.empty()) return;
    Amount& amount = amounts[matrix.type];
    ++amount.n_tensors;
    amount.n_values += values_of(matrix);
    amount.n_bytes += static_cast<std::int64_t>(matrix.n_bytes());
  };
  const auto add_vector = [&](const std::vector<float>& values) {
    if (values.empty()) return;
    Amount& amount = amounts[engine::WeightType::kF32];
    const auto n = static_cast<std::int64_t>(values.size());
    ++amount.n_tensors;
    amount.n_values += n;
    amount.n_bytes += n * kFloat;
  };
  for (const engine::LayerWeights& w : model.weights.layers) {
    for (const engine::Matrix* m :
         {&w.query, &w.key, &w.value, &w.attention_out, &w.gate, &w.up, &w.down})
      add_matrix(*m);
    for (const std::vector<float>* v : {&w.attention_norm, &w.ffn_norm, &w.query_bias, &w.key_bias,
                                        &w.value_bias, &w.query_norm, &w.key_norm})
      add_vector(*v);
  }
  add_matrix(model.weights.embedding);
  add_matrix(model.weights.head);
  add_vector(model.weights.final_norm);
  return amounts;
}

results::NamedTable tensor_table(const engine::Model& model) {
  results::NamedTable table{"tensor_types", {"type", "tensors", "values", "bytes"}, {}};
  for (const auto& [type, amount] : amounts_by_type(model))
    table.rows.push_back({std::string(engine::weight_type_name(type)), amount.n_tensors,
                          amount.n_values, amount.n_bytes});
  return table;
}

results::Value value_or_absent(const std::optional<std::int64_t>& value) {
  return value ? results::Value(*value) : results::Value();
}

/// Of the weight files that --model names; absent for weights that come from none.
std::optional<std::int64_t> file_bytes(const std::string& model) {
  const fs::path path =
      model.empty() ? data_directory() / "models" / "austen-10m" : fs::path(model);
  std::error_code error;
  if (fs::is_regular_file(path, error)) return static_cast<std::int64_t>(fs::file_size(path));
  if (!fs::is_directory(path, error)) return std::nullopt;
  std::int64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".safetensors")
      sum += static_cast<std::int64_t>(entry.file_size());
  return sum;
}

/// In words: whether positions turn the heads as they did in training.
std::string rope_scaling(const engine::ModelConfig& c) {
  if (c.rope_frequencies.empty()) return "none";
  const double slowest = std::pow(c.rope_theta, 2.0 / c.head_dim - 1.0);
  const double ratio = slowest / c.rope_frequencies.back();
  if (std::fabs(ratio - 1.0) < 1e-9 && c.rope_magnitude == 1.0) return "none";
  return fmt::format("slowest pair turns {:.3g} times slower, magnitude {:.4g}", ratio,
                     c.rope_magnitude);
}

results::NamedTable model_table(const Context& context, const results::Entries& model,
                                const ModelSizes& sizes) {
  const engine::ModelConfig& config = context.model.config;
  results::NamedTable table{"model", {"fact", "value"}, {}};
  for (const auto& [key, value] : model) table.rows.push_back({key, value});
  table.rows.push_back({"tied_head", config.tied_head});
  table.rows.push_back({"qkv_bias", config.has_qkv_bias});
  table.rows.push_back({"qk_norm", config.has_qk_norm});
  table.rows.push_back({"rope_theta", config.rope_theta});
  table.rows.push_back({"rope_scaling", rope_scaling(config)});
  table.rows.push_back({"tokenizer_tokens", std::int64_t{context.model.tokenizer.size()}});
  table.rows.push_back(
      {"n_tokens", std::int64_t{config.n_tokens > 0 ? config.n_tokens : config.vocab_size}});
  table.rows.push_back({"parameters", sizes.n_parameters});
  table.rows.push_back({"file_bytes", value_or_absent(file_bytes(context.options.model))});
  table.rows.push_back({"weight_bytes_run", sizes.step_bytes});
  table.rows.push_back({"kv_bytes_per_token", sizes.kv_entry_bytes * config.n_layers});
  return table;
}

results::NamedTable machine_table(const Context& context) {
  const harness::Environment machine = harness::capture_environment();
  results::NamedTable table{"machine", {"fact", "value"}, {}};
  table.rows.push_back(
      {"cpu", machine.cpu_model ? results::Value(*machine.cpu_model) : results::Value()});
  table.rows.push_back({"vector_target", std::string(engine::vector_target())});
  table.rows.push_back({"cores_usable", std::int64_t{machine.n_cores_usable()}});
  table.rows.push_back({"threads", std::int64_t{context.options.threads}});
  table.rows.push_back({"memory_bytes", value_or_absent(machine.memory_bytes)});
  table.rows.push_back({"memory_available_bytes", value_or_absent(machine.memory_available_bytes)});
  table.rows.push_back({"l3_bytes", value_or_absent(machine.l3_bytes)});
  return table;
}

}  // namespace

std::int64_t stored_bytes(const engine::Model& model) {
  std::int64_t sum = 0;
  for (const auto& [type, amount] : amounts_by_type(model)) sum += amount.n_bytes;
  return sum;
}

ModelSizes model_sizes(const engine::Model& model, std::string_view kv_dtype) {
  ModelSizes sizes;
  for (const auto& [type, amount] : amounts_by_type(model)) sizes.n_parameters += amount.n_values;
  const engine::WeightBytes bytes = engine::weight_bytes(model);
  const std::int64_t kv_value = kv_dtype == "f16" ? 2 : 4;
  sizes.layer_bytes = bytes.layers / model.config.n_layers;
  sizes.head_bytes = bytes.head;
  sizes.kv_entry_bytes = 2 * kv_value * model.config.n_kv_heads * model.config.head_dim;
  sizes.step_bytes = bytes.layers + bytes.head;
  return sizes;
}

void run_info(const Context& context, results::Record& record) {
  const ModelSizes sizes = model_sizes(context.model, context.options.kv_dtype);
  const int threads = context.options.threads;
  record.tables.push_back(model_table(context, record.model, sizes));
  record.tables.push_back(tensor_table(context.model));
  record.tables.push_back(machine_table(context));
  // Beyond 256 MiB no cache of today holds the set, and the reading would only take longer.
  const auto working_set = std::min<std::int64_t>(sizes.step_bytes, std::int64_t{256} << 20);
  if (working_set < std::int64_t{4096} * threads) {
    record.notes.push_back("The model is too small to measure a read bandwidth at its size.");
  } else {
    const double bandwidth =
        harness::read_bandwidth(static_cast<std::size_t>(working_set), threads);
    record.metrics.push_back(
        {"read_bandwidth", bandwidth * 1e-9, "GB/s", {}, {}, {}, "at the size of the weights"});
    record.metrics.push_back({"decode_limit",
                              bandwidth / static_cast<double>(sizes.step_bytes),
                              "tokens/s",
                              {},
                              {},
                              {},
                              "one token a step, weights alone"});
  }
  record.metrics.push_back({"multiply_add_peak",
                            harness::multiply_add_peak(threads) * 1e-9,
                            "GFLOP/s",
                            {},
                            {},
                            {},
                            "float32"});
  record.verdict =
      fmt::format("{}: {:.1f} M parameters, {} layers", context.model.name,
                  static_cast<double>(sizes.n_parameters) * 1e-6, context.model.config.n_layers);
}

}  // namespace specbench::suites
