// The reading loop. Each SIMD target compiles this file once more (foreach_target.h); HWY_ONCE
// guards what is needed once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "harness/streaming_read.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>

#include "harness/streaming_read.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::harness {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Reads n_bytes as kStreams parallel runs, prefetching `ahead` bytes (0: not). Four independent
// sums (an xor takes a cycle, so they keep up with any load port); the xor of all words is returned
// so that no load can be dropped. Requires n_bytes to be a multiple of kStreams * 1024; data
// aligned to 64.
template <int kStreams>
std::uint64_t read_streams(const std::uint64_t* HWY_RESTRICT data, std::size_t n_bytes,
                           std::size_t ahead) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
  constexpr std::size_t kStep = 1024 / sizeof(std::uint64_t);  // words a stream reads a step
  const std::size_t n_words = n_bytes / sizeof(std::uint64_t) / kStreams;
  const std::size_t ahead_words = ahead / sizeof(std::uint64_t);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  for (std::size_t i = 0; i < n_words; i += kStep) {
    for (int stream = 0; stream < kStreams; ++stream) {
      const std::uint64_t* at = data + static_cast<std::size_t>(stream) * n_words + i;
      if (ahead_words != 0) {
        for (std::size_t w = 0; w < kStep; w += kLine) hwy::Prefetch(at + w + ahead_words);
      }
      // Vectors of 2, 4 or 8 words divide the step of 128.
      for (std::size_t w = 0; w < kStep; w += 4 * lanes) {
        sum0 = hn::Xor(sum0, hn::Load(d, at + w));
        sum1 = hn::Xor(sum1, hn::Load(d, at + w + lanes));
        sum2 = hn::Xor(sum2, hn::Load(d, at + w + 2 * lanes));
        sum3 = hn::Xor(sum3, hn::Load(d, at + w + 3 * lanes));
      }
    }
  }
  const auto sum = hn::Xor(hn::Xor(sum0, sum1), hn::Xor(sum2, sum3));
  HWY_ALIGN std::uint64_t words[HWY_MAX_BYTES / sizeof(std::uint64_t)];
  hn::Store(sum, d, words);
  std::uint64_t folded = 0;
  for (std::size_t i = 0; i < lanes; ++i) folded ^= words[i];
  return folded;
}

std::uint64_t read_part(const std::uint64_t* data, std::size_t n_bytes, int n_streams,
                        std::size_t ahead) {
  switch (n_streams) {
    case 2:
      return read_streams<2>(data, n_bytes, ahead);
    case 4:
      return read_streams<4>(data, n_bytes, ahead);
    default:
      return read_streams<1>(data, n_bytes, ahead);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace specbench::harness
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <new>
#include <stdexcept>

namespace specbench::harness {
namespace {

HWY_EXPORT(read_part);

std::size_t bytes_a_part(std::size_t n_bytes, int n_threads) {
  require_team(n_threads);
  const std::size_t part_bytes = n_bytes / static_cast<std::size_t>(n_threads) / 4096 * 4096;
  if (part_bytes == 0) {
    throw std::invalid_argument(
        fmt::format("a working set of {} bytes is too small for {} threads; each needs 4096",
                    n_bytes, n_threads));
  }
  return part_bytes;
}

}  // namespace

std::uint64_t read_stream(const std::uint64_t* data, std::size_t n_bytes,
                          const AccessPattern& pattern) {
  return HWY_DYNAMIC_DISPATCH(read_part)(data, n_bytes, pattern.n_streams, pattern.ahead_bytes);
}

void require_team(int n_threads) {
  if (n_threads < 1)
    throw std::invalid_argument(
        fmt::format("{} threads cannot measure; ask for at least 1", n_threads));
  int n_started = 0;
#pragma omp parallel num_threads(n_threads)
#pragma omp master
  n_started = omp_get_num_threads();
  if (n_started != n_threads) {
    throw std::invalid_argument(
        fmt::format("asked for {} threads, the system gave {}", n_threads, n_started));
  }
}

SharedBuffer::SharedBuffer(std::size_t n_bytes, int n_threads)
    : n_threads_(n_threads), part_bytes_(bytes_a_part(n_bytes, n_threads)) {
  void* data =
      mmap(nullptr, this->n_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  madvise(data, this->n_bytes(), MADV_HUGEPAGE);  // a wish; refusal changes nothing but speed
  data_ = static_cast<std::uint64_t*>(data);
#pragma omp parallel num_threads(n_threads_)
  {
    const std::size_t n_words = part_bytes_ / sizeof(std::uint64_t);
    const std::size_t first = static_cast<std::size_t>(omp_get_thread_num()) * n_words;
    for (std::size_t i = first; i < first + n_words; ++i) data_[i] = (i + 1) * 0x9e3779b97f4a7c15u;
  }
}

SharedBuffer::~SharedBuffer() { munmap(data_, n_bytes()); }

}  // namespace specbench::harness
#endif  // HWY_ONCE
