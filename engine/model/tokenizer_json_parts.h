// The parts of tokenizer.json, read one by one into a specification; for tokenizer_json.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/model/json.h"
#include "engine/model/tokenizer_decoder.h"
#include "engine/model/tokenizer_spec.h"

namespace specbench::engine {

inline constexpr std::int64_t kMaxTokenId = (1 << 22) - 1;

/// The largest id that a file of so many tokens may use: published ones leave out few ids, and each
/// id takes memory.
inline std::int64_t highest_id(std::size_t n_tokens) {
  constexpr std::size_t kSpare = 65535;
  return std::min(kMaxTokenId, static_cast<std::int64_t>(2 * n_tokens + kSpare));
}

/// The tokens of a file; the texts live in the JSON tree.
struct Vocabulary {
  std::unordered_map<std::string_view, TokenId> ids;
  std::vector<std::string_view> texts;  ///< by id; empty for an id without a token

  bool has(TokenId id) const {
    return static_cast<std::size_t>(id) < texts.size() &&
           !texts[static_cast<std::size_t>(id)].empty();
  }
  /// The id must be free and the text new.
  void place(std::string_view text, TokenId id);
};

/// Optional field: true or false.
bool flag(const JsonView& object, std::string_view key, bool if_absent);

/// Each throws InputError as parse_tokenizer does.
void read_normalizer(const JsonView& top, TokenizerSpec& spec);
/// True where the pieces are written in the byte alphabet.
bool read_pre_tokenizer(const JsonView& top, TokenizerSpec& spec);
DecoderSpec read_decoder(const JsonView& top, bool is_byte_level, TokenizerSpec& spec);
/// Puts its tokens into `vocabulary`.
void read_model(const JsonView& model, bool is_byte_level, TokenizerSpec& spec,
                Vocabulary& vocabulary);

}  // namespace specbench::engine
