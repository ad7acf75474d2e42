// config.json of a Llama-like model to ModelConfig. What this engine cannot compute exactly is
// refused by name, never approximated.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/model/model.h"

namespace specbench::engine {

/// model_type llama, mistral, qwen2 or qwen3. Absent fields take the values Hugging Face's config
/// classes give them, but for eos_token_id: absent or null means none. bos_token_id is not read:
/// what goes before a prompt is the tokenizer's matter (bos.h). The sliding window of llama and
/// mistral caps max_positions: within it every position sees all before it. `file` is named in
/// messages. Throws InputError.
ModelConfig parse_config(std::string_view json, const std::string& file);

ModelConfig read_config(const std::filesystem::path& file);

/// generation_config.json: adds its eos_token_id, one or a list, to config.eos. Models that were
/// taught to converse end a turn with other tokens than a document, named only there.
void parse_generation_config(std::string_view json, const std::string& file, ModelConfig& config);

void read_generation_config(const std::filesystem::path& file, ModelConfig& config);

/// What Hugging Face calls an architecture of ModelConfig: "LlamaForCausalLM" of "llama".
std::string class_of(std::string_view architecture);

}  // namespace specbench::engine
