// Weights of a row of logits, with the arithmetic of engine/law.h at the vector width of the
// machine. The same bits on every target: the compiler may only do several ids at once.
#pragma once

namespace specbench::engine {

/// weights[id] = exp_fixed((logits[id] - largest) * inverse_temperature) for id < n_ids, zeros up
/// to padded_size(n_ids). logits may be -inf; largest is their maximum, finite.
void weigh(const float* logits, int n_ids, float largest, double inverse_temperature,
           double* weights);

}  // namespace specbench::engine
