#include "engine/model/gguf_vocabulary.h"

namespace specbench::engine {

namespace {

constexpr std::int32_t kLastTokenType = 6;

/// What sentencepiece does to a text beyond the marks for spaces, and this reader does not.
void check_unsupported(const GgufFile& file) {
  const auto removes = file.find("tokenizer.ggml.remove_extra_whitespaces");
  if (removes && removes->as_bool())
    removes->fail("a tokenizer that removes white space is not supported");
  const auto charsmap = file.find("tokenizer.ggml.precompiled_charsmap");
  if (charsmap && charsmap->n_items() != 0)
    charsmap->fail("a tokenizer that replaces characters is not supported");
}

}  // namespace

GgufVocabulary load_gguf_vocabulary(const GgufFile& file) {
  GgufVocabulary vocabulary;
  vocabulary.model = file.at("tokenizer.ggml.model").as_string();
  const bool has_merges = vocabulary.model == "gpt2", has_scores = vocabulary.model == "llama";
  if (has_scores) check_unsupported(file);
  if (has_merges) vocabulary.pre = file.at("tokenizer.ggml.pre").as_string();
  const GgufField tokens = file.at("tokenizer.ggml.tokens");
  if (tokens.n_items() == 0) tokens.fail("expected at least one");
  vocabulary.tokens = tokens.as_strings();
  const std::size_t n = vocabulary.tokens.size();
  const auto one_a_token = [n](const GgufField& field) {
    if (field.n_items() == n) return;
    field.fail("expected one for each of the " + std::to_string(n) + " tokens");
  };
  if (has_scores) {
    const GgufField scores = file.at("tokenizer.ggml.scores");
    one_a_token(scores);
    vocabulary.scores = scores.as_floats();
  }
  if (has_merges || has_scores) {
    const GgufField types = file.at("tokenizer.ggml.token_type");
    one_a_token(types);
    vocabulary.types = types.as_integers_in(0, kLastTokenType);
  }
  // Without merges a text would fall into its bytes, and nobody would be told.
  if (has_merges) vocabulary.merges = file.at("tokenizer.ggml.merges").as_strings();
  vocabulary.add_space_prefix = has_scores;
  if (const auto space = file.find("tokenizer.ggml.add_space_prefix"))
    vocabulary.add_space_prefix = space->as_bool();
  return vocabulary;
}

}  // namespace specbench::engine
