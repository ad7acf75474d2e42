#include "engine/stop_texts.h"

#include <algorithm>

#include "engine/model/tokenizer.h"

namespace specbench::engine {

std::string text_of(std::span<const TokenId> tokens, const Tokenizer& tokenizer) {
  std::string text;
  for (const TokenId& id : tokens)
    if (id < tokenizer.size()) text += tokenizer.bytes_of(id);
  return text;
}

bool completes_stop(std::span<const TokenId> tokens, std::span<const std::string> stops,
                    const Tokenizer& tokenizer) {
  if (stops.empty() || tokens.empty()) return false;
  std::size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  // Only as much text as a string that ends in the last token can reach back to.
  const std::string last = text_of(tokens.last(1), tokenizer);
  std::string text = last;
  for (std::size_t i = tokens.size() - 1; i > 0 && text.size() < last.size() + longest; --i)
    text.insert(0, text_of(tokens.subspan(i - 1, 1), tokenizer));
  return first_stop(text, stops, text.size() - last.size()) < text.size();
}

std::size_t first_stop(const std::string& text, std::span<const std::string> stops,
                       std::size_t n_past) {
  std::size_t at = text.size();
  for (const std::string& stop : stops) {
    if (stop.empty()) continue;
    const std::size_t from = n_past >= stop.size() ? n_past - stop.size() + 1 : 0;
    at = std::min(at, text.find(stop, from));
  }
  return at;
}

}  // namespace specbench::engine
