// Byte-pair encoding of one piece of text: the tokens of its bytes or characters, then the merge of
// lowest rank (leftmost first) until none applies.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

inline constexpr TokenId kNoToken = -1;

struct Merge {
  TokenId left = 0;
  TokenId right = 0;
  TokenId merged = 0;
};

/// What merging begins with: at byte level the bytes' own tokens; otherwise a character's own token
/// or, where it has none, those of its bytes. What has neither is the unknown token or, without
/// one, left out.
struct FirstTokens {
  bool is_byte_level = true;
  std::array<TokenId, 256> of_byte{};  ///< kNoToken: none; not at byte level all or none have one
  std::unordered_map<char32_t, TokenId> of_character;  ///< not at byte level
  TokenId unknown = kNoToken;
  bool fuses_unknown = false;  ///< unknown ones side by side are one unknown token
};

class Bpe {
 public:
  Bpe() = default;

  /// `merges` in order of rank, best first; a repeated pair takes its last rank. `whole_pieces`: a
  /// piece found here (by its bytes) is that token, merges notwithstanding; may be empty.
  Bpe(FirstTokens first, const std::vector<Merge>& merges,
      std::unordered_map<std::string, TokenId> whole_pieces);

  /// Appends the tokens of `piece`, any bytes, to `ids`. Time n log n.
  void encode(std::string_view piece, std::vector<TokenId>& ids) const;

 private:
  struct RankedMerge {
    std::uint32_t rank = 0;
    TokenId merged = 0;
  };

  std::vector<TokenId> first_tokens(std::string_view piece) const;
  const RankedMerge* find_merge(TokenId left, TokenId right) const;

  FirstTokens first_;
  std::unordered_map<std::uint64_t, RankedMerge>
      merges_;  ///< key: left in the high half, right in the low
  std::unordered_map<std::string, TokenId> whole_pieces_;
};

}  // namespace specbench::engine
