// Stop strings: a text ends with the first token that completes one of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

class Tokenizer;

/// Does the text of `tokens` come to hold a stop string with the last token, though it did not
/// before? Bytes are compared, so a string may begin and end inside tokens. Empty stops: never.
bool completes_stop(std::span<const TokenId> tokens, std::span<const std::string> stops,
                    const Tokenizer& tokenizer);

/// Place where the first stop string begins in a text; its length where there is none.
std::size_t first_stop(const std::string& text, std::span<const std::string> stops);

}  // namespace specbench::engine
