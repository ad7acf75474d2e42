// Memory for weights, activations and the cache: zeros at first, aligned to 64 bytes, on huge pages
// where it is large and the system has them. A page takes memory once it is written.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace specbench::engine {

class AlignedBytes {
 public:
  AlignedBytes() = default;
  /// Throws std::bad_alloc.
  explicit AlignedBytes(std::size_t n);
  ~AlignedBytes();
  AlignedBytes(AlignedBytes&& other) noexcept { *this = std::move(other); }
  AlignedBytes& operator=(AlignedBytes&& other) noexcept {
    std::swap(region_, other.region_);
    std::swap(region_size_, other.region_size_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  void* region_ = nullptr;  ///< mapped; null where the bytes come from the heap
  std::size_t region_size_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t n) : bytes_(n * sizeof(float)) {}
  float* data() { return reinterpret_cast<float*>(bytes_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(bytes_.data()); }
  std::size_t size() const { return bytes_.size() / sizeof(float); }

 private:
  AlignedBytes bytes_;
};

}  // namespace specbench::engine
