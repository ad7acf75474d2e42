// Two ways to write bytes as the text of tokens. GPT-2's alphabet: every byte has a printable
// character; printable Latin-1 bytes stand for themselves, the other 68 are numbered from U+0100
// on. And SentencePiece's byte tokens, one a byte: "<0x0A>".
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

/// The byte token of a byte.
std::string byte_token(std::uint8_t byte);

/// The byte of a byte token, in capitals or not; nothing where `token` is none.
std::optional<std::uint8_t> byte_of_token(std::string_view token);

}  // namespace specbench::engine
