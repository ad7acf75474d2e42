// An arm that does a fixed piece of work: it reads a buffer. A run's time over the yardstick's,
// taken in the same block, is free of the machine's drift. Emits nothing and takes no time itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure.h"
#include "harness/streaming_read.h"

namespace specbench::harness {

class Yardstick final : public Subject {
 public:
  // Allocates and fills the buffer. A run reads it n_passes times with n_threads threads, each its
  // own part; every case is the same. Throws std::invalid_argument for n_passes < 1 and what
  // SharedBuffer refuses.
  Yardstick(std::string name, std::size_t n_bytes, int n_threads, int n_passes = 1);

  const std::string& name() const override { return name_; }
  void prepare(int) override {}
  Outcome run(int case_index, PhaseTimer& timer) override;  // kNoTokens

  std::size_t bytes_a_run() const {
    return buffer_.n_bytes() * static_cast<std::size_t>(n_passes_);
  }
  // The xor of all words of the buffer, as the last run read them.
  std::uint64_t checksum() const;

 private:
  std::string name_;
  SharedBuffer buffer_;
  int n_passes_;
  std::vector<std::uint64_t> sums_;  // [n_threads, 8]: a cache line each
};

}  // namespace specbench::harness
