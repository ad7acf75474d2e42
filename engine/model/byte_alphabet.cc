#include "engine/model/byte_alphabet.h"

#include <array>

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

}  // namespace specbench::engine
