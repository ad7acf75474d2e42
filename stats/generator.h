// Random numbers for resampling: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. Own
// code, since the distributions of std differ by library and a seed must mean the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace specbench::stats {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, count) without bias, count >= 1: the lowest values of the last incomplete cycle
  // are drawn again.
  std::size_t index(std::size_t count) {
    const std::uint64_t n = count;
    const std::uint64_t incomplete = (0 - n) % n;
    std::uint64_t word = next();
    while (word < incomplete) word = next();
    return static_cast<std::size_t>(word % n);
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
  }
  std::uint64_t state_[4] = {};
};

}  // namespace specbench::stats
