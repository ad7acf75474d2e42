#include "engine/model/tokenizer_json.h"

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/error.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/input_file.h"
#include "engine/model/json.h"

namespace specbench::engine {

namespace {

constexpr std::int64_t kMaxTokenId = (1 << 22) - 1;

using Vocabulary = std::unordered_map<std::string_view, TokenId>;  // keys live in the JSON tree

bool flag(const JsonView& object, std::string_view key, bool if_absent) {
  const auto field = object.find(key);
  return field ? field->as_bool() : if_absent;
}

void place_token(TokenizerSpec& spec, TokenId id, std::string bytes) {
  const auto at = static_cast<std::size_t>(id);
  if (spec.token_bytes.size() <= at) spec.token_bytes.resize(at + 1);
  spec.token_bytes[at] = std::move(bytes);
}

Vocabulary read_vocabulary(const JsonView& vocab, bool keep_whole_pieces, TokenizerSpec& spec) {
  Vocabulary ids;
  const auto& members = vocab.as_object();
  ids.reserve(members.size());
  for (const JsonMember& member : members) {
    const JsonView entry = vocab.child(member);
    const auto id = static_cast<TokenId>(entry.as_integer_in(0, kMaxTokenId));
    if (member.key.empty()) entry.fail("a token of no characters is not supported");
    const auto at = static_cast<std::size_t>(id);
    if (at < spec.token_bytes.size() && !spec.token_bytes[at].empty()) {
      entry.fail("another token has the same id; ids must differ");
    }
    // A token with characters outside the alphabet never comes out of merges; it stands for its own
    // text.
    std::optional<std::string> bytes = bytes_of_symbols(member.key);
    if (bytes && keep_whole_pieces) spec.whole_pieces.emplace(*bytes, id);
    place_token(spec, id, bytes ? std::move(*bytes) : member.key);
    ids.emplace(member.key, id);
  }
  return ids;
}

void read_byte_tokens(const Vocabulary& ids, const std::string& file, TokenizerSpec& spec) {
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::string symbol = byte_symbol(static_cast<std::uint8_t>(byte));
    const auto found = ids.find(symbol);
    if (found == ids.end()) {
      throw InputError(
          file + ": model.vocab lacks " + quote(symbol) + ", the token of byte " +
          std::to_string(byte) +
          "; a byte-level tokenizer needs all 256, or some text could not be encoded.");
    }
    spec.byte_tokens[byte] = found->second;
  }
}

TokenId find_part(const Vocabulary& ids, const JsonView& merge, std::string_view part) {
  const auto found = ids.find(part);
  if (found == ids.end()) {
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

void read_merges(const JsonView& merges, const Vocabulary& ids, TokenizerSpec& spec) {
  const std::size_t count = merges.as_array().size();
  spec.merges.reserve(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const JsonView entry = merges.item(rank);
    const auto [left, right] = merge_parts(entry);
    Merge merge;
    merge.left = find_part(ids, entry, left);
    merge.right = find_part(ids, entry, right);
    merge.merged = find_part(ids, entry, std::string(left) + std::string(right));
    spec.merges.push_back(merge);
  }
}

void refuse_text(const JsonView& model, const char* key) {
  const auto field = model.find(key);
  if (field && !field->as_string().empty()) field->fail("only null is supported");
}

Vocabulary read_model(const JsonView& model, TokenizerSpec& spec) {
  if (const auto type = model.find("type"); type && type->as_string() != "BPE") {
    type->fail("only 'BPE' (byte-level) is supported");
  }
  refuse_text(model, "continuing_subword_prefix");
  refuse_text(model, "end_of_word_suffix");
  refuse_text(model, "unk_token");
  if (const auto dropout = model.find("dropout"); dropout && dropout->as_number() != 0.0) {
    dropout->fail("only null is supported, since dropout makes encoding random");
  }
  if (flag(model, "byte_fallback", false)) {
    model.at("byte_fallback").fail("only false (a byte-level vocabulary) is supported");
  }
  const bool ignore_merges = flag(model, "ignore_merges", false);
  Vocabulary ids = read_vocabulary(model.at("vocab"), ignore_merges, spec);
  read_byte_tokens(ids, model.file(), spec);
  read_merges(model.at("merges"), ids, spec);
  return ids;
}

void add_byte_level(const JsonView& step, bool is_first, TokenizerSpec& spec) {
  if (flag(step, "add_prefix_space", true)) {
    if (!is_first) step.fail("add_prefix_space after another step is not supported");
    spec.add_prefix_space = true;
  }
  if (flag(step, "use_regex", true)) spec.split_rules.push_back({kGpt2Pattern, false});
}

void add_split(const JsonView& step, TokenizerSpec& spec) {
  const JsonView behavior = step.at("behavior");
  const bool is_inverted = flag(step, "invert", false);
  // Removed with invert keeps the matches and drops what lies between. Converted tiktoken patterns,
  // for which it is used, leave nothing between; here it would be kept.
  if (behavior.as_string() != "Isolated" && !(behavior.as_string() == "Removed" && is_inverted)) {
    behavior.fail("only 'Isolated', or 'Removed' with invert, is supported");
  }
  const JsonView pattern = step.at("pattern");
  if (const auto regex = pattern.find("Regex")) {
    spec.split_rules.push_back({regex->as_string(), false});
  } else {
    spec.split_rules.push_back({pattern.at("String").as_string(), true});
  }
}

void add_step(const JsonView& step, bool is_first, bool is_last, TokenizerSpec& spec) {
  const JsonView type = step.at("type");
  const std::string& name = type.as_string();
  if (is_last != (name == "ByteLevel")) {
    type.fail("the last step, and no other, must be 'ByteLevel'");
  }
  if (name == "ByteLevel") {
    add_byte_level(step, is_first, spec);
  } else if (name == "Split") {
    add_split(step, spec);
  } else if (name == "Digits") {
    const bool one_by_one = flag(step, "individual_digits", false);
    spec.split_rules.push_back({one_by_one ? "\\p{N}" : "\\p{N}+", false});
  } else {
    type.fail("only 'Split', 'Digits' and 'ByteLevel' are supported");
  }
}

void read_pre_tokenizer(const JsonView& pre_tokenizer, TokenizerSpec& spec) {
  if (pre_tokenizer.at("type").as_string() != "Sequence") {
    add_step(pre_tokenizer, true, true, spec);
    return;
  }
  const JsonView steps = pre_tokenizer.at("pretokenizers");
  const std::size_t count = steps.as_array().size();
  if (count == 0) steps.fail("expected at least one step, the last 'ByteLevel'");
  for (std::size_t i = 0; i < count; ++i) {
    add_step(steps.item(i), i == 0, i + 1 == count, spec);
  }
}

/// An added token may also stand in the vocabulary, then under the same id; otherwise its id must
/// be free.
void check_added_id(const JsonView& id, const AddedToken& token, const Vocabulary& ids,
                    const TokenizerSpec& spec) {
  const auto known = ids.find(token.content);
  if (known != ids.end()) {
    if (known->second == token.id) return;
    id.fail("but model.vocab gives " + quote(token.content) + " the id " +
            std::to_string(known->second));
  }
  const auto at = static_cast<std::size_t>(token.id);
  if (at < spec.token_bytes.size() && !spec.token_bytes[at].empty()) {
    id.fail("that id already belongs to " + quote(spec.token_bytes[at]) + "; ids must differ");
  }
}

void read_added_token(const JsonView& entry, const Vocabulary& ids, TokenizerSpec& spec,
                      std::unordered_set<std::string>& contents) {
  AddedToken token;
  const JsonView id = entry.at("id");
  token.id = static_cast<TokenId>(id.as_integer_in(0, kMaxTokenId));
  const JsonView content = entry.at("content");
  token.content = content.as_string();
  token.is_normalized = flag(entry, "normalized", !flag(entry, "special", false));
  for (const char* key : {"single_word", "lstrip", "rstrip"}) {
    if (flag(entry, key, false)) entry.at(key).fail("only false is supported");
  }
  if (token.content.empty()) content.fail("expected at least one character");
  if (!contents.insert(token.content).second) content.fail("another added token has the same text");
  check_added_id(id, token, ids, spec);
  place_token(spec, token.id, token.content);
  spec.added.push_back(std::move(token));
}

void check_normalizer(const JsonView& top) {
  const auto normalizer = top.find("normalizer");
  if (!normalizer) return;
  const auto type = normalizer->find("type");
  (type ? *type : *normalizer)
      .fail("only null is supported, since a normalizer changes the text before it is encoded");
}

}  // namespace

TokenizerSpec parse_tokenizer(std::string_view json, const std::string& file) {
  const JsonValue root = parse_json(json, file);
  const JsonView top(file, root);
  TokenizerSpec spec;
  check_normalizer(top);
  const Vocabulary ids = read_model(top.at("model"), spec);
  read_pre_tokenizer(top.at("pre_tokenizer"), spec);
  if (const auto added = top.find("added_tokens")) {
    std::unordered_set<std::string> contents;
    for (std::size_t i = 0; i < added->as_array().size(); ++i) {
      read_added_token(added->item(i), ids, spec, contents);
    }
  }
  return spec;
}

}  // namespace specbench::engine
