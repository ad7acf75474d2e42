#include "engine/model/bpe.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>

#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr TokenId kConsumed = -1;

/// A token of the piece, in a list threaded through a vector.
struct Symbol {
  TokenId id = 0;
  std::size_t previous = kNone;
  std::size_t next = kNone;
};

struct Candidate {
  std::uint32_t rank = 0;
  std::size_t at = 0;  ///< left symbol
  TokenId merged = 0;

  /// Orders a max-heap so that the lowest rank, then the leftmost, comes out first.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

std::uint64_t pair_key(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
         static_cast<std::uint32_t>(right);
}

std::vector<Symbol> chain(const std::vector<TokenId>& ids) {
  std::vector<Symbol> symbols(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    symbols[i] = {ids[i], i == 0 ? kNone : i - 1, i + 1 == ids.size() ? kNone : i + 1};
  }
  return symbols;
}

/// Puts `merged` in place of the symbol at `at` and its right neighbour.
void merge_right(std::vector<Symbol>& symbols, std::size_t at, TokenId merged) {
  const std::size_t right = symbols[at].next;
  symbols[at].id = merged;
  symbols[at].next = symbols[right].next;
  symbols[right].id = kConsumed;
  if (symbols[at].next != kNone) symbols[symbols[at].next].previous = at;
}

}  // namespace

Bpe::Bpe(FirstTokens first, const std::vector<Merge>& merges,
         std::unordered_map<std::string, TokenId> whole_pieces)
    : first_(std::move(first)), whole_pieces_(std::move(whole_pieces)) {
  merges_.reserve(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    merges_[pair_key(merges[rank].left, merges[rank].right)] = {static_cast<std::uint32_t>(rank),
                                                                merges[rank].merged};
  }
}

const Bpe::RankedMerge* Bpe::find_merge(TokenId left, TokenId right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

std::vector<TokenId> Bpe::first_tokens(std::string_view piece) const {
  std::vector<TokenId> ids;
  ids.reserve(piece.size());
  const auto of_byte = [this](char c) { return first_.of_byte[static_cast<unsigned char>(c)]; };
  bool is_after_unknown = false;
  while (!piece.empty()) {
    // A byte that is not UTF-8 stands for itself and has no character's token.
    const std::size_t length = first_.is_byte_level ? 0 : character_length(piece);
    const auto known =
        length == 0 ? first_.of_character.end() : first_.of_character.find(first_code_point(piece));
    const std::string_view character = piece.substr(0, std::max<std::size_t>(length, 1));
    bool is_unknown = false;
    if (known != first_.of_character.end()) {
      ids.push_back(known->second);
    } else if (of_byte(character.front()) != kNoToken) {
      for (const char c : character) ids.push_back(of_byte(c));
    } else {
      is_unknown = true;
      const bool is_fused = is_after_unknown && first_.fuses_unknown;
      if (first_.unknown != kNoToken && !is_fused) ids.push_back(first_.unknown);
    }
    is_after_unknown = is_unknown;
    piece.remove_prefix(character.size());
  }
  return ids;
}

void Bpe::encode(std::string_view piece, std::vector<TokenId>& ids) const {
  if (!whole_pieces_.empty()) {
    const auto whole = whole_pieces_.find(std::string(piece));
    if (whole != whole_pieces_.end()) {
      ids.push_back(whole->second);
      return;
    }
  }
  std::vector<Symbol> symbols = chain(first_tokens(piece));
  std::priority_queue<Candidate> candidates;
  const auto consider = [&](std::size_t at) {
    if (at == kNone || symbols[at].next == kNone) return;
    const RankedMerge* merge = find_merge(symbols[at].id, symbols[symbols[at].next].id);
    if (merge != nullptr) candidates.push({merge->rank, at, merge->merged});
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    // An earlier merge may have changed either symbol; then the candidate no longer describes the
    // pair that is here.
    if (symbols[best.at].id == kConsumed || symbols[best.at].next == kNone) continue;
    const RankedMerge* merge = find_merge(symbols[best.at].id, symbols[symbols[best.at].next].id);
    if (merge == nullptr || merge->rank != best.rank) continue;
    merge_right(symbols, best.at, best.merged);
    consider(symbols[best.at].previous);
    consider(best.at);
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.id != kConsumed) ids.push_back(symbol.id);
  }
}

}  // namespace specbench::engine
