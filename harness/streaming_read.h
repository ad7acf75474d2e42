// Reading memory as fast as it goes: the loop behind the measured bandwidth.
// Takes no time itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace specbench::harness {

// How a part is walked. Which is fastest depends on the machine and on where the set lies.
struct AccessPattern {
  int n_streams = 1;            // 1, 2 or 4 runs read side by side
  std::size_t ahead_bytes = 0;  // prefetched so far ahead; 0: left to the hardware
};

// Reads n_bytes once; returns the xor of all words, so that no load can be dropped. Requires
// n_bytes to be a multiple of 4096 and data aligned to 64.
std::uint64_t read_stream(const std::uint64_t* data, std::size_t n_bytes,
                          const AccessPattern& pattern);

// Throws std::invalid_argument if n_threads < 1 or the system gives a team of another size.
void require_team(int n_threads);

// Memory in n_threads equal parts, each a multiple of 4096 bytes, on huge pages where the system
// grants them: fewer address translations. Each thread of the team fills its own part, since pages
// never written would all be one page of zeros in the cache.
class SharedBuffer {
 public:
  // n_bytes is rounded down. Throws std::invalid_argument if a part has less than 4096 bytes or the
  // team cannot be had, std::bad_alloc if the memory is not there.
  SharedBuffer(std::size_t n_bytes, int n_threads);
  ~SharedBuffer();
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  const std::uint64_t* part(int thread) const {
    return data_ + static_cast<std::size_t>(thread) * part_bytes_ / sizeof(std::uint64_t);
  }
  std::size_t part_bytes() const { return part_bytes_; }
  std::size_t n_bytes() const { return part_bytes_ * static_cast<std::size_t>(n_threads_); }
  int n_threads() const { return n_threads_; }

 private:
  int n_threads_;
  std::size_t part_bytes_;
  std::uint64_t* data_ = nullptr;
};

}  // namespace specbench::harness
