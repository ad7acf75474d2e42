#include "engine/model/tokenizer_gguf.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/error.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/input_file.h"
#include "engine/model/tokenizer_decoder.h"
#include "engine/model/tokenizer_spec.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::size_t kMaxTokens = 1 << 22;
constexpr std::size_t kMaxTokenBytes = 4096;  ///< joining pieces takes time with the longest

enum TokenType : int { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

/// What a name of tokenizer.ggml.pre stands for: the published tokenizer.json of the models that
/// llama.cpp gives it to; of falcon3 and pixtral what llama.cpp takes it for.
struct NamedPattern {
  const char* name;
  std::vector<const char*> patterns;
  bool ignores_merges = false;
  bool is_nfc = false;
  bool adds_bos = false;  ///< where the file does not say
};

const std::vector<NamedPattern>& named_patterns() {
  static const char* const kLlama3 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
      R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
  static const char* const kQwen2 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
      R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
  static const char* const kTekken =
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
      R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
      R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  static const std::vector<NamedPattern> kPatterns = {
      {"gpt-2", {kGpt2Pattern}},
      // What llama.cpp does with a file whose own pattern nobody wrote down.
      {"default", {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {"smollm", {R"(\p{N})", kGpt2Pattern}},
      {"llama-bpe", {kLlama3}, true, false, true},
      {"llama3", {kLlama3}, true, false, true},
      {"llama-v3", {kLlama3}, true, false, true},
      {"falcon3", {kLlama3}, true, false, true},
      {"pixtral", {kLlama3}, true, false, true},
      {"qwen2", {kQwen2}, false, true, false},
      {"deepseek-r1-qwen", {kQwen2}, false, true, false},
      {"tekken", {kTekken}, true, false, true},
  };
  return kPatterns;
}

/// What converters write for an id that has no token.
bool is_padding(std::string_view text, std::size_t id) {
  return text == "[PAD" + std::to_string(id) + "]";
}

/// One vocabulary on its way into a specification.
class Reader {
 public:
  Reader(const GgufVocabulary& vocabulary, const std::string& file)
      : vocabulary_(vocabulary), file_(file) {}

  TokenizerSpec read() {
    check();
    index_tokens();
    if (vocabulary_.model == "gpt2") {
      read_byte_level();
    } else {
      read_sentencepiece();
    }
    read_added();
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw InputError(file_ + ": tokenizer.ggml." + key + " " + what + ".");
  }
  [[noreturn]] void fail_token(std::size_t id, const std::string& what) const {
    fail("tokens[" + std::to_string(id) + "]", "is " + quote(vocabulary_.tokens[id]) + "; " + what);
  }

  std::size_t size() const { return vocabulary_.tokens.size(); }

  /// Of the tokens at the end of the list; "[PAD7]" elsewhere is a token like others.
  bool is_filler(std::size_t id) const {
    return id >= n_tokens_ && is_padding(vocabulary_.tokens[id], id);
  }

  bool is_added(std::size_t id) const {
    const int type = vocabulary_.types[id];
    if (is_filler(id)) return false;
    return type == kUnknown || type == kControl || type == kUserDefined;
  }

  void check() const {
    if (vocabulary_.model != "gpt2" && vocabulary_.model != "llama") {
      fail("model", "is " + quote(vocabulary_.model) +
                        "; only 'gpt2' (byte-level BPE) and 'llama' (SentencePiece's BPE) are "
                        "supported, so use the model's Hugging Face directory");
    }
    if (size() == 0 || size() > kMaxTokens) {
      fail("tokens", "holds " + std::to_string(size()) + " tokens; expected 1 to " +
                         std::to_string(kMaxTokens));
    }
    if (vocabulary_.types.size() != size()) {
      fail("token_type", "holds " + std::to_string(vocabulary_.types.size()) + " types for " +
                             std::to_string(size()) + " tokens; expected one a token");
    }
    for (std::size_t id = 0; id < size(); ++id) {
      if (vocabulary_.types[id] < kNormal || vocabulary_.types[id] > kByte) {
        fail("token_type[" + std::to_string(id) + "]",
             "is " + std::to_string(vocabulary_.types[id]) + "; expected 1 to 6");
      }
    }
  }

  void index_tokens() {
    n_tokens_ = count_gguf_tokens(vocabulary_.tokens, vocabulary_.types);
    ids_.reserve(size());
    for (std::size_t id = 0; id < size(); ++id) {
      const std::string& text = vocabulary_.tokens[id];
      if (text.empty()) fail_token(id, "a token of no characters is not supported");
      if (text.size() > kMaxTokenBytes) {
        fail_token(id, "it is " + std::to_string(text.size()) + " bytes long, and at most " +
                           std::to_string(kMaxTokenBytes) + " are supported");
      }
      if (valid_prefix(text) != text.size()) fail_token(id, "that is not UTF-8");
      const auto [known, is_new] = ids_.emplace(text, static_cast<TokenId>(id));
      if (!is_new) fail_token(id, "token " + std::to_string(known->second) + " has the same text");
    }
  }

  /// Published byte-level vocabularies lack bytes that their training text lacked: those are left
  /// out of a text. Fallback needs them all.
  void read_byte_tokens(std::string (*spelled)(std::uint8_t), bool must_have_all) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::string text = spelled(static_cast<std::uint8_t>(byte));
      const auto found = ids_.find(text);
      spec_.first.of_byte[byte] = found == ids_.end() ? kNoToken : found->second;
      if (found == ids_.end() && must_have_all) {
        fail("tokens", "lacks " + quote(text) + ", the token of byte " + std::to_string(byte) +
                           "; all 256 are needed, or some text could not be encoded");
      }
    }
  }

  TokenId find_part(std::size_t rank, std::string_view part) const {
    const auto found = ids_.find(part);
    if (found == ids_.end()) {
      fail(
          "merges[" + std::to_string(rank) + "]",
          "is " + quote(vocabulary_.merges[rank]) + "; tokenizer.ggml.tokens lacks " + quote(part));
    }
    return found->second;
  }

  void read_merges() {
    for (std::size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
      const std::string_view text = vocabulary_.merges[rank];
      const std::size_t space = text.find(' ');
      if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
        fail("merges[" + std::to_string(rank) + "]",
             "is " + quote(text) + "; expected two tokens with one space between");
      }
      const std::string_view left = text.substr(0, space);
      const std::string_view right = text.substr(space + 1);
      spec_.merges.push_back({find_part(rank, left), find_part(rank, right),
                              find_part(rank, std::string(left) + std::string(right))});
    }
  }

