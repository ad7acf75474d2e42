// Marks the samples of a measurement that the machine made doubtful. Decides from readings of a
// Watch alone; must not be called between the two clock readings of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/measure.h"
#include "harness/watch.h"

namespace specbench::harness {

// Called by `measure`: before_run, (the run, its sample is appended), after_run, for each run;
// pass_ended after each pass; finish after the warm-up and at the end, also of an interrupted
// measurement: no stretch goes on beyond it. Counters of events are judged run by run. Shares of
// ticks are judged run by run where a run is long enough, else by stretches of whole passes: the
// samples of a stretch are then all marked.
class Marker {
 public:
  // watch nullptr: nothing is read and nothing marked. Both must outlive the marker.
  Marker(Watch* watch, std::vector<Sample>& samples) : watch_(watch), samples_(samples) {}

  void before_run();
  void after_run();
  void pass_ended();
  void finish();

 private:
  // Samples from first_sample on, since the reading `begin`.
  struct Stretch {
    WatchReading begin;
    std::size_t first_sample = 0;
  };

  void add(std::size_t first_sample, const Marks& marks);
  void note_frequency(const WatchReading& reading);

  Watch* watch_;
  std::vector<Sample>& samples_;
  WatchReading before_;
  WatchReading after_;
  std::optional<Stretch> open_;
  std::optional<Stretch> judged_;  // the last one that was long enough
  double highest_mhz_ = 0;
};

}  // namespace specbench::harness
