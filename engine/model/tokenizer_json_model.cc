#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "engine/error.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/input_file.h"
#include "engine/model/tokenizer_json_parts.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::size_t kMaxUnigramBytes = 16 << 20;  ///< the tree of pieces takes 40 times as much

void read_vocabulary(const JsonView& vocab, Vocabulary& vocabulary) {
  const auto& members = vocab.as_object();
  vocabulary.ids.reserve(members.size());
  const std::int64_t highest = highest_id(members.size());
  for (const JsonMember& member : members) {
    const JsonView entry = vocab.child(member);
    const auto id = static_cast<TokenId>(entry.as_integer_in(0, highest));
    if (member.key.empty()) entry.fail("a token of no characters is not supported");
    if (vocabulary.has(id)) entry.fail("another token has the same id; ids must differ");
    vocabulary.place(member.key, id);
  }
}

/// The token of each byte as `spelled`. Returns the first byte that has none, 256 where all have.
std::size_t read_byte_tokens(const Vocabulary& vocabulary, std::string (*spelled)(std::uint8_t),
                             TokenizerSpec& spec) {
  std::size_t first_missing = 256;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto found = vocabulary.ids.find(spelled(static_cast<std::uint8_t>(byte)));
    const bool is_missing = found == vocabulary.ids.end();
    spec.first.of_byte[byte] = is_missing ? kNoToken : found->second;
    if (is_missing) first_missing = std::min(first_missing, byte);
  }
  return first_missing;
}

TokenId find_part(const Vocabulary& vocabulary, const JsonView& merge, std::string_view part) {
  const auto found = vocabulary.ids.find(part);
  if (found == vocabulary.ids.end()) {
    throw InputError(merge.file() + ": " + merge.path() + " needs token " + quote(part) +
                     ", which model.vocab lacks; the file is damaged.");
  }
  return found->second;
}

/// Both spellings: "left right" and ["left", "right"].
std::pair<std::string_view, std::string_view> merge_parts(const JsonView& merge) {
  if (std::holds_alternative<std::string>(merge.value().data)) {
    const std::string_view text = merge.as_string();
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      merge.fail("expected two tokens with one space between");
    }
    return {text.substr(0, space), text.substr(space + 1)};
  }
  if (merge.as_array().size() != 2) merge.fail("expected two tokens");
  return {merge.item(0).as_string(), merge.item(1).as_string()};
}

void read_merges(const JsonView& merges, const Vocabulary& vocabulary, TokenizerSpec& spec) {
  const std::size_t count = merges.as_array().size();
  spec.merges.reserve(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const JsonView entry = merges.item(rank);
    const auto [left, right] = merge_parts(entry);
    const std::string joined = std::string(left) + std::string(right);
    Merge merge;
    merge.left = find_part(vocabulary, entry, left);
    merge.right = find_part(vocabulary, entry, right);
    merge.merged = find_part(vocabulary, entry, joined);
    spec.merges.push_back(merge);
    spec.cuts_before_marks = spec.cuts_before_marks && has_marks_in_front_only(joined);
  }
}

void read_whole_pieces(const Vocabulary& vocabulary, bool is_byte_level, TokenizerSpec& spec) {
  for (const auto& [text, id] : vocabulary.ids) {
    // A token with characters outside the alphabet never is a piece.
    auto piece = is_byte_level ? bytes_of_symbols(text) : std::string(text);
    if (piece) spec.whole_pieces.emplace(*std::move(piece), id);
  }
  // A piece that is cut is no longer a token as a whole.
  spec.cuts_before_marks = false;
}

void refuse_text(const JsonView& model, const char* key) {
  const auto field = model.find(key);
  if (field && !field->as_string().empty()) field->fail("only null is supported");
}

void read_unknown(const JsonView& unknown, const JsonView& model, const Vocabulary& vocabulary,
                  TokenizerSpec& spec) {
  const auto found = vocabulary.ids.find(unknown.as_string());
  if (found == vocabulary.ids.end()) unknown.fail("but model.vocab has no such token");
  spec.first.unknown = found->second;
  spec.first.fuses_unknown = flag(model, "fuse_unk", false);
}

void read_bytes(const JsonView& model, const Vocabulary& vocabulary, TokenizerSpec& spec) {
  if (read_byte_tokens(vocabulary, byte_symbol, spec) == 256) return;
  // Published vocabularies lack bytes that their training text lacked.
  if (flag(model, "byte_fallback", false)) {
    model.at("byte_fallback").fail("only false is supported where model.vocab lacks some bytes");
  }
  if (const auto unknown = model.find("unk_token")) read_unknown(*unknown, model, vocabulary, spec);
}

void read_characters(const JsonView& model, const Vocabulary& vocabulary, TokenizerSpec& spec) {
  for (const auto& [text, id] : vocabulary.ids) {
    if (character_length(text) == text.size()) {
      spec.first.of_character.emplace(first_code_point(text), id);
    }
  }
  spec.cuts_before_marks = spec.first.of_character.contains(first_code_point(kSpaceMark));
  if (!flag(model, "byte_fallback", false)) {
    spec.first.of_byte.fill(kNoToken);
    read_unknown(model.at("unk_token"), model, vocabulary, spec);
    return;
  }
  const std::size_t missing = read_byte_tokens(vocabulary, byte_token, spec);
  if (missing != 256) {
    throw InputError(model.file() + ": model.vocab lacks " +
                     quote(byte_token(static_cast<std::uint8_t>(missing))) +
                     "; byte_fallback is supported with the tokens of all 256 bytes only.");
  }
}

