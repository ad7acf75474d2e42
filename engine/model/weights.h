// The weights of a Llama-like model from one or several safetensors files, each tensor checked by
// name and shape against the config. Matrices stay in the files, as they are stored; norms and
// biases, which are small, become floats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/model/model.h"

namespace specbench::engine {

struct StoredWeights {
  Weights weights;
  std::uint64_t hash = 0;  ///< as Model::weights_hash
  std::string dtype;       ///< as Model::weights_dtype
};

/// Reads model.safetensors, or else the files that model.safetensors.index.json lists, or else the
/// only *.safetensors file of the directory; every byte once, on n_threads. Throws InputError, also
/// where a value is not finite.
StoredWeights read_weights(const std::filesystem::path& directory, const ModelConfig& config,
                           int n_threads);

}  // namespace specbench::engine
