// Ends decoding where the user has asked to, and sees nothing else.
#pragma once

#include <atomic>

#include "engine/round.h"

namespace specbench::suites {

class Cancellable final : public engine::Observer {
 public:
  explicit Cancellable(const std::atomic<bool>& stop) : stop_(stop) {}
  bool is_cancelled() override { return stop_; }

 private:
  const std::atomic<bool>& stop_;
};

}  // namespace specbench::suites
