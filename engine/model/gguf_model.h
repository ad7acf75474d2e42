// A model in one GGUF file. The weights stay in the file, which is mapped.
#pragma once

#include <filesystem>
#include <string>

#include "engine/model/mapped_file.h"
#include "engine/model/model.h"

namespace specbench::engine {

/// Llama-like models as llama.cpp's converters write them (gguf_config.h). Throws InputError: one
/// sentence naming file, key or tensor, value, and what was expected.
Model load_gguf(const std::filesystem::path& path);

/// The same of bytes that lie in memory, all of the file; the weights keep them.
Model read_gguf(const FileBytes& bytes, const std::string& name, int n_threads);

}  // namespace specbench::engine
