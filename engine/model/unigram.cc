#include "engine/model/unigram.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/model/byte_alphabet.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr double kUnknownPenalty = 10.0;

}  // namespace

Unigram::Unigram(UnigramPieces pieces) : pieces_(std::move(pieces)) {
  double worst = std::numeric_limits<double>::infinity();
  for (std::size_t id = 0; id < pieces_.scored.size(); ++id) {
    const auto& [text, score] = pieces_.scored[id];
    worst = std::min(worst, score);
    ids_.emplace(text, static_cast<TokenId>(id));
  }
  unknown_score_ = worst - kUnknownPenalty;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto found = ids_.find(byte_token(static_cast<std::uint8_t>(byte)));
    byte_tokens_[byte] = found == ids_.end() ? -1 : found->second;
  }
  build_tree();
}

void Unigram::build_tree() {
  std::vector<std::size_t> order(pieces_.scored.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto text_of = [&](std::size_t at) -> const std::string& {
    return pieces_.scored[order[at]].first;
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return pieces_.scored[a].first < pieces_.scored[b].first;
  });
  // One range of the sorted pieces a node: those that begin with the bytes that lead to it.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };
  std::vector<Range> ranges = {{0, order.size(), 0}};
  tree_ = {Node{}};
  for (std::size_t at = 0; at < tree_.size(); ++at) {
    auto [begin, end, depth] = ranges[at];
    if (begin < end && text_of(begin).size() == depth) {
      tree_[at].id = static_cast<TokenId>(order[begin++]);
    }
    tree_[at].first_child = static_cast<std::uint32_t>(tree_.size());
    while (begin < end) {
      const char byte = text_of(begin)[depth];
      std::size_t next = begin;
      while (next < end && text_of(next)[depth] == byte) ++next;
      Node node;
      node.byte = static_cast<unsigned char>(byte);
      tree_.push_back(node);
      ranges.push_back({begin, next, depth + 1});
      ++tree_[at].n_children;
      begin = next;
    }
  }
}

const Unigram::Node* Unigram::child(const Node& node, unsigned char byte) const {
  const Node* begin = tree_.data() + node.first_child;
  const Node* end = begin + node.n_children;
  const Node* found = std::lower_bound(
      begin, end, byte, [](const Node& n, unsigned char wanted) { return n.byte < wanted; });
  return found != end && found->byte == byte ? found : nullptr;
}

std::vector<Unigram::Step> Unigram::best_steps(std::string_view text) const {
  std::vector<Step> steps(text.size() + 1);
  const auto offer = [&](std::size_t begin, std::size_t end, double score, TokenId id) {
    const double total = score + steps[begin].score;
    // Of two equal ways the one found first stays.
    if (steps[end].id < 0 || total > steps[end].score) steps[end] = {total, begin, id};
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t length = std::max<std::size_t>(character_length(text.substr(begin)), 1);
    bool is_known = false;
    const Node* node = tree_.data();
    for (std::size_t end = begin; end < text.size();) {
      node = child(*node, static_cast<unsigned char>(text[end]));
      if (node == nullptr) break;
      ++end;
      if (node->id < 0) continue;
      offer(begin, end, pieces_.scored[static_cast<std::size_t>(node->id)].second, node->id);
      is_known = is_known || end == begin + length;
    }
    if (!is_known) offer(begin, begin + length, unknown_score_, pieces_.unknown);
    begin += length;
  }
  return steps;
}

void Unigram::encode(std::string_view text, std::vector<TokenId>& ids) const {
  const std::vector<Step> steps = best_steps(text);
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = 0;
  };
  std::vector<Part> parts;  // from the right
  for (std::size_t end = text.size(); end > 0;) {
    const Step& step = steps[end];
    const bool joins = !parts.empty() && parts.back().id == step.id && step.id == pieces_.unknown;
    if (joins) {
      parts.back().begin = step.begin;
    } else {
      parts.push_back({step.begin, end, step.id});
    }
    end = step.begin;
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->id != pieces_.unknown) {
      ids.push_back(part->id);
    } else {
      append_unknown(text.substr(part->begin, part->end - part->begin), ids);
    }
  }
}

void Unigram::append_unknown(std::string_view text, std::vector<TokenId>& ids) const {
  // What is unknown character by character may be a piece as a whole: Hugging Face looks it up.
  const auto known = ids_.find(std::string(text));
  const auto of_byte = [this](char c) { return byte_tokens_[static_cast<unsigned char>(c)]; };
  if (known != ids_.end()) {
    ids.push_back(known->second);
  } else if (pieces_.has_byte_fallback &&
             std::all_of(text.begin(), text.end(), [&](char c) { return of_byte(c) >= 0; })) {
    for (const char c : text) ids.push_back(of_byte(c));
  } else {
    ids.push_back(pieces_.unknown);
  }
}

}  // namespace specbench::engine
