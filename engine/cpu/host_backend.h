// What the two backends of the host share: hidden states, key/value storage and its lengths,
// counters, argument checks.
#pragma once

#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/cpu/kv_store.h"

namespace specbench::engine {

/// The options with max_length filled in. Throws InputError on impossible ones.
BackendOptions checked_options(const Model& model, BackendOptions options);

class HostBackend : public Backend {
 public:
  HostBackend(const Model& model, BackendOptions options);

  const ModelConfig& config() const override { return model_.config; }
  const BackendOptions& options() const override { return options_; }
  const KvLengths& kv() const override { return lengths_; }
  void forward(std::span<const Row> rows, int first, int last) final;
  void logits(std::span<const Row> rows, float* out) final;
  void reset(int lane, std::uint32_t owner) override;
  void trim(int lane, int length) override;
  void read_kv(int lane, int layer, int pos, std::span<float> key,
               std::span<float> value) const override;

 protected:
  /// The arithmetic; rows are valid and already entered into the cache's lengths.
  virtual void run_layers(std::span<const Row> rows, int first, int last) = 0;
  virtual void run_head(std::span<const Row> rows, float* out) = 0;

  float* hidden(int slot) {
    return hidden_.data() + static_cast<std::ptrdiff_t>(slot) * model_.config.width;
  }

  const Model& model_;
  BackendOptions options_;
  KvLengths lengths_;
  KvStore store_;
  std::vector<float> hidden_;  ///< [slot][width]
};

/// magnitude times cos and sin of pos * frequency, by default theta^(-2 i / head_dim):
/// [pos][head_dim / 2] each, computed in double.
struct RopeTables {
  RopeTables(const ModelConfig& config, int n_positions, int n_threads);
  int half = 0;
  std::vector<float> cos, sin;
};

}  // namespace specbench::engine
