// Keys and values of all lanes in memory, as float32 or rounded to float16.
// Keys: [lane][layer][kv head][block of 16 slots][head_dim][16], so that 16 scores are computed
// side by side. Values: [lane][layer][kv head][slot][head_dim].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/backend.h"
#include "engine/cpu/aligned.h"
#include "engine/model/half.h"

namespace specbench::engine {

class KvStore {
 public:
  static constexpr int kBlock = 16;

  KvStore(int n_lanes, const ModelConfig& config, int capacity, KvType type);
  static std::size_t n_bytes(int n_lanes, const ModelConfig& config, int capacity, KvType type);

  KvType type() const { return type_; }

  /// T: float, or std::uint16_t where the type is kF16.
  template <typename T>
  T* key_blocks(int lane, int layer, int kv_head) {
    return reinterpret_cast<T*>(keys_.data()) + offset(lane, layer, kv_head);
  }
  template <typename T>
  const T* key_blocks(int lane, int layer, int kv_head) const {
    return reinterpret_cast<const T*>(keys_.data()) + offset(lane, layer, kv_head);
  }
  template <typename T>
  T* values(int lane, int layer, int kv_head) {
    return reinterpret_cast<T*>(values_.data()) + offset(lane, layer, kv_head);
  }
  template <typename T>
  const T* values(int lane, int layer, int kv_head) const {
    return reinterpret_cast<const T*>(values_.data()) + offset(lane, layer, kv_head);
  }

  /// key, value: head_dim each.
  void write(int lane, int layer, int kv_head, int slot, const float* key, const float* value);
  /// All kv heads of a slot: n_kv_heads * head_dim each.
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
  /// Index of element 0 of a slot's key below key_blocks(); consecutive ones are kBlock apart.
  std::size_t key_index(int slot) const {
    return static_cast<std::size_t>(slot / kBlock) * static_cast<std::size_t>(head_dim_) * kBlock +
           static_cast<std::size_t>(slot % kBlock);
  }
  int n_layers_, n_kv_heads_, head_dim_, padded_capacity_;
  KvType type_;
  AlignedBytes keys_, values_;
};

}  // namespace specbench::engine
