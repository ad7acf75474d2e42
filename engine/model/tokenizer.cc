#include "engine/model/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/tokenizer_gguf.h"
#include "engine/model/tokenizer_json.h"
#include "engine/model/tokenizer_spec.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxTokenizerBytes = 256 << 20;
constexpr std::size_t kMaxAddedBytes = 1024;  ///< of one token: looking for it takes time with that

using Model = std::variant<Bpe, SentencePieceBpe, Unigram>;

Model make_model(TokenizerSpec& spec) {
  switch (spec.model) {
    case TokenModel::kScores:
      return SentencePieceBpe(std::move(spec.pieces), spec.first.of_byte);
    case TokenModel::kUnigram:
      return Unigram(std::move(spec.unigram));
    case TokenModel::kMerges:
      break;
  }
  return Bpe(std::move(spec.first), spec.merges, std::move(spec.whole_pieces));
}

/// The added tokens that are normalized or those that are not, as they stand in the text that they
/// are looked for in.
AddedTokenFinder make_finder(const TokenizerSpec& spec, bool is_normalized,
                             const std::string& file) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : spec.added) {
    if (token.is_normalized != is_normalized) continue;
    if (is_normalized) token.content = normalize(token.content, spec.normalizer);
    if (token.content.empty()) {
      throw InputError(file + ": added token " + std::to_string(token.id) +
                       " is nothing once the normalizer has changed it, which is not supported.");
    }
    if (token.content.size() > kMaxAddedBytes) {
      throw InputError(file + ": added token " + std::to_string(token.id) + " is looked for as " +
                       std::to_string(token.content.size()) + " bytes; at most " +
                       std::to_string(kMaxAddedBytes) + " are supported.");
    }
    tokens.push_back(std::move(token));
  }
  return AddedTokenFinder(tokens);
}

/// Calls `use` with the parts of `text` that each begin with a mark behind another character or,
/// with `at_every_mark`, behind anything.
template <typename Use>
void cut_before_marks(std::string_view text, std::string_view mark, bool at_every_mark, Use use) {
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string_view::npos;
       at += mark.size()) {
    if (at == begin || (!at_every_mark && text.substr(0, at).ends_with(mark))) continue;
    use(text.substr(begin, at - begin));
    begin = at;
  }
  if (begin < text.size()) use(text.substr(begin));
}

}  // namespace

struct Tokenizer::Impl {
  Model model;
  PreTokenizer pre_tokenizer;
  std::array<AddedTokenFinder, 2> finders;  ///< as written, then normalized
  TokenizerSpec spec;                       ///< what is left of it: steps and bytes

  void encode(std::string_view text, std::vector<TokenId>& ids) const {
    bool is_first = true;
    for (const TextPart& written : finders[0].split(text)) {
      if (written.token != nullptr) {
        ids.push_back(written.token->id);
      } else {
        encode_normalized(normalize(written.text, spec.normalizer), is_first, ids);
      }
      is_first = false;
    }
  }

  void encode_normalized(std::string_view text, bool is_first, std::vector<TokenId>& ids) const {
    for (const TextPart& part : finders[1].split(text)) {
      if (part.token != nullptr) {
        ids.push_back(part.token->id);
      } else {
        encode_plain(part.text, is_first, ids);
      }
      is_first = false;
    }
  }

  /// Text without added tokens, not empty.
  void encode_plain(std::string_view text, bool is_first, std::vector<TokenId>& ids) const {
    if (spec.metaspace) {
      encode_marked(text, is_first, ids);
    } else if (spec.add_prefix_space && text.front() != ' ') {
      encode_runs(" " + std::string(text), ids);
    } else {
      encode_runs(text, ids);
    }
  }

