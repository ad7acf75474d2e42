#include "engine/model/tokenizer_decoder.h"

#include <optional>

#include "engine/model/byte_alphabet.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

std::string decoded(std::string_view token, const DecoderSpec& decoder) {
  if (decoder.is_byte_level) {
    return bytes_of_symbols(token).value_or(std::string(token));
  }
  std::string bytes(token);
  for (const auto& [what, by] : decoder.replacements) bytes = replace_all(bytes, what, by);
  if (decoder.has_byte_fallback) {
    if (const auto byte = byte_of_token(bytes)) return {static_cast<char>(*byte)};
  }
  return bytes;
}

std::string decoded_in_front(std::string_view token, const DecoderSpec& decoder) {
  if (decoder.front_mark.empty()) return decoded(token, decoder);
  return decoded(replace_all(token, decoder.front_mark, ""), decoder);
}

}  // namespace specbench::engine
