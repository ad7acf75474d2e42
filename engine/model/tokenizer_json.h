// tokenizer.json, checked and taken apart. What cannot be reproduced token for token is refused by
// name.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/model/bpe.h"
#include "engine/model/pretokenizer.h"
#include "engine/types.h"

namespace specbench::engine {

/// Text that is a token of its own wherever it stands.
struct AddedToken {
  std::string content;  ///< valid UTF-8, not empty
  TokenId id = 0;
  bool is_normalized = false;  ///< looked for only after those that are not
};

struct TokenizerSpec {
  /// Bytes by id; empty for an id without a token, and never otherwise.
  std::vector<std::string> token_bytes;
  std::array<TokenId, 256> byte_tokens{};
  std::vector<Merge> merges;  ///< by rank
  std::unordered_map<std::string, TokenId>
      whole_pieces;  ///< bytes to token; filled with ignore_merges only
  std::vector<AddedToken> added;
  std::vector<SplitRule> split_rules;
  bool add_prefix_space = false;  ///< a space goes before text that does not begin with one
};

/// Throws InputError naming `file`, field and value. The post-processor is ignored: BOS comes from
/// config.json.
TokenizerSpec parse_tokenizer(std::string_view json, const std::string& file);

}  // namespace specbench::engine
