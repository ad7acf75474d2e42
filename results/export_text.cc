#include "results/export_text.h"

#include <algorithm>
#include <cstdint>

namespace specbench::results {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Bytes of the character at the start of `text`, 0 where there is none (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF) or XML 1.0 does not allow it.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(text[i]) & 0xff; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    const bool is_control = (first < 0x20 && first != '\t' && first != '\n' && first != '\r');
    return is_control || first == 0x7f ? 0 : 1;
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  std::uint32_t point = first & (0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xd800 && point < 0xe000;
  const bool is_control = point < 0xa0 || point == 0xfffe || point == 0xffff;
  return point < kSmallest[size] || point > 0x10ffff || is_surrogate || is_control ? 0 : size;
}

// Calls visit with each character of the cleaned text in turn.
template <typename Visit>
void each_character(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    visit(size == 0 ? kReplacement : text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

std::string_view xml_reference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    case '\n':  // a parser would make a space of it in an attribute
      return "&#10;";
    case '\r':
      return "&#13;";
    case '\t':
      return "&#9;";
    default:
      return "";
  }
}

constexpr std::string_view kZeroWidthSpace = "\xe2\x80\x8b";

bool ends_in_www(std::string_view text) {
  constexpr std::string_view kWww = "www";
  if (text.size() < kWww.size()) return false;
  text.remove_prefix(text.size() - kWww.size());
  return std::equal(text.begin(), text.end(), kWww.begin(),
                    [](char a, char b) { return a == b || a == 'W'; });
}

// `before` is what was made of the text so far: a list, a heading and a link start at some places
// only.
std::string markdown_character(std::string_view character, std::string_view before) {
  constexpr std::string_view kMeaning = "\\`*_[]~|$";
  const char c = character[0];
  const bool is_first = before.empty();
  if (c == '\n' || c == '\r' || c == '\t' || c == ' ') return is_first ? "" : " ";
  // GitHub looks for mentions and issues after it has taken escapes away.
  if (c == '@') return "@" + std::string(kZeroWidthSpace);
  if (c == '#') return "\\#" + std::string(kZeroWidthSpace);
  if (c == '&' || c == '<' || c == '>' || c == '"') return std::string(xml_reference(c));
  const bool is_number = before.find_first_not_of("0123456789") == std::string_view::npos;
  const bool starts_list = (is_first && (c == '-' || c == '+' || c == '=')) ||
                           (!is_first && is_number && (c == '.' || c == ')'));
  const bool starts_link = (c == '.' && ends_in_www(before)) ||
                           (c == '/' && (before.ends_with(':') || before.ends_with(":\\/")));
  if (kMeaning.find(c) != std::string_view::npos || starts_list || starts_link)
    return std::string("\\") + c;
  return std::string(character);
}

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string out;
  each_character(text, [&](std::string_view character) { out += character; });
  return out;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  each_character(text, [&](std::string_view character) {
    const std::string_view reference = xml_reference(character[0]);
    out += reference.empty() ? character : reference;
  });
  return out;
}

std::string markdown_escaped(std::string_view text, std::size_t max_characters) {
  std::string out;
  std::size_t n = 0;
  each_character(text, [&](std::string_view character) {
    if (++n <= max_characters) out += markdown_character(character, out);
  });
  return n > max_characters ? out + "..." : out;
}

}  // namespace specbench::results
