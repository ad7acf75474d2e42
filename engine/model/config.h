// config.json of a Llama-like model to ModelConfig. What this engine cannot compute exactly is
// refused by name, never approximated.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/model/model.h"

namespace specbench::engine {

/// Absent fields take the values Hugging Face's LlamaConfig gives them, but for bos_token_id and
/// eos_token_id: absent or null means none. `file` is named in messages. Throws InputError.
ModelConfig parse_config(std::string_view json, const std::string& file);

ModelConfig read_config(const std::filesystem::path& file);

}  // namespace specbench::engine
