// A unigram model: of all ways to put a text together from pieces, the one whose scores add up
// highest (Kudo 2018), found from left to right as Hugging Face's tokenizers finds it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/types.h"

namespace specbench::engine {

struct UnigramPieces {
  std::vector<std::pair<std::string, double>> scored;  ///< by id; texts not empty, each once;
                                                       ///< scores finite
  TokenId unknown = 0;                                 ///< an id of the above
  bool has_byte_fallback = false;  ///< unknown text becomes the tokens of its bytes, "<0x00>" and
                                   ///< so on, where all of them are pieces
};

class Unigram {
 public:
  Unigram() = default;
  explicit Unigram(UnigramPieces pieces);

  /// Appends the tokens of `text`, any bytes, to `ids`. Characters that are no piece score 10 below
  /// the worst piece; side by side they are one unknown text. Time n times the longest piece.
  void encode(std::string_view text, std::vector<TokenId>& ids) const;

 private:
  /// The pieces as a tree, byte by byte. Children of a node lie side by side, by their bytes.
  struct Node {
    std::uint32_t first_child = 0;
    std::uint16_t n_children = 0;
    unsigned char byte = 0;  ///< leads here
    TokenId id = -1;         ///< of the piece that ends here; -1: none
  };
  /// How the best way to a place of the text ends.
  struct Step {
    double score = 0;
    std::size_t begin = 0;
    TokenId id = -1;  ///< -1: the place was not reached
  };

  void build_tree();
  const Node* child(const Node& node, unsigned char byte) const;
  std::vector<Step> best_steps(std::string_view text) const;
  void append_unknown(std::string_view text, std::vector<TokenId>& ids) const;

  UnigramPieces pieces_;
  double unknown_score_ = 0;
  std::vector<Node> tree_;
  std::unordered_map<std::string, TokenId> ids_;
  std::array<TokenId, 256> byte_tokens_{};  ///< -1: none
};

}  // namespace specbench::engine
