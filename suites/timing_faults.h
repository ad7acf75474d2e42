// Faults of the measurement itself, planted by the selftest: what was timed, not what was decoded.
// Says which are planted, not how (latency_validity.h, timing_mutants.h).
#pragma once

namespace specbench::suites {

struct TimingFaults {
  bool no_warmup = false;          ///< the cold passes are measured ones
  bool prefill_in_decode = false;  ///< decode time begins with the run, not with the first token
  bool other_path = false;         ///< the autoregressive arm runs another configuration

  bool any() const { return no_warmup || prefill_in_decode || other_path; }
};

}  // namespace specbench::suites
