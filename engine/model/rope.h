// How far a head's pairs turn from one position to the next, with the scalings that published
// models use to reach beyond the length they were trained on.
#pragma once

#include <optional>
#include <vector>

namespace specbench::engine {

struct RopeScaling {
  enum class Kind { kNone, kLinear, kLlama3, kYarn };
  Kind kind = Kind::kNone;
  double factor = 1.0;                     ///< new length over the trained one
  double low_freq_factor = 1.0;            ///< Llama 3
  double high_freq_factor = 4.0;           ///< Llama 3
  int original_positions = 0;              ///< length of training; Llama 3 and YaRN
  double beta_fast = 32.0;                 ///< YaRN: pairs that turn more often keep their angle
  double beta_slow = 1.0;                  ///< YaRN: pairs that turn less often are scaled in full
  std::optional<double> attention_factor;  ///< YaRN; absent: .1 ln(factor) + 1
};

struct RopeAngles {
  std::vector<double> frequencies;  ///< [head_dim / 2] radians a position
  double magnitude = 1.0;           ///< of cosines and sines
};

/// head_dim even; factor > 0; Llama 3: 0 < low_freq_factor < high_freq_factor; YaRN: theta > 1,
/// original_positions > 0, 0 < beta_slow <= beta_fast. Su et al. (2021) for the plain ones; Chen et
/// al. (2023) linear; Peng et al. (2023) YaRN; Llama 3.1's smooth blend between kept and scaled
/// frequencies. The formulas, and their defaults, are those of Hugging Face's transformers.
RopeAngles rope_angles(int head_dim, double theta, const RopeScaling& scaling);

}  // namespace specbench::engine
