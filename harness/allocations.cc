#include "harness/allocations.h"

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace specbench::harness {
std::optional<std::int64_t> n_allocations() { return std::nullopt; }
}  // namespace specbench::harness

#else

namespace {

thread_local std::int64_t n_calls = 0;

void* allocate(std::size_t size) {
  ++n_calls;
  for (;;) {
    if (void* const at = std::malloc(size == 0 ? 1 : size)) return at;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* allocate(std::size_t size, std::align_val_t alignment) {
  ++n_calls;
  const auto bytes = static_cast<std::size_t>(alignment);
  const std::size_t whole = (size + bytes - 1) / bytes * bytes;
  for (;;) {
    if (void* const at = std::aligned_alloc(bytes, whole == 0 ? bytes : whole)) return at;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

// The other forms (arrays, nothrow) call these by default.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, alignment);
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

namespace specbench::harness {
std::optional<std::int64_t> n_allocations() { return n_calls; }
}  // namespace specbench::harness

#endif
