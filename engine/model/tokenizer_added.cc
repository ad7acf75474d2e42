#include "engine/model/tokenizer_added.h"

#include <algorithm>

#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

auto byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

/// Every place of a text is asked for in order; no character is looked at twice for either answer,
/// or a text of nothing but tokens that are white space would take the square of its length.
class AddedTokenFinder::WhiteSpace {
 public:
  explicit WhiteSpace(std::string_view text) : text_(text) {}

  /// Where the white space that ends at `at` begins.
  std::size_t begin_before(std::size_t at) {
    while (n_seen_ < at) {
      const std::string_view rest = text_.substr(n_seen_, at - n_seen_);
      const std::size_t white = leading_white_space(rest);
      n_seen_ += white;
      if (white == rest.size()) break;
      n_seen_ += std::max<std::size_t>(character_length(rest.substr(white)), 1);
      begin_ = n_seen_;
    }
    return begin_;
  }

  /// Where the white space that begins at `at` ends.
  std::size_t end_behind(std::size_t at) {
    if (at >= end_) end_ = at + leading_white_space(text_.substr(at));
    return end_;
  }

 private:
  std::string_view text_;
  std::size_t n_seen_ = 0;  ///< all of them before the last place asked for
  std::size_t begin_ = 0;   ///< of the white space that ends at n_seen_
  std::size_t end_ = 0;     ///< of the last run asked for
};

AddedTokenFinder::AddedTokenFinder(const std::vector<AddedToken>& tokens) : tokens_(tokens) {
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  const auto last =
      std::unique(tokens_.begin(), tokens_.end(),
                  [](const AddedToken& a, const AddedToken& b) { return a.content == b.content; });
  tokens_.erase(last, tokens_.end());
  for (const AddedToken& token : tokens_) ++first_[byte_at(token.content, 0) + std::size_t{1}];
  for (std::size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

/// `text` begins where the token does.
const AddedToken* AddedTokenFinder::longest_at(std::string_view text) const {
  const AddedToken* longest = nullptr;
  // Those that agree with the text so far: they lie side by side, the one that ends here in front.
  auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(first_[byte_at(text, 0)]);
  auto end =
      tokens_.begin() + static_cast<std::ptrdiff_t>(first_[byte_at(text, 0) + std::size_t{1}]);
  for (std::size_t length = 1; begin != end; ++length) {
    if (begin->content.size() == length) longest = &*begin++;
    if (length == text.size()) break;
    const auto next = byte_at(text, length);
    begin = std::partition_point(
        begin, end, [&](const AddedToken& token) { return byte_at(token.content, length) < next; });
    end = std::partition_point(begin, end, [&](const AddedToken& token) {
      return byte_at(token.content, length) == next;
    });
  }
  return longest;
}

const AddedToken* AddedTokenFinder::find(std::string_view text, std::size_t& begin) const {
  for (; begin < text.size(); ++begin) {
    if (const AddedToken* token = longest_at(text.substr(begin))) return token;
  }
  return nullptr;
}

std::vector<TextPart> AddedTokenFinder::split(std::string_view text) const {
  std::vector<TextPart> parts;
  WhiteSpace white_space(text);
  std::size_t done = 0;  // end of the last part
  std::size_t from = 0;  // where the next token may begin
  while (const AddedToken* token = find(text, from)) {
    std::size_t begin = from;
    std::size_t end = from += token->content.size();
    if (token->strips_left) begin = white_space.begin_before(begin);
    if (token->strips_right) end = white_space.end_behind(end);
    if (done < begin) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({{}, token});
    // A token of white space that the one before took along sets this back, as in Hugging Face's.
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
  return parts;
}

}  // namespace specbench::engine
