// The faults of the measurement, planted in a short real one: what the selftest runs to see that
// the checks of latency_validity.h can fail. Reports no times.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"
#include "suites/context.h"
#include "suites/timing_faults.h"

namespace specbench::suites {

/// The timing faults of a mutant; none for an empty id, an unknown one or a fault of decoding.
TimingFaults planted_timing(std::string_view mutant);

/// Where other_path is planted, the backend that the autoregressive arm then runs on: the same one
/// with another number of threads. Else null. batch lanes, sequences up to max_length.
std::unique_ptr<engine::Backend> other_backend(const TimingFaults& faults, const Context& context,
                                               int batch, int max_length);

/// Measures the arms autoregressive, speculative and its twin over two prompts, 16 tokens each, as
/// the latency suite does, with the faults planted, and returns the checks of check_validity. Takes
/// about a second on the embedded model. Where the user stopped the run they prove nothing.
std::vector<results::Check> run_timing_mutant(const Context& context, const TimingFaults& faults);

/// What failed, without its arm: "validity.warmup", "validity.decode-region", "validity.same-path".
std::set<std::string> failed_validity_kinds(std::span<const results::Check> checks);

}  // namespace specbench::suites
