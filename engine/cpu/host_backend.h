// What the two backends of the host share: hidden states, key/value storage and its lengths,
// counters, argument checks.
#pragma once

#include <span>
#include <vector>

#include "engine/backend.h"

namespace specbench::engine {

/// Keys and values of all lanes in memory.
/// Keys: [lane][layer][kv head][block of 16 slots][head_dim][16], so that 16 scores are computed
/// side by side. Values: [lane][layer][kv head][slot][head_dim].
class KvStore {
 public:
  static constexpr int kBlock = 16;

  KvStore(int n_lanes, const ModelConfig& config, int capacity);

  float* key_blocks(int lane, int layer, int kv_head) {
    return keys_.data() + offset(lane, layer, kv_head);
  }
  const float* key_blocks(int lane, int layer, int kv_head) const {
    return keys_.data() + offset(lane, layer, kv_head);
  }
  float* values(int lane, int layer, int kv_head) {
    return values_.data() + offset(lane, layer, kv_head);
  }
  const float* values(int lane, int layer, int kv_head) const {
    return values_.data() + offset(lane, layer, kv_head);
  }
  /// Index of element d of a slot's key below key_blocks(); consecutive d are kBlock apart.
  std::size_t key_index(int slot, int d) const {
    return (static_cast<std::size_t>(slot / kBlock) * static_cast<std::size_t>(head_dim_) +
            static_cast<std::size_t>(d)) *
               kBlock +
           static_cast<std::size_t>(slot % kBlock);
  }
  void write(int lane, int layer, int kv_head, int slot, const float* key, const float* value);
  void read(int lane, int layer, int slot, std::span<float> key, std::span<float> value) const;
  void poison(int lane, int layer, int begin, int end);

 private:
  std::size_t offset(int lane, int layer, int kv_head) const {
    return ((static_cast<std::size_t>(lane) * static_cast<std::size_t>(n_layers_) +
             static_cast<std::size_t>(layer)) *
                static_cast<std::size_t>(n_kv_heads_) +
            static_cast<std::size_t>(kv_head)) *
           static_cast<std::size_t>(padded_capacity_) * static_cast<std::size_t>(head_dim_);
  }
  int n_layers_, n_kv_heads_, head_dim_, padded_capacity_;
  std::vector<float> keys_, values_;
};

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

/// cos and sin of pos * theta^(-2 i / head_dim): [pos][head_dim / 2] each, computed in double.
struct RopeTables {
  RopeTables(const ModelConfig& config, int n_positions);
  int half = 0;
  std::vector<float> cos, sin;
};

}  // namespace specbench::engine
