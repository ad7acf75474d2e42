// What the source of a synthetic model asks for: "synthetic:<shape>[-<type>][:seed=N][:later=X]".
// Private to synthetic.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/model/model.h"

namespace specbench::engine {

struct SyntheticSpec {
  std::string_view shape;  ///< its name
  ModelConfig config;      ///< of the shape, without BOS and EOS
  WeightType type = WeightType::kBF16;
  std::uint64_t seed = 1;
  double later = 1.0;  ///< scales what the layers behind the first quarter add
};

/// Throws InputError, one sentence that names what is supported.
SyntheticSpec read_synthetic_source(std::string_view source);

/// The one spelling of a source that stands for this model.
std::string canonical_source(const SyntheticSpec& spec);

}  // namespace specbench::engine
