#include "engine/stop_texts.h"

#include <algorithm>

#include "engine/model/tokenizer.h"

namespace specbench::engine {

bool completes_stop(std::span<const TokenId> tokens, std::span<const std::string> stops,
                    const Tokenizer& tokenizer) {
  if (stops.empty() || tokens.empty()) return false;
  std::size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  // Only as much text as a string that ends in the last token can reach back to.
  const std::string last = tokenizer.decode(tokens.last(1));
  std::string text = last;
  for (std::size_t i = tokens.size() - 1; i > 0 && text.size() < last.size() + longest; --i)
    text.insert(0, tokenizer.decode(tokens.subspan(i - 1, 1)));
  const std::size_t n_old = text.size() - last.size();
  return std::any_of(stops.begin(), stops.end(), [&](const std::string& stop) {
    const std::size_t from = n_old >= stop.size() ? n_old - stop.size() + 1 : 0;
    return text.find(stop, from) != std::string::npos;
  });
}

std::size_t first_stop(const std::string& text, std::span<const std::string> stops) {
  std::size_t at = text.size();
  for (const std::string& stop : stops) at = std::min(at, text.find(stop));
  return at;
}

}  // namespace specbench::engine