void read_bpe(const JsonView& model, bool is_byte_level, TokenizerSpec& spec,
              Vocabulary& vocabulary) {
  refuse_text(model, "continuing_subword_prefix");
  refuse_text(model, "end_of_word_suffix");
  if (const auto dropout = model.find("dropout"); dropout && dropout->as_number() != 0.0) {
    dropout->fail("only null is supported, since dropout makes encoding random");
  }
  read_vocabulary(model.at("vocab"), vocabulary);
  spec.model = TokenModel::kMerges;
  spec.first.is_byte_level = is_byte_level;
  if (is_byte_level) {
    read_bytes(model, vocabulary, spec);
  } else {
    read_characters(model, vocabulary, spec);
  }
  read_merges(model.at("merges"), vocabulary, spec);
  if (flag(model, "ignore_merges", false)) read_whole_pieces(vocabulary, is_byte_level, spec);
}

/// A score as Hugging Face's reader (Rust's serde_json) has it: all digits as one integer, then
/// times or by a power of ten, each rounded, so that it may be off by the last bit. Where two ways
/// to cut a text are equally good, that decides. `value` stands for its shortest spelling, as files
/// hold it.
double as_read_by_serde(double value) {
  std::array<char, 32> spelled{};
  const auto written = std::to_chars(spelled.data(), spelled.data() + spelled.size(),
                                     std::abs(value), std::chars_format::scientific);
  std::uint64_t digits = 0;
  int power = 0;
  bool is_behind_point = false;
  const char* at = spelled.data();
  for (; at != written.ptr && *at != 'e'; ++at) {
    if (*at == '.') {
      is_behind_point = true;
    } else {
      digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
      power -= is_behind_point ? 1 : 0;
    }
  }
  int exponent = 0;
  std::from_chars(at + (at[1] == '+' ? 2 : 1), written.ptr, exponent);
  power += exponent;
  auto result = static_cast<double>(digits);
  for (; power < -308; power += 308) result /= 1e308;
  double scale = 1;
  const std::string text = "1e" + std::to_string(std::abs(power));
  std::from_chars(text.data(), text.data() + text.size(), scale);
  result = power < 0 ? result / scale : result * scale;
  return std::signbit(value) ? -result : result;
}

std::pair<std::string, double> read_scored(const JsonView& entry) {
  if (entry.as_array().size() != 2) entry.fail("expected a token and its score");
  const double score = entry.item(1).as_number();
  if (!std::isfinite(score)) entry.item(1).fail("expected a finite score");
  return {entry.item(0).as_string(), as_read_by_serde(score)};
}

void read_unigram(const JsonView& model, TokenizerSpec& spec, Vocabulary& vocabulary) {
  for (const char* key : {"alpha", "nbest_size"}) {
    if (const auto field = model.find(key)) {
      field->fail("only null is supported, since it makes encoding random");
    }
  }
  spec.model = TokenModel::kUnigram;
  const JsonView vocab = model.at("vocab");
  const std::size_t count = vocab.as_array().size();
  if (count == 0 || count > static_cast<std::size_t>(kMaxTokenId)) {
    vocab.fail("its " + std::to_string(count) + " tokens are none or too many");
  }
  std::size_t n_bytes = 0;
  for (std::size_t id = 0; id < count; ++id) {
    const JsonView entry = vocab.item(id);
    spec.unigram.scored.push_back(read_scored(entry));
    const std::string& text = entry.item(0).as_string();
    if (text.empty()) entry.item(0).fail("a token of no characters is not supported");
    if (vocabulary.ids.contains(text)) entry.item(0).fail("another token has the same text");
    vocabulary.place(text, static_cast<TokenId>(id));
    n_bytes += text.size();
  }
  if (n_bytes > kMaxUnigramBytes) {
    vocab.fail("its tokens are " + std::to_string(n_bytes) + " bytes long; at most " +
               std::to_string(kMaxUnigramBytes) + " are supported");
  }
  const JsonView unknown = model.at("unk_id");
  spec.unigram.unknown =
      static_cast<TokenId>(unknown.as_integer_in(0, static_cast<std::int64_t>(count) - 1));
  spec.unigram.has_byte_fallback = flag(model, "byte_fallback", false);
}

}  // namespace

void read_model(const JsonView& model, bool is_byte_level, TokenizerSpec& spec,
                Vocabulary& vocabulary) {
  const auto type = model.find("type");
  const std::string name = type ? type->as_string() : "BPE";
  if (name == "BPE") {
    read_bpe(model, is_byte_level, spec, vocabulary);
  } else if (name == "Unigram" && !is_byte_level) {
    read_unigram(model, spec, vocabulary);
  } else if (name == "Unigram") {
    type->fail("with the pre_tokenizer 'ByteLevel' only 'BPE' is supported");
  } else {
    type->fail("only 'BPE' and 'Unigram' are supported");
  }
}

}  // namespace specbench::engine
