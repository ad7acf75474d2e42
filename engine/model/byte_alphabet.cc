#include "engine/model/byte_alphabet.h"

#include <array>
#include <charconv>

#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr int kFirstShifted = 0x100;
constexpr int kAlphabetEnd = 0x100 + 68;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

constexpr std::array<char32_t, 256> make_symbols() {
  std::array<char32_t, 256> symbols{};
  char32_t next = kFirstShifted;
  for (int byte = 0; byte < 256; ++byte) {
    symbols[static_cast<std::size_t>(byte)] =
        stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return symbols;
}

constexpr std::array<char32_t, 256> kSymbols = make_symbols();

/// Code point to byte, -1 outside the alphabet.
constexpr std::array<int, kAlphabetEnd> make_bytes() {
  std::array<int, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  for (std::size_t byte = 0; byte < 256; ++byte) bytes[kSymbols[byte]] = static_cast<int>(byte);
  return bytes;
}

constexpr std::array<int, kAlphabetEnd> kBytes = make_bytes();

}  // namespace

std::string byte_symbol(std::uint8_t byte) { return to_utf8(kSymbols[byte]); }

std::optional<std::string> bytes_of_symbols(std::string_view symbols) {
  std::string bytes;
  for (const char32_t point : code_points(symbols)) {
    if (point >= kBytes.size() || kBytes[point] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[point]);
  }
  return bytes;
}

std::string byte_token(std::uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 0xf] + '>';
}

std::optional<std::uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  std::uint8_t byte = 0;
  const char* const end = token.data() + 5;
  const auto [stopped, error] = std::from_chars(token.data() + 3, end, byte, 16);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return byte;
}

}  // namespace specbench::engine
