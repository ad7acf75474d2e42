// Independent jobs on all threads, one thread each: steps of a small model are too short for
// threads to share, but whole decodings are not.
#pragma once

#include <atomic>

#include "engine/parallel.h"
#include "suites/context.h"

namespace specbench::suites {

/// The same model and prompts on one thread, with a silent progress.
inline Context alone(const Context& context, Progress& silent) {
  Context one = context;
  one.options.threads = 1;
  one.progress = &silent;
  return one;
}

/// Calls job(i, context of its own) for i in [0, n) in order of i, as threads come free. A job must
/// write to nothing that another one uses. Rethrows the first exception.
template <typename Job>
void run_side_by_side(const Context& context, int n, const Job& job) {
  std::atomic<int> next{0};
  engine::parallel_for(context.options.threads, context.options.threads, [&](int) {
    Progress silent(true);
    const Context one = alone(context, silent);
    for (int i = next++; i < n && !*context.stop; i = next++) job(i, one);
  });
}

}  // namespace specbench::suites
