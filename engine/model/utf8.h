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

/// The first code point of valid UTF-8 that is not empty.
char32_t first_code_point(std::string_view text);

/// Code points of valid UTF-8.
std::vector<char32_t> code_points(std::string_view text);

std::string to_utf8(char32_t code_point);

/// Of ASCII: what a terminal may obey.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Unicode's White_Space.
bool is_white_space(char32_t code_point);

/// Bytes of the white space that `text` begins with; a byte that is not UTF-8 is none.
std::size_t leading_white_space(std::string_view text);

/// `text` with every `what` (not empty) replaced, from the left.
std::string replace_all(std::string_view text, std::string_view what, std::string_view by);

}  // namespace specbench::engine
