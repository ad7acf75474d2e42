// What the text of a token stands for in a decoded text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specbench::engine {

struct DecoderSpec {
  bool is_byte_level = false;  ///< in the byte alphabet; a token with other characters is its text
  bool has_byte_fallback = false;                                 ///< a byte token is its byte
  std::vector<std::pair<std::string, std::string>> replacements;  ///< in turn, each everywhere
  std::string front_mark;  ///< dropped from a text's first token, not replaced; empty: none is
};

/// Bytes of a token within a text.
std::string decoded(std::string_view token, const DecoderSpec& decoder);

/// Bytes of a token that begins a text.
std::string decoded_in_front(std::string_view token, const DecoderSpec& decoder);

}  // namespace specbench::engine
