// BPE as sentencepiece does it, over the characters of a text with spaces marked: of all neighbours
// whose texts together are a piece, those join whose piece has the best score, the leftmost first,
// until none are left (https://github.com/google/sentencepiece, bpe_model.cc).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

/// What sentencepiece writes for a space: U+2581.
inline const char* const kSpaceMark = "\xe2\x96\x81";

/// No mark stands behind another character in `token`.
bool has_marks_in_front_only(std::string_view token);

struct ScoredPiece {
  std::string text;  ///< not empty, each once
  float score = 0;   ///< finite
  TokenId id = 0;
  bool is_unused = false;  ///< joins, but is taken apart again where it is left at the end
};

class SentencePieceBpe {
 public:
  SentencePieceBpe() = default;
  SentencePieceBpe(SentencePieceBpe&&) = default;  // a copy would look into the other's pieces
  SentencePieceBpe& operator=(SentencePieceBpe&&) = default;

  /// `byte_tokens`: what a character that is no piece falls apart into.
  SentencePieceBpe(std::vector<ScoredPiece> pieces, const std::array<TokenId, 256>& byte_tokens);

  /// Appends the tokens of `text`, any bytes, to `ids`. Time n log n, times the longest piece.
  void encode(std::string_view text, std::vector<TokenId>& ids) const;

 private:
  class Merging;  ///< of one text

  /// Halves of an unused piece, as they last stood side by side.
  using Halves =
      std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>>;

  const ScoredPiece* find(std::string_view text) const;
  void append(std::string_view symbol, const Halves& halves, std::vector<TokenId>& ids) const;

  std::vector<ScoredPiece> pieces_;
  std::unordered_map<std::string_view, std::size_t> by_text_;  ///< views of pieces_
  std::array<TokenId, 256> byte_tokens_{};
};

}  // namespace specbench::engine
