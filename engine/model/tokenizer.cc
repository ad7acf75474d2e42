#include "engine/model/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/error.h"
#include "engine/model/bpe.h"
#include "engine/model/input_file.h"
#include "engine/model/pretokenizer.h"
#include "engine/model/tokenizer_json.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxTokenizerBytes = 256 << 20;

/// Finds added tokens in a text: the leftmost, of those the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  AddedTokenFinder(const std::vector<AddedToken>& tokens, bool is_normalized) {
    for (const AddedToken& token : tokens) {
      if (token.is_normalized != is_normalized) continue;
      by_first_byte_[static_cast<unsigned char>(token.content.front())].push_back(token);
    }
    for (auto& bucket : by_first_byte_) {
      std::sort(bucket.begin(), bucket.end(), [](const AddedToken& a, const AddedToken& b) {
        return a.content.size() > b.content.size();
      });
    }
  }

  /// The token and where it begins; null where there is none.
  const AddedToken* find(std::string_view text, std::size_t& begin) const {
    for (begin = 0; begin < text.size(); ++begin) {
      for (const AddedToken& token : by_first_byte_[static_cast<unsigned char>(text[begin])]) {
        if (text.substr(begin).starts_with(token.content)) return &token;
      }
    }
    return nullptr;
  }

 private:
  std::array<std::vector<AddedToken>, 256> by_first_byte_;
};

}  // namespace

struct Tokenizer::Impl {
  std::vector<std::string> token_bytes;  ///< by id; empty: no token
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  bool add_prefix_space = false;
  std::array<AddedTokenFinder, 2> finders;  ///< as written, then normalized

  /// Text between added tokens of the earlier finders.
  void encode_segment(std::string_view text, std::size_t finder, std::vector<TokenId>& ids) const {
    if (finder == finders.size()) {
      encode_plain(text, ids);
      return;
    }
    std::size_t begin = 0;
    while (const AddedToken* token = finders[finder].find(text, begin)) {
      encode_segment(text.substr(0, begin), finder + 1, ids);
      ids.push_back(token->id);
      text.remove_prefix(begin + token->content.size());
    }
    encode_segment(text, finder + 1, ids);
  }

  void encode_plain(std::string_view text, std::vector<TokenId>& ids) const {
    if (text.empty()) return;
    if (add_prefix_space && text.front() != ' ') {
      encode_runs(" " + std::string(text), ids);
    } else {
      encode_runs(text, ids);
    }
  }

  /// PCRE2 takes valid UTF-8 only. A byte outside it is a piece of its own.
  void encode_runs(std::string_view text, std::vector<TokenId>& ids) const {
    while (!text.empty()) {
      const std::size_t valid = valid_prefix(text);
      for (const std::string_view piece : pre_tokenizer.split(text.substr(0, valid))) {
        bpe.encode(piece, ids);
      }
      text.remove_prefix(valid);
      if (text.empty()) return;
      bpe.encode(text.substr(0, 1), ids);
      text.remove_prefix(1);
    }
  }
};

Tokenizer::Tokenizer() = default;
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Tokenizer Tokenizer::from_json_file(const std::filesystem::path& file) {
  TokenizerSpec spec = parse_tokenizer(read_text(file, kMaxTokenizerBytes), file.string());
  Tokenizer tokenizer;
  tokenizer.impl_ = std::make_unique<Impl>();
  Impl& impl = *tokenizer.impl_;
  impl.token_bytes = std::move(spec.token_bytes);
  impl.bpe = Bpe(spec.byte_tokens, spec.merges, std::move(spec.whole_pieces));
  impl.pre_tokenizer = PreTokenizer(spec.split_rules, file.string());
  impl.add_prefix_space = spec.add_prefix_space;
  impl.finders = {AddedTokenFinder(spec.added, false), AddedTokenFinder(spec.added, true)};
  return tokenizer;
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  if (impl_) impl_->encode_segment(text, 0, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    if (!impl_)
      throw InputError("token id " + std::to_string(id) +
                       " cannot be decoded; the tokenizer has no tokens.");
    if (id < 0 || id >= size()) {
      throw InputError("token id " + std::to_string(id) +
                       " cannot be decoded; the tokenizer's ids run from 0 to " +
                       std::to_string(size() - 1) + ".");
    }
    text += impl_->token_bytes[static_cast<std::size_t>(id)];
  }
  return text;
}

int Tokenizer::size() const { return impl_ ? static_cast<int>(impl_->token_bytes.size()) : 0; }

}  // namespace specbench::engine
