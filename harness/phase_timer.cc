#include "harness/phase_timer.h"

#include <algorithm>

namespace specbench::harness {

PhaseTimer::PhaseTimer(Clock& clock, int n_phases, std::size_t chunk_capacity)
    : clock_(&clock),
      chunk_capacity_(chunk_capacity),
      phase_ns_(static_cast<std::size_t>(n_phases)) {
  assert(n_phases >= 1);
  chunk_end_ns_.reserve(chunk_capacity);
  chunk_tokens_.reserve(chunk_capacity);
}

void PhaseTimer::start() {
  std::fill(phase_ns_.begin(), phase_ns_.end(), 0);
  chunk_end_ns_.clear();
  chunk_tokens_.clear();
  first_token_ns_.reset();
  n_chunks_lost_ = 0;
  wall_ns_ = 0;
  phase_ = 0;
  // Last, so that nothing of the above is timed.
  start_ns_ = clock_->now_ns();
  phase_start_ns_ = start_ns_;
}

void PhaseTimer::stop() {
  const std::int64_t now = clock_->now_ns();
  phase_ns_[static_cast<std::size_t>(phase_)] += now - phase_start_ns_;
  wall_ns_ = now - start_ns_;
}

std::optional<std::int64_t> PhaseTimer::decode_ns() const {
  if (!first_token_ns_) return std::nullopt;
  return wall_ns_ - *first_token_ns_;
}

}  // namespace specbench::harness
