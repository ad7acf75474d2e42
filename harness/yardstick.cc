#include "harness/yardstick.h"

#include <fmt/format.h>
#include <omp.h>

#include <stdexcept>
#include <utility>

namespace specbench::harness {
namespace {

constexpr std::size_t kLine = 8;  // words of a cache line
// The plain walk: what a matrix product does with its weights.
constexpr AccessPattern kWalk{1, 0};

}  // namespace

Yardstick::Yardstick(std::string name, std::size_t n_bytes, int n_threads, int n_passes)
    : name_(std::move(name)),
      buffer_(n_bytes, n_threads),
      n_passes_(n_passes),
      sums_(static_cast<std::size_t>(n_threads) * kLine) {
  if (n_passes < 1) {
    throw std::invalid_argument(
        fmt::format("{} passes are no work for a yardstick; ask for at least 1", n_passes));
  }
}

Outcome Yardstick::run(int, PhaseTimer&) {
#pragma omp parallel num_threads(buffer_.n_threads())
  {
    const int thread = omp_get_thread_num();
    std::uint64_t sum = 0;
    for (int pass = 0; pass < n_passes_; ++pass)
      sum = read_stream(buffer_.part(thread), buffer_.part_bytes(), kWalk);
    sums_[static_cast<std::size_t>(thread) * kLine] = sum;
  }
  return kNoTokens;
}

std::uint64_t Yardstick::checksum() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sums_.size(); i += kLine) sum ^= sums_[i];
  return sum;
}

}  // namespace specbench::harness
