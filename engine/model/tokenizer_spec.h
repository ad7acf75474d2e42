// What a tokenizer is made of, whatever file it came from: the steps of encoding in their order,
// and the bytes of every token. tokenizer_json.h and tokenizer_gguf.h fill it in, tokenizer.h runs
// it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/model/bpe.h"
#include "engine/model/pretokenizer.h"
#include "engine/model/sentencepiece.h"
#include "engine/model/tokenizer_added.h"
#include "engine/model/tokenizer_normalizer.h"
#include "engine/model/unigram.h"
#include "engine/types.h"

namespace specbench::engine {

/// Spaces become a mark; the mark may go in front of a text and begin every piece.
struct Metaspace {
  enum class Prepend { kNever, kFirst, kAlways };
  std::string mark = kSpaceMark;
  Prepend prepend = Prepend::kAlways;  ///< where no mark is in front; kFirst: at the text's start
  bool splits = true;
};

/// Which of the models below turns a piece into tokens.
enum class TokenModel { kMerges, kScores, kUnigram };

struct TokenizerSpec {
  // 1. Added tokens that are not normalized, 2. the normalizer, 3. the other added tokens.
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  // 4. Pieces: a prefix or marks for spaces, then cuts.
  bool add_prefix_space = false;  ///< a space goes before text that does not begin with one
  std::optional<Metaspace> metaspace;
  std::vector<SplitRule> split_rules;
  /// No token reaches over the front of a run of marks, so a piece may be cut there: the same
  /// tokens, found sooner.
  bool cuts_before_marks = false;
  // 5. Tokens of a piece.
  TokenModel model = TokenModel::kMerges;
  FirstTokens first;          ///< kMerges
  std::vector<Merge> merges;  ///< kMerges: by rank
  std::unordered_map<std::string, TokenId>
      whole_pieces;                 ///< kMerges: piece to token; filled with ignore_merges only
  std::vector<ScoredPiece> pieces;  ///< kScores
  UnigramPieces unigram;            ///< kUnigram

  /// Bytes by id, within a text; empty for an id without a token.
  std::vector<std::string> token_bytes;
  /// Bytes by id of a text's first token; empty: as token_bytes.
  std::vector<std::string> front_bytes;
  std::string stripped;  ///< a decoded text loses this in front, at most n_stripped times
  int n_stripped = 0;
};

}  // namespace specbench::engine
