#include "engine/model/tokenizer_added.h"

#include <algorithm>

#include "engine/model/utf8.h"

namespace specbench::engine {

AddedTokenFinder::AddedTokenFinder(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& token : tokens) {
    by_first_byte_[static_cast<unsigned char>(token.content.front())].push_back(token);
  }
  for (auto& bucket : by_first_byte_) {
    std::stable_sort(bucket.begin(), bucket.end(), [](const AddedToken& a, const AddedToken& b) {
      return a.content.size() > b.content.size();
    });
  }
}

const AddedToken* AddedTokenFinder::find(std::string_view text, std::size_t& begin) const {
  for (; begin < text.size(); ++begin) {
    for (const AddedToken& token : by_first_byte_[static_cast<unsigned char>(text[begin])]) {
      if (text.substr(begin).starts_with(token.content)) return &token;
    }
  }
  return nullptr;
}

std::vector<TextPart> AddedTokenFinder::split(std::string_view text) const {
  std::vector<TextPart> parts;
  std::size_t done = 0;  // end of the last part
  std::size_t from = 0;  // where the next token may begin
  while (const AddedToken* token = find(text, from)) {
    std::size_t begin = from;
    std::size_t end = from += token->content.size();
    if (token->strips_left) begin -= trailing_white_space(text.substr(0, begin));
    if (token->strips_right) end += leading_white_space(text.substr(end));
    if (done < begin) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({{}, token});
    // A token of white space that the one before took along sets this back, as in Hugging Face's.
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
  return parts;
}

}  // namespace specbench::engine
