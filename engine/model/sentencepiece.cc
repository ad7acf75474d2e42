#include "engine/model/sentencepiece.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>

#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// A part of the text, in a list threaded through a vector; empty once it was joined to its left.
struct Symbol {
  std::string_view text;
  std::size_t previous = kNone;
  std::size_t next = kNone;
};

struct Candidate {
  float score = 0;
  std::size_t left = 0;
  std::size_t right = 0;
  std::size_t n_bytes = 0;  ///< of both

  /// Orders a max-heap so that the best score, then the leftmost, comes out first.
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

std::string_view joined(std::string_view left, std::string_view right) {
  return {left.data(), left.size() + right.size()};
}

std::vector<Symbol> characters(std::string_view text) {
  std::vector<Symbol> symbols;
  symbols.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(character_length(text), 1);
    const std::size_t at = symbols.size();
    symbols.push_back({text.substr(0, length), at == 0 ? kNone : at - 1, at + 1});
    text.remove_prefix(length);
  }
  if (!symbols.empty()) symbols.back().next = kNone;
  return symbols;
}

}  // namespace

bool has_marks_in_front_only(std::string_view token) {
  const std::string_view mark = kSpaceMark;
  while (token.starts_with(mark)) token.remove_prefix(mark.size());
  return token.find(mark) == std::string_view::npos;
}

class SentencePieceBpe::Merging {
 public:
  Merging(const SentencePieceBpe& model, std::string_view text)
      : model_(model), symbols_(characters(text)) {
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) consider(i, i + 1);
  }

  void run() {
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      Symbol& left = symbols_[best.left];
      Symbol& right = symbols_[best.right];
      // An earlier join may have taken or lengthened either.
      if (left.text.empty() || right.text.empty() ||
          left.text.size() + right.text.size() != best.n_bytes) {
        continue;
      }
      left.text = joined(left.text, right.text);
      left.next = right.next;
      if (right.next != kNone) symbols_[right.next].previous = best.left;
      right.text = {};
      consider(left.previous, best.left);
      consider(best.left, left.next);
    }
  }

  const std::vector<Symbol>& symbols() const { return symbols_; }
  const Halves& halves() const { return halves_; }

 private:
  void consider(std::size_t left, std::size_t right) {
    if (left == kNone || right == kNone) return;
    const std::string_view both = joined(symbols_[left].text, symbols_[right].text);
    const ScoredPiece* piece = model_.find(both);
    if (piece == nullptr) return;
    candidates_.push({piece->score, left, right, both.size()});
    if (piece->is_unused) halves_[both] = {symbols_[left].text, symbols_[right].text};
  }

  const SentencePieceBpe& model_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> candidates_;
  Halves halves_;
};

SentencePieceBpe::SentencePieceBpe(std::vector<ScoredPiece> pieces,
                                   const std::array<TokenId, 256>& byte_tokens)
    : pieces_(std::move(pieces)), byte_tokens_(byte_tokens) {
  by_text_.reserve(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) by_text_.emplace(pieces_[i].text, i);
}

const ScoredPiece* SentencePieceBpe::find(std::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? nullptr : &pieces_[found->second];
}

void SentencePieceBpe::encode(std::string_view text, std::vector<TokenId>& ids) const {
  Merging merging(*this, text);
  merging.run();
  for (const Symbol& symbol : merging.symbols()) {
    if (!symbol.text.empty()) append(symbol.text, merging.halves(), ids);
  }
}

void SentencePieceBpe::append(std::string_view symbol, const Halves& halves,
                              std::vector<TokenId>& ids) const {
  std::vector<std::string_view> waiting = {symbol};  // the leftmost on top
  while (!waiting.empty()) {
    const std::string_view text = waiting.back();
    waiting.pop_back();
    const ScoredPiece* piece = find(text);
    if (piece == nullptr) {
      for (const char c : text) ids.push_back(byte_tokens_[static_cast<unsigned char>(c)]);
      continue;
    }
    const auto parts = piece->is_unused ? halves.find(text) : halves.end();
    if (parts == halves.end()) {
      ids.push_back(piece->id);
    } else {
      waiting.push_back(parts->second.second);
      waiting.push_back(parts->second.first);
    }
  }
}

}  // namespace specbench::engine
