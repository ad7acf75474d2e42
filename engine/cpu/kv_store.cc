#include "engine/cpu/kv_store.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/model/narrow.h"

namespace specbench::engine {

namespace {

int padded(int capacity) {
  return (capacity + KvStore::kBlock - 1) / KvStore::kBlock * KvStore::kBlock;
}
std::size_t bytes_each(KvType type) { return type == KvType::kF16 ? 2 : 4; }

void put(float x, float& at) { at = x; }
void put(float x, std::uint16_t& at) { at = to_f16(x); }
float get(float x) { return x; }
float get(std::uint16_t bits) { return f16_to_float(bits); }

/// Calls use(T()) for the element that a type is kept as.
template <typename Use>
void for_element(KvType type, const Use& use) {
  if (type == KvType::kF16)
    use(std::uint16_t{});
  else
    use(float{});
}

}  // namespace

std::size_t KvStore::n_bytes(int n_lanes, const ModelConfig& config, int capacity, KvType type) {
  return 2 * static_cast<std::size_t>(n_lanes) * static_cast<std::size_t>(config.n_layers) *
         static_cast<std::size_t>(config.n_kv_heads) * static_cast<std::size_t>(padded(capacity)) *
         static_cast<std::size_t>(config.head_dim) * bytes_each(type);
}

KvStore::KvStore(int n_lanes, const ModelConfig& config, int capacity, KvType type)
    : n_layers_(config.n_layers),
      n_kv_heads_(config.n_kv_heads),
      head_dim_(config.head_dim),
      padded_capacity_(padded(capacity)),
      type_(type),
      keys_(n_bytes(n_lanes, config, capacity, type) / 2),
      values_(keys_.size()) {}

void KvStore::write(int lane, int layer, int kv_head, int slot, const float* key,
                    const float* value) {
  for_element(type_, [&](auto element) {
    using T = decltype(element);
    T* const keys = key_blocks<T>(lane, layer, kv_head) + key_index(slot);
    for (int d = 0; d < head_dim_; ++d) put(key[d], keys[d * kBlock]);
    T* const to = values<T>(lane, layer, kv_head) + static_cast<std::ptrdiff_t>(slot) * head_dim_;
    for (int d = 0; d < head_dim_; ++d) put(value[d], to[d]);
  });
}

void KvStore::read(int lane, int layer, int slot, std::span<float> key,
                   std::span<float> value) const {
  for_element(type_, [&](auto element) {
    using T = decltype(element);
    for (int h = 0; h < n_kv_heads_; ++h) {
      const T* const keys = key_blocks<T>(lane, layer, h) + key_index(slot);
      const T* const from =
          values<T>(lane, layer, h) + static_cast<std::ptrdiff_t>(slot) * head_dim_;
      for (int d = 0; d < head_dim_; ++d) {
        const auto at = static_cast<std::size_t>(h * head_dim_ + d);
        key[at] = get(keys[d * kBlock]);
        value[at] = get(from[d]);
      }
    }
  });
}

void KvStore::poison(int lane, int layer, int begin, int end) {
  const std::vector<float> nan(static_cast<std::size_t>(head_dim_),
                               std::numeric_limits<float>::quiet_NaN());
  for (int h = 0; h < n_kv_heads_; ++h)
    for (int slot = begin; slot < end; ++slot) write(lane, layer, h, slot, nan.data(), nan.data());
}

}  // namespace specbench::engine
