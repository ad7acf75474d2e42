// A loop over independent items on a fixed number of threads. What an item computes must not depend
// on the others.
#pragma once

#include <exception>

namespace specbench::engine {

/// Calls body(i) for i in [0, n). The first exception thrown (in item order within a thread) is
/// rethrown after the loop.
template <typename Body>
void parallel_for(int n, int n_threads, const Body& body) {
  if (n <= 1 || n_threads <= 1) {
    for (int i = 0; i < n; ++i) body(i);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel for num_threads(n_threads) schedule(static)
  for (int i = 0; i < n; ++i) {
    try {
      body(i);
    } catch (...) {
#pragma omp critical
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace specbench::engine
