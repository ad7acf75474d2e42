// Numbers one after another for made-up laws and logits: the same on every run, and never a coin of
// the engine.
#pragma once

#include <cstdint>

#include "engine/coins.h"

namespace specbench::suites {

class KeyedNumbers {
 public:
  explicit KeyedNumbers(std::uint64_t seed, std::uint32_t stream = 0)
      : seed_(seed), stream_(stream) {}
  double uniform() {
    return engine::uniform({seed_, stream_, 0, n_++, engine::Purpose::kVerification, 0});
  }
  int below(int n) { return static_cast<int>(uniform() * n); }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_;
  std::uint32_t n_ = 0;
};

}  // namespace specbench::suites
