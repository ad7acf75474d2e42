// A baseline record: what must not change from build to build (exact counters, acceptance, laws)
// and nothing that belongs to one machine or day. Must never hold a time.
#pragma once

#include <span>

#include "results/record.h"

namespace specbench::results {

/// Suite "baseline": counters, acceptance metrics, certified_tv, acceptance_by_position and the
/// verdict of each law, from one latency record or one lossless record or one of each, of one model
/// and one set of decoding options. A selftest record alone becomes the kill matrix. Throws
/// std::invalid_argument, with one sentence, for other suites, two of a kind, different models, and
/// records that failed or were interrupted.
Record to_baseline(std::span<const Record> records);

}  // namespace specbench::results
