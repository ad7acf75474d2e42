#include "engine/model/gguf_vocabulary.h"

namespace specbench::engine {

namespace {

constexpr std::int32_t kLastTokenType = 6;

}  // namespace

GgufVocabulary load_gguf_vocabulary(const GgufFile& file) {
  GgufVocabulary vocabulary;
  vocabulary.model = file.at("tokenizer.ggml.model").as_string();
  if (const auto pre = file.find("tokenizer.ggml.pre")) vocabulary.pre = pre->as_string();
  const GgufField tokens = file.at("tokenizer.ggml.tokens");
  if (tokens.n_items() == 0) tokens.fail("expected at least one");
  vocabulary.tokens = tokens.as_strings();
  const std::size_t n = vocabulary.tokens.size();
  const auto one_a_token = [n](const GgufField& field) {
    if (field.n_items() == n) return;
    field.fail("expected one for each of the " + std::to_string(n) + " tokens");
  };
  if (const auto scores = file.find("tokenizer.ggml.scores")) {
    one_a_token(*scores);
    vocabulary.scores = scores->as_floats();
  }
  if (const auto types = file.find("tokenizer.ggml.token_type")) {
    one_a_token(*types);
    vocabulary.types = types->as_integers_in(0, kLastTokenType);
  }
  if (const auto merges = file.find("tokenizer.ggml.merges"))
    vocabulary.merges = merges->as_strings();
  if (const auto unknown = file.find("tokenizer.ggml.unknown_token_id")) {
    vocabulary.unknown =
        static_cast<TokenId>(unknown->as_integer_in(0, static_cast<std::int64_t>(n) - 1));
  }
  vocabulary.add_space_prefix = vocabulary.model == "llama";
  if (const auto space = file.find("tokenizer.ggml.add_space_prefix"))
    vocabulary.add_space_prefix = space->as_bool();
  return vocabulary;
}

}  // namespace specbench::engine
