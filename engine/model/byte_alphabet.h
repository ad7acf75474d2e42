// GPT-2's alphabet: every byte has a printable character, so that a vocabulary of arbitrary bytes
// can be written as text. Printable Latin-1 bytes stand for themselves, the other 68 are numbered
// from U+0100 on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace specbench::engine {

/// The character of a byte, as UTF-8.
std::string byte_symbol(std::uint8_t byte);

/// The bytes that `symbols` (valid UTF-8) spells; nothing where a character is not of the alphabet.
std::optional<std::string> bytes_of_symbols(std::string_view symbols);

}  // namespace specbench::engine
