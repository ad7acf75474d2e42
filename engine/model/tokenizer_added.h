// Tokens that are found in a text as they are spelled, before it is cut or merged.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

struct AddedToken {
  std::string content;  ///< not empty
  TokenId id = 0;
  bool is_normalized = false;  ///< looked for in the normalized text, after those that are not
  bool strips_left = false;    ///< takes white space on its left along
  bool strips_right = false;   ///< and on its right
};

/// A part of a text: an added token, or text between two.
struct TextPart {
  std::string_view text;  ///< of a token empty
  const AddedToken* token = nullptr;
};

class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  /// Of two with one text the first counts.
  explicit AddedTokenFinder(const std::vector<AddedToken>& tokens);

  /// The parts of `text` in order: of tokens the leftmost, of those the longest. They live as long
  /// as the text and the finder. Time n times the longest token's length, times log of how many
  /// there are.
  std::vector<TextPart> split(std::string_view text) const;

 private:
  class WhiteSpace;  ///< around the places of one text

  /// The first token at or after `begin`, which moves there; null where there is none.
  const AddedToken* find(std::string_view text, std::size_t& begin) const;
  const AddedToken* longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;  ///< by their bytes
  /// Those whose first byte is b lie from first_[b] up to first_[b + 1].
  std::array<std::size_t, 257> first_{};
};

}  // namespace specbench::engine
