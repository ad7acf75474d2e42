#include "engine/cpu/aligned.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace specbench::engine {

AlignedBytes::AlignedBytes(std::size_t n) : size_(n) {
  if (n == 0) return;
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (n < kHugePage) {
    data_ = static_cast<std::byte*>(::operator new (n, std::align_val_t{kAlignment}));
    std::memset(data_, 0, n);
    return;
  }
  const std::size_t region_size = n + kHugePage;
  void* const region = ::mmap(nullptr, region_size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) throw std::bad_alloc();
  region_ = region;
  region_size_ = region_size;
  const auto address = reinterpret_cast<std::uintptr_t>(region);
  data_ = static_cast<std::byte*>(region) + (kHugePage - address % kHugePage) % kHugePage;
  // Advice only: where it is refused, ordinary pages serve. Given before the first touch, or it
  // comes too late.
  (void)::madvise(data_, n / kHugePage * kHugePage, MADV_HUGEPAGE);
}

AlignedBytes::~AlignedBytes() {
  if (region_ != nullptr)
    ::munmap(region_, region_size_);
  else
    ::operator delete (data_, std::align_val_t{kAlignment});
}

}  // namespace specbench::engine
