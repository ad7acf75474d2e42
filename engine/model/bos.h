// Which token goes before every prompt. Published models differ here, and a token too much or too
// few changes every probability after it, so what Hugging Face's tokenizer call puts there is read,
// not guessed.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/model/model.h"

namespace specbench::engine {

/// In this order: the post_processor of tokenizer.json says it (its template's token before the
/// text, or none); without one, add_bos_token in tokenizer_config.json says whether it is
/// bos_token_id of config.json; without that file too, it is that token. `config.bos` holds
/// bos_token_id. Throws InputError where a template adds more than one token, or one behind.
std::optional<TokenId> read_bos(const std::filesystem::path& directory, const ModelConfig& config);

}  // namespace specbench::engine
