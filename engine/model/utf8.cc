#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool is_in(unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; }

}  // namespace

// The table of well-formed sequences: Unicode 15, table 3-7.
std::size_t character_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = is_in(lead, 0xc2, 0xdf)   ? 2
                             : is_in(lead, 0xe0, 0xef) ? 3
                             : is_in(lead, 0xf0, 0xf4) ? 4
                                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned low = lead == 0xe0 ? 0xa0U : lead == 0xf0 ? 0x90U : 0x80U;
  const unsigned high = lead == 0xed ? 0x9fU : lead == 0xf4 ? 0x8fU : 0xbfU;
  if (!is_in(byte_at(text, 1), low, high)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_in(byte_at(text, i), 0x80, 0xbf)) return 0;
  }
  return length;
}

std::size_t valid_prefix(std::string_view text) {
  std::size_t valid = 0;
  while (const std::size_t length = character_length(text.substr(valid))) valid += length;
  return valid;
}

char32_t first_code_point(std::string_view text) {
  constexpr unsigned kLeadMask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  const std::size_t length = character_length(text);
  char32_t point = byte_at(text, 0) & kLeadMask[length];
  for (std::size_t i = 1; i < length; ++i) point = (point << 6) | (byte_at(text, i) & 0x3f);
  return point;
}

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> points;
  while (const std::size_t length = character_length(text)) {
    points.push_back(first_code_point(text));
    text.remove_prefix(length);
  }
  return points;
}

std::string to_utf8(char32_t code_point) {
  const auto tail = [code_point](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3f));
  };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xc0 | (code_point >> 6)), tail(0)};
  if (code_point < 0x10000) {
    return {static_cast<char>(0xe0 | (code_point >> 12)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xf0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
}

bool is_white_space(char32_t code_point) {
  return is_in(code_point, 0x9, 0xd) || code_point == 0x20 || code_point == 0x85 ||
         code_point == 0xa0 || code_point == 0x1680 || is_in(code_point, 0x2000, 0x200a) ||
         code_point == 0x2028 || code_point == 0x2029 || code_point == 0x202f ||
         code_point == 0x205f || code_point == 0x3000;
}

std::size_t leading_white_space(std::string_view text) {
  std::size_t n_bytes = 0;
  while (const std::size_t length = character_length(text.substr(n_bytes))) {
    if (!is_white_space(first_code_point(text.substr(n_bytes)))) break;
    n_bytes += length;
  }
  return n_bytes;
}

std::string replace_all(std::string_view text, std::string_view what, std::string_view by) {
  std::string replaced;
  replaced.reserve(text.size());
  for (std::size_t at; (at = text.find(what)) != std::string_view::npos;) {
    replaced.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + what.size());
  }
  return replaced.append(text);
}

}  // namespace specbench::engine
