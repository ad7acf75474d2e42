#include "engine/model/bos.h"

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/model/input_file.h"
#include "engine/model/json.h"
#include "engine/model/mapped_file.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxTokenizerConfigBytes = 16 << 20;

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

/// The tokenizer classes named after Llama add BOS unless told otherwise.
bool adds_bos(const JsonView& tokenizer_config) {
  if (const auto flag = tokenizer_config.find("add_bos_token")) return flag->as_bool();
  const auto name = tokenizer_config.find("tokenizer_class");
  return name && name->as_string().starts_with("Llama");
}

}  // namespace

std::optional<TokenId> read_bos(const std::filesystem::path& directory, const ModelConfig& config) {
  const auto tokenizer = MappedFile::open(directory / "tokenizer.json");
  const std::string_view text(reinterpret_cast<const char*>(tokenizer->bytes().data()),
                              tokenizer->bytes().size());
  // It stands before the vocabulary, which makes up nearly all of the file.
  const JsonValue root = parse_json_until(text, tokenizer->name(), "post_processor");
  if (const auto processor = JsonView(tokenizer->name(), root).find("post_processor")) {
    std::vector<TokenId> before;
    read_processor(*processor, config.vocab_size, before);
    if (before.size() > 1) processor->fail("more than one token before the text is not supported");
    return before.empty() ? std::nullopt : std::optional(before.front());
  }
  const std::filesystem::path options = directory / "tokenizer_config.json";
  std::error_code error;
  if (!std::filesystem::exists(options, error)) return config.bos;
  const std::string name = options.string();
  const JsonValue told = parse_json(read_text(options, kMaxTokenizerConfigBytes), name);
  return adds_bos(JsonView(name, told)) ? config.bos : std::nullopt;
}

}  // namespace specbench::engine
