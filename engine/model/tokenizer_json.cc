#include "engine/model/tokenizer_json.h"

#include <unordered_set>
#include <utility>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/tokenizer_json_parts.h"

namespace specbench::engine {

void Vocabulary::place(std::string_view text, TokenId id) {
  const auto at = static_cast<std::size_t>(id);
  if (texts.size() <= at) texts.resize(at + 1);
  texts[at] = text;
  ids.emplace(text, id);
}

bool flag(const JsonView& object, std::string_view key, bool if_absent) {
  const auto field = object.find(key);
  return field ? field->as_bool() : if_absent;
}

namespace {

/// An added token may also stand in the vocabulary, then under the same id; otherwise its id must
/// be free.
void check_added_id(const JsonView& id, const AddedToken& token, const Vocabulary& vocabulary) {
  const auto known = vocabulary.ids.find(token.content);
  if (known != vocabulary.ids.end()) {
    if (known->second == token.id) return;
    id.fail("but model.vocab gives " + quote(token.content) + " the id " +
            std::to_string(known->second));
  }
  if (vocabulary.has(token.id)) {
    id.fail("that id already belongs to " +
            quote(vocabulary.texts[static_cast<std::size_t>(token.id)]) + "; ids must differ");
  }
}

AddedToken read_added_token(const JsonView& entry, std::int64_t highest,
                            const Vocabulary& vocabulary,
                            std::unordered_set<std::string>& contents) {
  AddedToken token;
  const JsonView id = entry.at("id");
  token.id = static_cast<TokenId>(id.as_integer_in(0, highest));
  const JsonView content = entry.at("content");
  token.content = content.as_string();
  token.is_normalized = flag(entry, "normalized", !flag(entry, "special", false));
  token.strips_left = flag(entry, "lstrip", false);
  token.strips_right = flag(entry, "rstrip", false);
  if (flag(entry, "single_word", false)) entry.at("single_word").fail("only false is supported");
  if (token.content.empty()) content.fail("expected at least one character");
  if (!contents.insert(token.content).second) content.fail("another added token has the same text");
  check_added_id(id, token, vocabulary);
  return token;
}

void read_added_tokens(const JsonView& added, Vocabulary& vocabulary, TokenizerSpec& spec) {
  std::unordered_set<std::string> contents;
  std::vector<AddedToken> plain;  // of two with one normal form a special one counts
  const std::size_t n_added = added.as_array().size();
  const std::int64_t highest = highest_id(vocabulary.texts.size() + n_added);
  for (std::size_t i = 0; i < n_added; ++i) {
    const JsonView entry = added.item(i);
    AddedToken token = read_added_token(entry, highest, vocabulary, contents);
    vocabulary.place(entry.at("content").as_string(), token.id);
    (flag(entry, "special", false) ? spec.added : plain).push_back(std::move(token));
  }
  spec.added.insert(spec.added.end(), plain.begin(), plain.end());
}

/// What every token decodes to.
void fill_bytes(const Vocabulary& vocabulary, const DecoderSpec& decoder, TokenizerSpec& spec) {
  for (const std::string_view text : vocabulary.texts) {
    spec.token_bytes.push_back(decoded(text, decoder));
    if (!decoder.front_mark.empty()) spec.front_bytes.push_back(decoded_in_front(text, decoder));
  }
  for (const AddedToken& token : spec.added) {
    // The text that it was found as. At byte level that is no text of the alphabet.
    const std::string text =
        token.is_normalized ? normalize(token.content, spec.normalizer) : token.content;
    const auto at = static_cast<std::size_t>(token.id);
    spec.token_bytes[at] = decoder.is_byte_level ? text : decoded(text, decoder);
    if (!decoder.front_mark.empty()) spec.front_bytes[at] = decoded_in_front(text, decoder);
  }
}

}  // namespace

TokenizerSpec parse_tokenizer(std::string_view json, const std::string& file) {
  const JsonValue root = parse_json(json, file);
  const JsonView top(file, root);
  TokenizerSpec spec;
  Vocabulary vocabulary;
  read_normalizer(top, spec);
  const bool is_byte_level = read_pre_tokenizer(top, spec);
  const DecoderSpec decoder = read_decoder(top, is_byte_level, spec);
  read_model(top.at("model"), is_byte_level, spec, vocabulary);
  if (const auto added = top.find("added_tokens")) read_added_tokens(*added, vocabulary, spec);
  fill_bytes(vocabulary, decoder, spec);
  return spec;
}

}  // namespace specbench::engine
