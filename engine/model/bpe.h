// Byte-pair encoding of one piece of text: the bytes' own tokens, then the merge of lowest rank
// (leftmost first) until none applies.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

struct Merge {
  TokenId left = 0;
  TokenId right = 0;
  TokenId merged = 0;
};

class Bpe {
 public:
  Bpe() = default;

  /// `byte_tokens`: the token of each byte. `merges` in order of rank, best first; a repeated pair
  /// takes its last rank. `whole_pieces`: a piece found here (by its bytes) is that token, merges
  /// notwithstanding; may be empty.
  Bpe(const std::array<TokenId, 256>& byte_tokens, const std::vector<Merge>& merges,
      std::unordered_map<std::string, TokenId> whole_pieces);

  /// Appends the tokens of `piece`, any bytes, to `ids`. Time n log n.
  void encode(std::string_view piece, std::vector<TokenId>& ids) const;

 private:
  struct RankedMerge {
    std::uint32_t rank = 0;
    TokenId merged = 0;
  };

  const RankedMerge* find_merge(TokenId left, TokenId right) const;

  std::array<TokenId, 256> byte_tokens_{};
  std::unordered_map<std::uint64_t, RankedMerge>
      merges_;  ///< key: left in the high half, right in the low
  std::unordered_map<std::string, TokenId> whole_pieces_;
};

}  // namespace specbench::engine
