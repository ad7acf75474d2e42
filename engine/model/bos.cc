#include "engine/model/bos.h"

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/json.h"
#include "engine/model/mapped_file.h"

namespace specbench::engine {

namespace {

/// The id that a template's special_tokens gives to the name of a special token.
TokenId special_id(const JsonView& processor, const JsonView& name, int vocab_size) {
  const JsonView ids = processor.at("special_tokens").at(name.as_string()).at("ids");
  if (ids.as_array().size() != 1) ids.fail("expected one id");
  return static_cast<TokenId>(ids.item(0).as_integer_in(0, vocab_size - 1));
}

/// Adds what a TemplateProcessing puts before a single text.
void read_template(const JsonView& processor, int vocab_size, std::vector<TokenId>& before) {
  const JsonView single = processor.at("single");
  bool is_behind = false;
  for (std::size_t i = 0; i < single.as_array().size(); ++i) {
    const JsonView piece = single.item(i);
    const auto special = piece.find("SpecialToken");
    if (!special) {
      const JsonView text = piece.at("Sequence").at("id");
      if (text.as_string() != "A" || is_behind) text.fail("expected the text, 'A', once");
      is_behind = true;
      continue;
    }
    const JsonView name = special->at("id");
    if (is_behind) name.fail("a token behind the text is not supported");
    // Told here, not at the end: a hostile file may list millions.
    if (!before.empty()) name.fail("more than one token before the text is not supported");
    before.push_back(special_id(processor, name, vocab_size));
  }
  if (!is_behind) single.fail("expected the text, 'A', once");
}

void read_processor(const JsonView& processor, int vocab_size, std::vector<TokenId>& before) {
  const JsonView type = processor.at("type");
  const std::string& name = type.as_string();
  if (name == "TemplateProcessing") return read_template(processor, vocab_size, before);
  if (name == "ByteLevel") return;  // changes offsets, not tokens
  if (name != "Sequence")
    type.fail("'TemplateProcessing', 'ByteLevel' and 'Sequence' are supported");
  const JsonView parts = processor.at("processors");
  for (std::size_t i = 0; i < parts.as_array().size(); ++i)
    read_processor(parts.item(i), vocab_size, before);
}

}  // namespace

std::optional<TokenId> read_bos(const std::filesystem::path& tokenizer_json, int vocab_size) {
  const auto file = MappedFile::open(tokenizer_json);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  return parse_bos(text, file->name(), vocab_size);
}

std::optional<TokenId> parse_bos(std::string_view json, const std::string& file, int vocab_size) {
  // It stands before the vocabulary, which makes up nearly all of the file.
  const JsonValue root = parse_json_until(json, file, "post_processor");
  const auto processor = JsonView(file, root).find("post_processor");
  if (!processor) return std::nullopt;
  std::vector<TokenId> before;
  read_processor(*processor, vocab_size, before);
  return before.empty() ? std::nullopt : std::optional(before.front());
}

}  // namespace specbench::engine
