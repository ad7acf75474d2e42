#include "engine/cpu/host_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/reference_backend.h"
#include "engine/error.h"
#include "engine/parallel.h"

namespace specbench::engine {

BackendOptions checked_options(const Model& model, BackendOptions options) {
  const auto need = [](bool is_right, const std::string& sentence) {
    if (!is_right) throw InputError(sentence);
  };
  const int longest = model.config.max_positions;
  if (options.max_length == 0) options.max_length = longest;
  need(options.max_length >= 1 && options.max_length <= longest,
       "A sequence of " + std::to_string(options.max_length) +
           " tokens does not fit: " + model.name + " has " + std::to_string(longest) +
           " positions; shorten the prompt or --max-tokens.");
  need(options.n_lanes >= 1 && options.n_lanes <= 4096,
       "--batch is " + std::to_string(options.n_lanes) + "; it must be 1 to 4096.");
  need(options.n_threads >= 1 && options.n_threads <= 1024,
       "--threads is " + std::to_string(options.n_threads) + "; it must be 1 to 1024.");
  need(options.n_slots >= 1, "A step needs at least one row.");
  return options;
}

HostBackend::HostBackend(const Model& model, BackendOptions options)
    : model_(model),
      options_(checked_options(model, options)),
      lengths_(options_.n_lanes, model.config.n_layers, options_.max_length),
      store_(options_.n_lanes, model.config, options_.max_length, options_.kv_type),
      hidden_(static_cast<std::size_t>(options_.n_slots) *
              static_cast<std::size_t>(model.config.width)) {
  if (!options_.poison) return;
  for (int lane = 0; lane < options_.n_lanes; ++lane)
    for (int layer = 0; layer < model.config.n_layers; ++layer)
      store_.poison(lane, layer, 0, options_.max_length);
}

void HostBackend::forward(std::span<const Row> rows, int first, int last) {
  if (rows.empty() || first >= last) return;
  if (rows.size() > static_cast<std::size_t>(options_.n_slots))
    throw StateViolation("A step of " + std::to_string(rows.size()) +
                         " rows exceeds the buffer of " + std::to_string(options_.n_slots) + ".");
  for (const Row& row : rows) {
    if (row.token < 0 || row.token >= model_.config.vocab_size)
      throw StateViolation("Token " + std::to_string(row.token) + " at position " +
                           std::to_string(row.pos) + " is outside the vocabulary of " +
                           std::to_string(model_.config.vocab_size) + ".");
    for (int layer = first; layer < last; ++layer) lengths_.append(row.lane, layer, row.pos);
  }
  run_layers(rows, first, last);
  work_.token_layers += static_cast<std::int64_t>(rows.size()) * (last - first);
  ++work_.steps;
}

void HostBackend::logits(std::span<const Row> rows, float* out) {
  if (rows.empty()) return;
  run_head(rows, out);
  const ModelConfig& c = model_.config;
  if (c.n_tokens > 0)
    for (std::size_t row = 0; row < rows.size(); ++row)
      std::fill(out + row * static_cast<std::size_t>(c.vocab_size) + c.n_tokens,
                out + (row + 1) * static_cast<std::size_t>(c.vocab_size),
                -std::numeric_limits<float>::infinity());
  work_.head_rows += static_cast<std::int64_t>(rows.size());
}

void HostBackend::reset(int lane, std::uint32_t owner) {
  if (options_.poison)
    for (int layer = 0; layer < model_.config.n_layers; ++layer)
      store_.poison(lane, layer, 0, lengths_.at(lane, layer));
  lengths_.reset(lane, owner);
}

void HostBackend::trim(int lane, int length) {
  std::vector<int> before;
  if (options_.poison) before.assign(lengths_.of(lane).begin(), lengths_.of(lane).end());
  lengths_.trim(lane, length);
  for (int layer = 0; layer < static_cast<int>(before.size()); ++layer)
    store_.poison(lane, layer, length, before[static_cast<std::size_t>(layer)]);
}

void HostBackend::read_kv(int lane, int layer, int pos, std::span<float> key,
                          std::span<float> value) const {
  store_.read(lane, layer, pos, key, value);
}

RopeTables::RopeTables(const ModelConfig& config, int n_positions, int n_threads)
    : half(config.head_dim / 2),
      cos(static_cast<std::size_t>(n_positions) * static_cast<std::size_t>(half)),
      sin(cos.size()) {
  std::vector<double> frequencies = config.rope_frequencies;
  for (int i = 0; config.rope_frequencies.empty() && i < half; ++i)
    frequencies.push_back(std::pow(config.rope_theta, -2.0 * i / config.head_dim));
  parallel_for(n_positions, n_threads, [&](int pos) {
    for (int i = 0; i < half; ++i) {
      const double angle = pos * frequencies[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(pos) * static_cast<std::size_t>(half) +
                      static_cast<std::size_t>(i);
      cos[at] = static_cast<float>(config.rope_magnitude * std::cos(angle));
      sin[at] = static_cast<float>(config.rope_magnitude * std::sin(angle));
    }
  });
}

std::unique_ptr<Backend> make_backend(std::string_view name, const Model& model,
                                      const BackendOptions& options) {
  if (name == "cpu") return std::make_unique<CpuBackend>(model, options);
  if (name == "reference") return std::make_unique<ReferenceBackend>(model, options);
  throw InputError("--backend is '" + std::string(name) + "'; this build has cpu and reference.");
}

}  // namespace specbench::engine
