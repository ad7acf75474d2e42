// Stop strings: a text ends with the first token that completes one of them. Bytes are compared, so
// that a string may begin and end inside tokens and inside characters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

class Tokenizer;

/// Bytes of the tokens as they continue a text. A model may have more ids than its tokenizer (a
/// padded vocabulary): those have no bytes.
std::string text_of(std::span<const TokenId> tokens, const Tokenizer& tokenizer);

/// Does a stop string end in the last token? What earlier tokens completed (below min_tokens) is
/// past and does not count. An empty string is never found.
bool completes_stop(std::span<const TokenId> tokens, std::span<const std::string> stops,
                    const Tokenizer& tokenizer);

/// Place where a text is cut: the smallest at which a stop string begins that ends behind the first
/// n_past bytes. The text's length where there is none.
std::size_t first_stop(const std::string& text, std::span<const std::string> stops,
                       std::size_t n_past = 0);

}  // namespace specbench::engine
