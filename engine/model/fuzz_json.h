// For fuzz programs that read JSON, each including this once: libFuzzer's mutations know bytes, so
// half of those made here exchange a number or a string for another. Without it faults hide that
// need one number just so, such as an id one past the last.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/test_files.h"

// libFuzzer's own mutations. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace specbench::engine::testing {

struct JsonTokens {
  std::vector<std::string_view> numbers;
  std::vector<std::string_view> strings;  ///< with their quotes
};

/// The tokens of a text that need not be JSON.
inline JsonTokens json_tokens(std::string_view text) {
  JsonTokens tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at++;
    if (text[begin] == '"') {
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      if (at++ < text.size()) tokens.strings.push_back(text.substr(begin, at - begin));
    } else if (text[begin] == '-' || std::isdigit(static_cast<unsigned char>(text[begin])) != 0) {
      at = std::min(text.find_first_not_of("0123456789.eE+-", at), text.size());
      tokens.numbers.push_back(text.substr(begin, at - begin));
    }
  }
  return tokens;
}

/// A number for the place of `old`: near it, small, at an edge, or one of the others.
inline std::string other_number(std::string_view old, const JsonTokens& tokens,
                                TestRandom& random) {
  constexpr const char* kEdges[] = {"0",
                                    "-1",
                                    "65536",
                                    "4194303",
                                    "4294967296",
                                    "9223372036854775807",
                                    "1e300",
                                    "0.5",
                                    "18446744073709551615",
                                    "4611686018427387904"};
  const long long value = std::strtoll(std::string(old).c_str(), nullptr, 10) % (1LL << 40);
  switch (random.below(5)) {
    case 0:
      return std::to_string(value + 1);
    case 1:
      return std::to_string(value - 1);
    case 2:
      return std::to_string(random.below(20));
    case 3:
      return kEdges[random.below(std::size(kEdges))];
    default:
      return std::string(tokens.numbers[random.below(tokens.numbers.size())]);
  }
}

/// `text` with one number or string exchanged; unchanged where it has none.
inline std::string bend_json(std::string_view text, TestRandom& random) {
  const JsonTokens tokens = json_tokens(text);
  const bool takes_number =
      tokens.strings.empty() || (!tokens.numbers.empty() && random.below(2) == 0);
  const auto& kind = takes_number ? tokens.numbers : tokens.strings;
  if (kind.empty()) return std::string(text);
  const std::string_view old = kind[random.below(kind.size())];
  const std::string other = takes_number ? other_number(old, tokens, random)
                                         : std::string(kind[random.below(kind.size())]);
  const auto at = static_cast<std::size_t>(old.data() - text.data());
  return std::string(text).replace(at, old.size(), other);
}

}  // namespace specbench::engine::testing

// libFuzzer's name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace specbench::engine::testing;
  TestRandom random(seed);
  if (random.below(2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string bent = bend_json({reinterpret_cast<const char*>(data), size}, random);
  if (bent.size() > max_size || bent == std::string_view(reinterpret_cast<const char*>(data), size))
    return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bent.data(), bent.size());
  return bent.size();
}