  void encode_marked(std::string_view text, bool is_first, std::vector<TokenId>& ids) const {
    const Metaspace& metaspace = *spec.metaspace;
    std::string marked = replace_all(text, " ", metaspace.mark);
    const bool may_prepend = metaspace.prepend == Metaspace::Prepend::kAlways ||
                             (metaspace.prepend == Metaspace::Prepend::kFirst && is_first);
    if (may_prepend && !marked.starts_with(metaspace.mark)) marked.insert(0, metaspace.mark);
    if (!metaspace.splits) {
      encode_runs(marked, ids);
    } else {
      cut_before_marks(marked, metaspace.mark, true,
                       [&](std::string_view piece) { encode_runs(piece, ids); });
    }
  }

  /// PCRE2 takes valid UTF-8 only. A byte outside it is a piece of its own.
  void encode_runs(std::string_view text, std::vector<TokenId>& ids) const {
    while (!text.empty()) {
      const std::size_t valid = valid_prefix(text);
      for (const std::string_view piece : pre_tokenizer.split(text.substr(0, valid))) {
        encode_piece(piece, ids);
      }
      text.remove_prefix(valid);
      if (text.empty()) return;
      encode_piece(text.substr(0, 1), ids);
      text.remove_prefix(1);
    }
  }

  void encode_piece(std::string_view piece, std::vector<TokenId>& ids) const {
    const auto encode_part = [&](std::string_view part) {
      std::visit([&](const auto& chosen) { chosen.encode(part, ids); }, model);
    };
    if (spec.cuts_before_marks) {
      cut_before_marks(piece, kSpaceMark, false, encode_part);
    } else {
      encode_part(piece);
    }
  }
};

Tokenizer::Tokenizer() = default;
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Tokenizer Tokenizer::from_spec(TokenizerSpec spec, const std::string& file) {
  Tokenizer tokenizer;
  tokenizer.impl_ = std::make_unique<Impl>();
  Impl& impl = *tokenizer.impl_;
  impl.model = make_model(spec);
  impl.pre_tokenizer = PreTokenizer(spec.split_rules, file);
  impl.finders = {make_finder(spec, false, file), make_finder(spec, true, file)};
  spec.merges = {};
  impl.spec = std::move(spec);
  return tokenizer;
}

Tokenizer Tokenizer::from_json_file(const std::filesystem::path& file) {
  return from_json(read_text(file, kMaxTokenizerBytes), file.string());
}

Tokenizer Tokenizer::from_json(std::string_view json, const std::string& file) {
  return from_spec(parse_tokenizer(json, file), file);
}

Tokenizer Tokenizer::from_gguf(const GgufVocabulary& vocabulary, const std::string& file) {
  return from_spec(read_gguf_vocabulary(vocabulary, file), file);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  if (impl_) impl_->encode(text, ids);
  return ids;
}

const std::string& Tokenizer::bytes_of(TokenId id) const {
  if (id < 0 || id >= size()) {
    throw InputError("token id " + std::to_string(id) + " cannot be decoded; the tokenizer" +
                     (size() == 0 ? " has no tokens."
                                  : "'s ids run from 0 to " + std::to_string(size() - 1) + "."));
  }
  return impl_->spec.token_bytes[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  bool is_front = true;
  for (const TokenId id : ids) {
    const std::string& bytes = bytes_of(id);
    const auto& front = impl_->spec.front_bytes;
    text += is_front && !front.empty() ? front[static_cast<std::size_t>(id)] : bytes;
    is_front = is_front && bytes.empty();  // an id without a token is not there
  }
  if (!impl_) return text;
  const std::string& stripped = impl_->spec.stripped;
  std::size_t begin = 0;
  for (int n = 0; n < impl_->spec.n_stripped; ++n) {
    if (!std::string_view(text).substr(begin).starts_with(stripped)) break;
    begin += stripped.size();
  }
  return text.erase(0, begin);
}

int Tokenizer::size() const { return impl_ ? static_cast<int>(impl_->spec.token_bytes.size()) : 0; }

}  // namespace specbench::engine
