// What this machine can do at best, measured: the ceilings that achieved speed is compared with.
// Must not be run beside other work. Vector width is chosen at run time.
#pragma once

#include <cstddef>
#include <string>

namespace specbench::harness {

// Bytes a second that n_threads threads read from a buffer of working_set_bytes, each a contiguous
// part, over and over: a set that fits a cache gives that cache's bandwidth. The best of several
// access patterns and passes; under .3 s once the buffer is filled. Requires working_set_bytes >=
// 4096 * n_threads and n_threads >= 1, else std::invalid_argument; std::bad_alloc if the memory is
// not there.
double read_bandwidth(std::size_t working_set_bytes, int n_threads);

// float32 operations a second (a multiply-add counts two) from registers, summed over n_threads
// threads; the best of several passes, about .1 s. Throws std::invalid_argument if n_threads < 1.
double multiply_add_peak(int n_threads);

// The SIMD target the two use here, for example "AVX2".
std::string ceiling_simd_target();

}  // namespace specbench::harness
