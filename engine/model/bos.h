// Which token goes before every prompt. Published models differ here, and a token too much or too
// few changes every probability after it, so what Hugging Face's tokenizer call puts there is read,
// not guessed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/types.h"

namespace specbench::engine {

/// What the post_processor of a tokenizer.json puts before a text, as in transformers 5: neither
/// bos_token_id of config.json nor add_bos_token of tokenizer_config.json bears on it. Nothing
/// where it puts nothing. Throws InputError where it adds more than one token, one behind the text,
/// or one outside [0, vocab_size).
std::optional<TokenId> read_bos(const std::filesystem::path& tokenizer_json, int vocab_size);

/// The same of its text; `file` is named in messages. What follows the post_processor is not read.
std::optional<TokenId> parse_bos(std::string_view json, const std::string& file, int vocab_size);

}  // namespace specbench::engine
