// Changes that a tokenizer makes to a text before it cuts it. The normal form comes from utf8proc
// (2.8 knows Unicode 15). Hugging Face's knows Unicode 9: of what came later 108 marks are put in
// order here and not there, and U+11938 is composed; on every other code point the two were found
// to agree. Bytes that are not UTF-8 pass unchanged.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace specbench::engine {

struct NormalizerStep {
  enum class Kind { kNfc, kPrepend, kReplace };
  Kind kind = Kind::kNfc;
  std::string pattern;  ///< kReplace: plain text, not empty
  std::string content;  ///< kReplace, kPrepend; what is empty gets nothing in front
};

/// `text` after every step in turn.
std::string normalize(std::string_view text, std::span<const NormalizerStep> steps);

/// Unicode normalization form C (Unicode Standard Annex 15). Time n log n.
std::string nfc(std::string_view text);

}  // namespace specbench::engine
