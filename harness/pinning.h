// Keeps each thread on a core of its own while it is timed. Left to the scheduler, the two threads
// of a run were found on one core in one run of twenty, for milliseconds of a run of forty. Must
// not choose for threads that others start.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace specbench::harness {

// One core for each of n_threads, of `usable` (rising), beginning with `current` (the scheduler has
// found it free) and going round; of two hardware threads of one core the second only where there
// are no whole cores left. siblings(core): the hardware threads of its core, itself among them.
// Empty where there are fewer cores than threads: then nothing is gained.
std::vector<int> choose_cores(std::span<const int> usable, int current, int n_threads,
                              const std::function<std::vector<int>(int core)>& siblings);

// "0-2,5" as the kernel writes lists of cores; what cannot be read is left out.
std::vector<int> parse_core_list(std::string_view text);

// From construction to destruction each thread of an OpenMP team of n_threads stays on one core;
// then all may run where they might before. Teams must not be larger meanwhile: new threads would
// stay on the core of their parent.
class PinnedThreads {
 public:
  explicit PinnedThreads(int n_threads, const std::filesystem::path& root = "/");
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

  // Core of each thread; empty: not pinned (fewer cores than threads, or not allowed).
  const std::vector<int>& cores() const { return cores_; }

 private:
  std::vector<int> usable_;  // before
  std::vector<int> cores_;
};

}  // namespace specbench::harness