  const NamedPattern& find_pattern() const {
    std::string names;
    for (const NamedPattern& named : named_patterns()) {
      if (vocabulary_.pre == named.name) return named;
      names += (names.empty() ? "'" : ", '") + std::string(named.name) + "'";
    }
    fail("pre", "is " + quote(vocabulary_.pre) + "; of the splitting patterns only " + names +
                    " are known");
  }

  void read_byte_level() {
    const NamedPattern& named = find_pattern();
    for (const char* pattern : named.patterns) spec_.split_rules.push_back({pattern, false});
    if (named.is_nfc) spec_.normalizer.push_back({NormalizerStep::Kind::kNfc, "", ""});
    spec_.model = TokenModel::kMerges;
    read_byte_tokens(byte_symbol, false);
    read_merges();
    DecoderSpec decoder;
    decoder.is_byte_level = true;
    for (std::size_t id = 0; id < size(); ++id) {
      const std::string& text = vocabulary_.tokens[id];
      spec_.token_bytes.push_back(is_added(id) ? text : decoded(text, decoder));
      const auto piece = bytes_of_symbols(text);
      if (named.ignores_merges && piece)
        spec_.whole_pieces.emplace(*piece, static_cast<TokenId>(id));
    }
  }

  float score(std::size_t id) const {
    const float value = vocabulary_.scores[id];
    if (!std::isfinite(value)) {
      fail("scores[" + std::to_string(id) + "]", "is not finite; expected a number");
    }
    return value;
  }

  void read_sentencepiece() {
    if (vocabulary_.scores.size() != size()) {
      fail("scores", "holds " + std::to_string(vocabulary_.scores.size()) + " scores for " +
                         std::to_string(size()) + " tokens; expected one a token");
    }
    spec_.model = TokenModel::kScores;
    read_byte_tokens(byte_token, true);
    if (vocabulary_.add_space_prefix) {
      spec_.normalizer.push_back({NormalizerStep::Kind::kPrepend, "", kSpaceMark});
      spec_.stripped = " ";
      spec_.n_stripped = 1;
    }
    spec_.normalizer.push_back({NormalizerStep::Kind::kReplace, " ", kSpaceMark});
    DecoderSpec decoder;
    decoder.replacements.emplace_back(kSpaceMark, " ");
    decoder.has_byte_fallback = true;
    spec_.cuts_before_marks = true;
    for (std::size_t id = 0; id < size(); ++id) add_piece(id, decoder);
    spec_.cuts_before_marks = spec_.cuts_before_marks && ids_.contains(kSpaceMark);
  }

  /// Pieces join into normal, unused and user-defined ones; never into one that a text cannot
  /// spell. An unused piece does not keep a text from being cut: how it came together, and so what
  /// it is taken apart into, depends on its own characters alone.
  void add_piece(std::size_t id, const DecoderSpec& decoder) {
    const std::string& text = vocabulary_.tokens[id];
    const int type = vocabulary_.types[id];
    spec_.token_bytes.push_back(decoded(text, decoder));
    if (is_filler(id) || (type != kNormal && type != kUnused && type != kUserDefined)) return;
    spec_.pieces.push_back({text, score(id), static_cast<TokenId>(id), type == kUnused});
    spec_.cuts_before_marks = spec_.cuts_before_marks && has_marks_in_front_only(text);
  }

  void read_added() {
    for (std::size_t id = 0; id < size(); ++id) {
      if (!is_added(id)) continue;
      AddedToken token;
      token.content = vocabulary_.tokens[id];
      token.id = static_cast<TokenId>(id);
      spec_.added.push_back(std::move(token));
    }
  }

  const GgufVocabulary& vocabulary_;
  const std::string& file_;
  std::size_t n_tokens_ = 0;  ///< of the list, without what fills it up
  std::unordered_map<std::string_view, TokenId> ids_;
  TokenizerSpec spec_;
};

}  // namespace

TokenizerSpec read_gguf_vocabulary(const GgufVocabulary& vocabulary, const std::string& file) {
  return Reader(vocabulary, file).read();
}

std::size_t count_gguf_tokens(const std::vector<std::string>& tokens,
                              const std::vector<std::int32_t>& types) {
  std::size_t n = tokens.size();
  const auto is_unused = [&](std::size_t id) { return id < types.size() && types[id] == kUnused; };
  while (n > 0 && (is_unused(n - 1) || is_padding(tokens[n - 1], n - 1))) --n;
  return n;
}

bool gguf_pattern_adds_bos(std::string_view pre) {
  const auto& all = named_patterns();
  return std::any_of(all.begin(), all.end(),
                     [&](const NamedPattern& one) { return one.adds_bos && pre == one.name; });
}

}  // namespace specbench::engine
