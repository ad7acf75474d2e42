// The stopwatch of one run: phases, time to the first token, times of delivery. Allocates only in
// its constructor, costs one clock reading a call, and must not do anything else inside the timed
// region.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/clock.h"

namespace specbench::harness {

class PhaseTimer {
 public:
  // n_phases >= 1. Phase 0 runs from `start` until the first `enter`, so the phases always sum to
  // the wall time. Up to chunk_capacity deliveries are kept (0: none are); the ones beyond are
  // counted, never allocated for.
  PhaseTimer(Clock& clock, int n_phases, std::size_t chunk_capacity = 0);

  // For the harness alone: the two readings that bound a run. `start` forgets the run before.
  void start();
  void stop();

  // For the subject, inside the run. Closes the running phase and opens `phase`, 0 <= phase <
  // n_phases.
  void enter(int phase) {
    assert(phase >= 0 && phase < static_cast<int>(phase_ns_.size()));
    const std::int64_t now = clock_->now_ns();
    phase_ns_[static_cast<std::size_t>(phase_)] += now - phase_start_ns_;
    phase_start_ns_ = now;
    phase_ = phase;
  }

  // The first token is there and decoding begins; the first call counts, later ones cost nothing.
  void first_token() {
    if (!first_token_ns_) first_token_ns_ = clock_->now_ns() - start_ns_;
  }

  // n_tokens reached the caller in one chunk. The first delivery marks the first token too, with
  // the same reading, unless it is marked already. With chunk_capacity 0 later calls cost no
  // reading.
  void delivered(int n_tokens) {
    if (first_token_ns_ && chunk_capacity_ == 0) return;
    const std::int64_t since_start = clock_->now_ns() - start_ns_;
    if (!first_token_ns_) first_token_ns_ = since_start;
    if (chunk_capacity_ == 0) return;
    if (chunk_end_ns_.size() == chunk_capacity_) {
      ++n_chunks_lost_;
      return;
    }
    chunk_end_ns_.push_back(since_start);
    chunk_tokens_.push_back(n_tokens);
  }

  int n_phases() const { return static_cast<int>(phase_ns_.size()); }
  // Valid after `stop`. All times are in ns; those of events count from `start`.
  std::int64_t wall_ns() const { return wall_ns_; }
  std::span<const std::int64_t> phase_ns() const { return phase_ns_; }  // [n_phases]
  std::optional<std::int64_t> first_token_ns() const {
    return first_token_ns_;
  }                                               // absent: never marked
  std::optional<std::int64_t> decode_ns() const;  // wall - first token
  std::span<const std::int64_t> chunk_end_ns() const {
    return chunk_end_ns_;
  }  // [n_chunks], ascending
  std::span<const std::int32_t> chunk_tokens() const { return chunk_tokens_; }  // [n_chunks]
  std::int64_t n_chunks_lost() const { return n_chunks_lost_; }

 private:
  Clock* clock_;
  std::size_t chunk_capacity_;
  std::vector<std::int64_t> phase_ns_;
  std::vector<std::int64_t> chunk_end_ns_;
  std::vector<std::int32_t> chunk_tokens_;
  std::int64_t start_ns_ = 0;
  std::int64_t phase_start_ns_ = 0;
  std::int64_t wall_ns_ = 0;
  int phase_ = 0;
  std::optional<std::int64_t> first_token_ns_;
  std::int64_t n_chunks_lost_ = 0;
};

}  // namespace specbench::harness
