#include "suites/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/cpu/kernels.h"
#include "harness/ceiling.h"
#include "harness/environment.h"

namespace specbench::suites {

namespace {

std::int64_t size_of(const engine::Matrix& matrix) {
  return std::int64_t{matrix.n_rows} * matrix.n_cols;
}

/// Bytes of the weights as they lie on disk, by their type; absent where types are mixed.
std::optional<std::int64_t> stored_bytes(const engine::Model& model, std::int64_t n_parameters) {
  if (model.weights_dtype == "BF16" || model.weights_dtype == "F16") return 2 * n_parameters;
  if (model.weights_dtype == "F32") return 4 * n_parameters;
  return std::nullopt;
}

results::Value value_or_absent(const std::optional<std::int64_t>& value) {
  return value ? results::Value(*value) : results::Value();
}

results::NamedTable model_table(const Context& context, const results::Entries& model,
                                const ModelSizes& sizes) {
  const engine::ModelConfig& config = context.model.config;
  results::NamedTable table{"model", {"fact", "value"}, {}};
  for (const auto& [key, value] : model) table.rows.push_back({key, value});
  table.rows.push_back({"tied_head", config.tied_head});
  table.rows.push_back({"parameters", sizes.n_parameters});
  table.rows.push_back(
      {"weight_bytes_stored", value_or_absent(stored_bytes(context.model, sizes.n_parameters))});
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

ModelSizes model_sizes(const engine::Model& model) {
  ModelSizes sizes;
  std::int64_t n_layer_floats = 0;
  for (const engine::LayerWeights& w : model.weights.layers) {
    n_layer_floats += static_cast<std::int64_t>(w.attention_norm.size() + w.ffn_norm.size());
    for (const engine::Matrix* m :
         {&w.query, &w.key, &w.value, &w.attention_out, &w.gate, &w.up, &w.down})
      n_layer_floats += size_of(*m);
  }
  const auto n_norm = static_cast<std::int64_t>(model.weights.final_norm.size());
  const std::int64_t n_embedding = size_of(model.weights.embedding);
  const bool is_tied = model.weights.head.empty();
  const std::int64_t n_head = is_tied ? n_embedding : size_of(model.weights.head);
  constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));
  sizes.n_parameters = n_layer_floats + n_norm + n_embedding + (is_tied ? 0 : n_head);
  sizes.layer_bytes = kFloat * n_layer_floats / model.config.n_layers;
  sizes.head_bytes = kFloat * (n_norm + n_head);
  sizes.kv_entry_bytes = 2 * kFloat * model.config.n_kv_heads * model.config.head_dim;
  sizes.step_bytes = kFloat * (n_layer_floats + n_norm + n_head);
  return sizes;
}

void run_info(const Context& context, results::Record& record) {
  const ModelSizes sizes = model_sizes(context.model);
  const int threads = context.options.threads;
  record.tables.push_back(model_table(context, record.model, sizes));
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
