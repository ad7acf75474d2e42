// Where a text is UTF-8 and where it is not. A strict reader: no surrogates, no overlong forms,
// nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace specbench::engine {

/// Bytes of the character at the front of `text`; 0 where it is empty or does not begin with valid
/// UTF-8.
std::size_t character_length(std::string_view text);

/// Bytes of the longest front part of `text` that is valid UTF-8.
std::size_t valid_prefix(std::string_view text);

/// Code points of valid UTF-8.
std::vector<char32_t> code_points(std::string_view text);

std::string to_utf8(char32_t code_point);

}  // namespace specbench::engine
